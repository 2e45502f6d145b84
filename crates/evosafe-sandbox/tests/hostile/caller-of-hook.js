// allowed
export function onPreToolCall() { let seen; try { seen = onPreToolCall.caller; } catch (error) { seen = error.name; } log(String(seen) + typeof this); return allow(); }
