// blocked: mine
function allow() { return { do: 'block', reason: 'mine' }; }
export function onPreToolCall() { return allow(); }
