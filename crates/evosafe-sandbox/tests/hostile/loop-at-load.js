// fault: fuel
while (true) {}
export function onPreToolCall() { return allow(); }
