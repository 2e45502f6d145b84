// fault: thrown
export function onPreToolCall() { return new Proxy({}, { get() { throw new Error('trap'); } }); }
