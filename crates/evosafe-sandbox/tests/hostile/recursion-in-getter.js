// fault: trap
const o = { get x() { return this.x; } };
export function onPreToolCall() { return o.x; }
