// fault: malformed
export function onPreToolCall() { return { do: 'permit' }; }
