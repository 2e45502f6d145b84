// fault: fuel
const text = 'a'.repeat(100000);
export function onPreToolCall() { for (;;) { try { regexFindAll('(a?){50}b', text); } catch {} } }
