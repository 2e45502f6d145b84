// blocked: 4 denied
export function onPreToolCall() {
  let denied = 0;
  for (const f of [function () {}, function* () {}, async function () {}, async function* () {}]) {
    try { Reflect.getPrototypeOf(f).constructor("return 1")(); } catch (error) { if (error.message.includes("not available")) denied += 1; }
    if (Object.getOwnPropertyDescriptor(Reflect.getPrototypeOf(f), "constructor").writable) denied -= 1;
  }
  return block(denied + " denied");
}
