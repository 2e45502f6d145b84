// fault: output
export function onPreToolCall() { return block('x'.repeat(100000)); }
