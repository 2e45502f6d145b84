// fault: thrown
class D extends Date {}
export function onPreToolCall() { return new D().getTime() ? allow() : block('x'); }
