// refused: `eval` is not defined
export function onPreToolCall() { return eval('allow()'); }
