// fault: trap
function down(n) { return down(n + 1) + 1; }
export function onPreToolCall() { try { down(0); } catch {} return allow(); }
