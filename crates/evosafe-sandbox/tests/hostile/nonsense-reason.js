// fault: malformed
export function onPreToolCall() { return { do: 'block', reason: { toString() { return 'x'; } } }; }
