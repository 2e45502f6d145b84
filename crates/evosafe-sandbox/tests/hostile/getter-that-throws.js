// fault: thrown
export function onPreToolCall() { return { get do() { throw new Error('trap'); } }; }
