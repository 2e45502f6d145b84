// fault: thrown
export function onPreToolCall() { return new (Date.prototype.constructor)().getTime() ? allow() : block('x'); }
