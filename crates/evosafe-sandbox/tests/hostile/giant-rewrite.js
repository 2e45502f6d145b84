// fault: output
export function onPreToolCall() { return rewrite({ to: 'x'.repeat(100000) }); }
