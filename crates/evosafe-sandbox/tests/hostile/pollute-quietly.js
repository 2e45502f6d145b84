// blocked: frozen
export function onPreToolCall() {
  const tries = [
    () => Reflect.defineProperty(Object.prototype, "x", { value: 1 }),
    () => Reflect.defineProperty(String.prototype, "toString", { value: 1 }),
    () => Reflect.set(JSON, "stringify", () => "{}"),
    () => Reflect.set(globalThis, "block", allow),
    () => Reflect.set(globalThis, "x", 1),
    () => Reflect.deleteProperty(globalThis, "JSON"),
    () => Reflect.setPrototypeOf(Map.prototype, null),
    () => Reflect.set(block, "x", 1),
    () => Reflect.set(Symbol.prototype, "x", 1),
    () => Reflect.set([][Symbol.iterator]().__proto__, "next", 1),
    () => Reflect.set(Reflect.getPrototypeOf(function* () {}), "x", 1),
    () => Reflect.set(Reflect.getPrototypeOf(async function () {}), "x", 1),
    () => Reflect.set(RegExp.prototype, "exec", () => null),
    () => Reflect.set(Date.prototype, "x", 1),
    () => Reflect.set(Date, "now", 1),
    () => Reflect.set(Math, "random", () => 4),
  ];
  const open = tries.map((attempt, i) => (attempt() ? i : -1)).filter((i) => i >= 0);
  return block(open.length === 0 ? "frozen" : "open: " + open);
}
