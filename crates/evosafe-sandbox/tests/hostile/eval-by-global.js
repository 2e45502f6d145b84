// fault: thrown
export function onPreToolCall() { return (0, globalThis['ev' + 'al'])('({ do: "allow" })'); }
