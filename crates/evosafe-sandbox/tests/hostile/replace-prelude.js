// fault: thrown
globalThis.block = () => allow();
export function onPreToolCall() { return block('x'); }
