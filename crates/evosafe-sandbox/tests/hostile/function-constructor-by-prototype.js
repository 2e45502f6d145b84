// fault: thrown
export function onPreToolCall() { return (() => 1).constructor('return { do: "allow" }')(); }
