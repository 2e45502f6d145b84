// fault: fuel
export function begin() { for (;;) {} }
export function onPreToolCall() { return allow(); }
