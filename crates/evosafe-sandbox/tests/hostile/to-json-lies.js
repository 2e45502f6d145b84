// fault: malformed
export function onPreToolCall() { return rewrite({ toJSON() { return 'not an object'; } }); }
