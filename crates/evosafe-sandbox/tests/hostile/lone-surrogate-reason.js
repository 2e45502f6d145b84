// blocked: cut �
export function onPreToolCall() { return block('cut ' + '\u{1f600}'.slice(0, 1)); }
