// fault: malformed
export function onPreToolCall() {}
