// fault: memory
export function onPreToolCall() { let s = 'ab'; for (let i = 0; i < 40; i++) s = [s, s].join(''); return allow(); }
