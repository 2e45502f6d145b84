// refused: imports are refused
import host from 'evosafe:harness/host@1.0.0';
export function onPreToolCall() { host.log('x'); return allow(); }
