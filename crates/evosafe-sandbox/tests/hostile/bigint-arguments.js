// fault: thrown
export function onPreToolCall() { return rewrite({ amount: 10n }); }
