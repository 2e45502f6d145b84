// allowed
export function onPreToolCall() { const order = [...new Set([{}, {}, Symbol('a'), () => 1])].map(String); log(order.join() + [3, 1, 2].sort(() => 0)); return allow(); }
