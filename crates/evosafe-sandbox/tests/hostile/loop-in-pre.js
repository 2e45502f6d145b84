// fault: fuel
export function onPreToolCall() { for (;;) {} }
