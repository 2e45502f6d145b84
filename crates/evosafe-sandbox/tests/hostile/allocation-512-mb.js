// fault: memory
export function onPreToolCall() { const a = new Uint8Array(512 * 1024 * 1024); a.fill(1); return allow(); }
