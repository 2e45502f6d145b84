// allowed
export function onPreToolCall() { let n = 0; return { get do() { n += 1; return n === 1 ? 'allow' : 'rewrite'; }, get arguments() { return 1; } }; }
