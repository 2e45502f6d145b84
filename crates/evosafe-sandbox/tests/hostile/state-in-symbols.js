// blocked: fresh
const key = Symbol.for('smuggled');
export function onPreToolCall() {
  const kept = [Object, Math, JSON, globalThis, regexFindAll].some((o) => o[key] !== undefined);
  for (const o of [Object, Math, JSON, globalThis, regexFindAll]) Reflect.set(o, key, 1);
  return block(kept ? 'smuggled' : 'fresh');
}
