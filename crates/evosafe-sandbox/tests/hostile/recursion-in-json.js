// fault: fuel
export function onPreToolCall() { let x = {}; for (let i = 0; i < 20000; i++) x = { x }; return rewrite(x); }
