// blocked: fresh
export function onPreToolCall() {
  let old; try { old = globalThis.smuggled; globalThis.smuggled = 1; } catch {}
  try { block.smuggled = 1; } catch {}
  return block(old === undefined && block.smuggled === undefined && globalThis.smuggled === undefined ? 'fresh' : 'smuggled');
}
