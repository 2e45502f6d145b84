// fault: malformed
const later = async () => allow();
export function onPreToolCall() { return later(); }
