// fault: malformed
export function onPreToolCall() { let a = {}; for (let i = 0; i < 500; i++) a = { a }; return rewrite(a); }
