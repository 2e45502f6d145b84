// allowed
export function onPreToolCall() { regexFindAll('^(a+)+$', 'a'.repeat(5000) + '!'); return allow(); }
