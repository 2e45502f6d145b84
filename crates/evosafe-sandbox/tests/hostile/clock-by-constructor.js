// fault: thrown
export function onPreToolCall() { return new Date().getTime() % 2 === 0 ? allow() : block('odd'); }
