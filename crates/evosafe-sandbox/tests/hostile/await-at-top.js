// refused: top-level `await`
await 1;
export function onPreToolCall() { return allow(); }
