// fault: fuel
const all = [];
export function onPreToolCall() { for (let i = 0; ; i++) all.push({ i }); }
