// fault: fuel
export function onPreToolCall() { return new Proxy({}, { get() { for (;;) {} } }); }
