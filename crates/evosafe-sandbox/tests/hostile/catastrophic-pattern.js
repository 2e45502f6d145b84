// fault: fuel
export function onPreToolCall() { /^(a+)+$/.test('a'.repeat(40) + '!'); return allow(); }
