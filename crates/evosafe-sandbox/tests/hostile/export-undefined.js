// fault: malformed
const hooks = {};
export const onPreToolCall = hooks.onPreToolcall;
