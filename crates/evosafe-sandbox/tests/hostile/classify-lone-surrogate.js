// allowed
export function onPreToolCall() { try { classify('\ud800', '\udc00x'); } catch {} return allow(); }
