// fault: thrown
export function onPreToolCall() { return Math.random() < 0.5 ? allow() : block('unlucky'); }
