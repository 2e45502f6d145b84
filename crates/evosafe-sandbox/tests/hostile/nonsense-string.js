// fault: malformed
export function onPreToolCall() { return 'allow'; }
