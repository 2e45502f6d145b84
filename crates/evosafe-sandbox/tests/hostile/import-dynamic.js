// refused: imports are refused
export function onPreToolCall() { import('evosafe:harness/diagnostics@1.0.0'); return allow(); }
