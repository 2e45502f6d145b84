// fault: malformed
export function begin() { return 'pay'; }
export function onPreToolCall() { return allow(); }
