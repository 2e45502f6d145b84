// fault: thrown
export function onPreToolCall() { throw undefined; }
