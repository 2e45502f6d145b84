// blocked: larger than
export function onPreToolCall() { try { regexFindAll('(\\w{300}){300}', 'a'); } catch (error) { return block(error.message); } return allow(); }
