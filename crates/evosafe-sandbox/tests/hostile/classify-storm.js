// fault: classify
export function onPreToolCall() { for (let i = 0; i < 100; i++) { try { classify('q', 't' + i); } catch {} } return allow(); }
