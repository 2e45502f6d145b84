// fault: thrown
export function onPreToolCall() { return Date.now() % 2 === 0 ? allow() : block('odd'); }
