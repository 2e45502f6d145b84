// fault: thrown
export function onPreToolCall() { throw 'no'; }
