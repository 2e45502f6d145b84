// refused: `Function` is not defined
export function onPreToolCall() { return new Function('return allow()')(); }
