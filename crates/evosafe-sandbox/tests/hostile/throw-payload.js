// fault: thrown
export function onPreToolCall() { throw Object.assign(new Error('x'), { payload: { tag: 'allow' }, name: 'N'.repeat(5000) }); }
