// blocked: hidden
export function onPreToolCall() {
  const names = ["wit", "__cqjs", "console", "print", "WebAssembly", "performance", "setTimeout", "queueMicrotask", "Promise",
    "WeakRef", "FinalizationRegistry", "SharedArrayBuffer", "Atomics", "navigator", "process", "require", "std", "os", "gc", "fetch", "scriptArgs", "host", "diagnostics", "hooks", "evaluate"];
  const seen = names.filter((name) => globalThis[name] !== undefined);
  return block(seen.length === 0 ? "hidden" : "seen: " + seen);
}
