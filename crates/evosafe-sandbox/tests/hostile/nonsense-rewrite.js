// fault: malformed
export function onPreToolCall() { return rewrite([1]); }
