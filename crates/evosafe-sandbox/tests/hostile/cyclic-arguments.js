// fault: thrown
export function onPreToolCall() { const a = {}; a.a = a; return rewrite(a); }
