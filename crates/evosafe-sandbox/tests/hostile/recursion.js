// fault: trap
function down(n) { return down(n + 1) + 1; }
export function onPreToolCall() { down(0); return allow(); }
