// refused: Unexpected token
let x = 1
--> 0; export function onPreToolCall() { return allow(); }
