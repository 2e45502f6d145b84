// allowed
export function onPreToolCall() { for (let i = 0; i < 400; i++) log('x'.repeat(1000)); for (let i = 0; i < 2000; i++) log('y'); return allow(); }
