// fault: memory
const all = [];
export function onPreToolCall() { for (let i = 0; ; i++) { try { all.push(new Uint8Array(1 << 20)); } catch { all.push(i); } } }
