// fault: output
export function begin() { return ['y'.repeat(100000)]; }
export function onPreToolCall() { return allow(); }
