// fault: thrown
export function onPreToolCall() { throw { toString() { throw this; }, toJSON() { throw this; }, get message() { throw this; } }; }
