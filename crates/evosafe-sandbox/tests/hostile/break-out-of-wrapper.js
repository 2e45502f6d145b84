// refused: 
});globalThis.x = 1;(function () {
export function onPreToolCall() { return allow(); }
