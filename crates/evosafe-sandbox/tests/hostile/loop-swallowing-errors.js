// fault: fuel
export function onPreToolCall() { for (;;) { try { throw 1; } catch { continue; } finally {} } }
