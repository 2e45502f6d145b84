// fault: thrown
export function onPreToolCall() { return rewrite(new Proxy({}, { ownKeys() { throw new Error('keys'); } })); }
