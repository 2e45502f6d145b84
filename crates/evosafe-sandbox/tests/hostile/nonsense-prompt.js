// fault: malformed
export function systemPromptTransform() { return null; }
export function onPreToolCall() { return allow(); }
