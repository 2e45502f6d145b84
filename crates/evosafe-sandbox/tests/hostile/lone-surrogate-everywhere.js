// allowed
export function begin() { return ['\ud800']; }
export function systemPromptTransform(p) { return p + '\udfff'; }
export function onPreToolCall() { log('\ud83d'); regexFindAll('.', '\ud83d\ud83d'); return allow(); }
export function onFinalAnswer() { return replace('\ud800'); }
