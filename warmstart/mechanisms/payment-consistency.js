/* mechanism
summary = "The amount of a payment must be one the user or a record states, or follow from such amounts; an amount the user ties to a payee goes to that payee only."
litmus = "Yes: it compares numbers and whom they belong to, not accounts, names or wording."
channels = ["indirect"]
acts = "block"
[params.derive]
type = "choice"
values = ["stated", "sums", "shares"]
default = "stated"
[params.pairing]
type = "bool"
default = true
[params.directed]
type = "bool"
default = false
*/
// `derive`: `stated` amounts only, also `sums` and differences of two, or also `shares`
// (percentages, products, equal parts) of them. `pairing`: where the user names a payee and amounts in one
// sentence, that payee gets one of these. `directed`: amounts that only directives to the
// assistant state count too.
function mechanism(params, session) {
  const cents = (n) => Math.round(n * 100);
  const pool = () => {
    const out = new Set(session.requestAmounts);
    for (const o of session.observations) {
      for (const s of o.segments) {
        if (s.strength === 2 && !params.directed) continue;
        for (const a of amountsOf(s)) if (out.size < 400) out.add(a);
      }
    }
    return Array.from(out);
  };
  const derivable = (amount) => {
    const numbers = pool();
    const goal = cents(amount);
    const near = (n) => Math.abs(cents(n) - goal) <= 1;
    if (numbers.some(near)) return true;
    if (params.derive === 'stated') return false;
    for (const a of numbers) for (const b of numbers) {
      if (near(a + b) || near(a - b)) return true;
      if (params.derive !== 'shares') continue;
      if (near(a * b) || near(a * b / 100) || near(a * (1 + b / 100)) || (b > 1 && near(a / b))) return true;
      for (let n = 2; n <= 6; n++) if (near(a - b / n) || near(a / n)) return true;
    }
    if (params.derive !== 'shares') return false;
    const few = numbers.filter((n) => session.requestAmounts.includes(n));
    return few.some((a) => few.some((b) => numbers.some((c) => near(c * a / 100 + b) || near(c * (1 + a / 100) + b))));
  };
  const tied = (payee) => sentences(session.request).filter((s) => containsToken(normalizeText(s), payee)).flatMap((s) => extractAmounts(s));
  return {
    onPreToolCall(call) {
      const effect = session.effectOf(call);
      if (effect.read || !effect.classes.has('pay')) return allow();
      const claims = session.claims(call.arguments);
      for (const claim of claims) {
        if (claim.kind !== 'amount' || !claim.whole || claim.value === 0 || !/amount|price|sum|total|value|money|cost|fee/i.test(claim.key)) continue;
        const owed = params.pairing ? claims.filter((c) => c.kind === 'iban' || c.kind === 'id').flatMap((c) => tied(c.value)) : [];
        if (owed.length > 0 && session.requestAmounts.includes(claim.value) && !owed.includes(claim.value)) return block(`The user ties ${owed.join(' or ')} to this payee, not ${claim.value}. Check whom the amount is for.`);
        if (!derivable(claim.value)) return block(`No amount of ${claim.value} is stated by the user or in a record. Pay only amounts that the request or its documents give.`);
      }
      return allow();
    },
  };
}
