// allowed
try { Error.prepareStackTrace = () => 'x'; } catch {}
try { Error.stackTraceLimit = 0; } catch {}
export function onPreToolCall() { log(String(new Error('x').stack)); return allow(); }
