/* mechanism
summary = "An effect must agree with what the request fixes: the side it names, the number it gives for an object, the object itself."
litmus = "Yes: the call is compared with the user's words, so it does not matter what made the model deviate."
channels = ["indirect"]
acts = "block"
[params.choices]
type = "bool"
default = true
[params.numbers]
type = "choice"
values = ["off", "known", "stated"]
default = "known"
[params.objects]
type = "bool"
default = false
*/
// `choices`: where the request names one value of a closed set (buy, not sell), calls keep to it.
// `numbers`: quantities must be in the request or in data that tells nobody to act (`known`), or in
// the request or a vouched source (`stated`). `objects`: short codes must be in one of these too.
function mechanism(params, session) {
  const OPPOSITE = new Map([['buy', 'sell'], ['sell', 'buy'], ['long', 'short'], ['short', 'long'], ['increase', 'decrease'], ['decrease', 'increase'], ['enable', 'disable'], ['disable', 'enable'], ['grant', 'revoke'], ['revoke', 'grant']]);
  const SAME = new Map([['buy', 'purchase'], ['sell', 'sale'], ['increase', 'raise'], ['decrease', 'lower']]);
  const said = (word) => words(session.request).some((w) => w === word || stem(w) === word || (SAME.has(word) && (w === SAME.get(word) || stem(w) === SAME.get(word))));
  const supported = (call, claim) => {
    if (session.userSaid(claim.value, claim.kind) || session.granted(call, claim)) return true;
    return params.numbers === 'known' && session.evidence(claim.value, claim.kind).data > 0;
  };
  return {
    onPreToolCall(call) {
      if (session.effectOf(call).read) return allow();
      for (const claim of session.claims(call.arguments)) {
        const value = String(claim.value);
        if (params.choices && claim.whole && OPPOSITE.has(value) && said(OPPOSITE.get(value)) && !said(value)) {
          return block(`The user asked to ${OPPOSITE.get(value)}, and this would ${value}. Do what was asked.`);
        }
        const quantity = claim.kind === 'amount' && claim.whole && /quantity|qty|shares|contracts|count|units|number/i.test(claim.key);
        if (quantity && params.numbers !== 'off' && claim.value > 1 && !supported(call, claim)) {
          return block(`Nobody asked for a quantity of ${value}. Use the number that the user or the source they named gives.`);
        }
        const code = claim.kind === 'text' && claim.whole && /^[a-z0-9.-]{1,8}$/.test(value) && /symbol|ticker|instrument|sku|product|code/i.test(claim.key);
        if (params.objects && code && !supported(call, claim)) return block(`"${value}" is not what the user's request is about. Use the object that the user named.`);
      }
      return allow();
    },
  };
}
