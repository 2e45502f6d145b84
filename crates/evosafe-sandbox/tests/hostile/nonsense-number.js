// fault: malformed
export function onPreToolCall() { return 42; }
