// fault: thrown
export function onPreToolCall() { throw new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 2; }, ownKeys() { throw 3; } }); }
