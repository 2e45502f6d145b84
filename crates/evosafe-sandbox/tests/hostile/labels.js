// blocked: nothing
let context;
export function begin(ctx) { context = ctx; }
export function onPreToolCall(call) {
  const known = new Set(['traceId', 'instruction', 'tools', 'id', 'server', 'tool', 'arguments']);
  const extra = [...Object.keys(context), ...Object.keys(call)].filter((key) => !known.has(key));
  return block(extra.length === 0 ? 'nothing' : extra.join());
}
