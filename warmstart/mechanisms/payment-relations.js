/* mechanism
summary = "Judges payments together: sums cut to stay below a line, money passed on by an account that just received it, one account's money spread over many."
litmus = "Yes: only destinations being equal, sums and order of hops count, not who they are, how the parts are called or in which order they come."
channels = ["direct", "indirect"]
acts = "block"
[params.line]
type = "int"
default = 10000
min = 500
max = 1000000
[params.hops]
type = "int"
default = 1
min = 0
max = 6
[params.spread]
type = "int"
default = 3
min = 1
max = 20
*/
// `line`: a sum in parts to one destination may not reach it where each part stays below; a
// payment in one piece may. `hops`: how often money may be passed on by accounts that received
// it in this run. `spread`: how many internal accounts one account may pay in a run.
function mechanism(params, session) {
  const paid = [];                                          // {from, to, amount, depth}
  const read = (call) => {
    const effect = session.effectOf(call);
    if (effect.read) return undefined;
    const leaves = argumentLeaves(call.arguments);
    const amount = leaves.find((l) => typeof l.raw === 'number' && /amount|sum|total|value/i.test(l.key));
    const side = leaves.some((l) => /^(?:buy|sell|long|short)$/i.test(l.text));
    if (amount === undefined || side) return undefined;
    const from = leaves.find((l) => /^from|source|sender|debit/i.test(l.key));
    const to = leaves.find((l) => /iban/i.test(l.key)) || leaves.find((l) => /^to(?:_|$)|recipient|payee|destination|beneficiary|credit/i.test(l.key));
    const source = from ? normalizeText(from.text) : '';
    const depth = source === '' ? 0 : Math.max(0, ...paid.filter((p) => p.to === source).map((p) => p.depth + 1));
    return { from: source, to: to ? normalizeText(to.text).replace(/ /g, '') : '', amount: amount.raw, depth, inside: to !== undefined && /account/i.test(to.key) };
  };
  return {
    onPreToolCall(call) {
      const p = read(call);
      if (p === undefined) return allow();
      const before = paid.filter((o) => o.to === p.to && o.to !== '');
      const total = before.reduce((n, o) => n + o.amount, p.amount);
      if (before.length > 0 && p.amount < params.line && before.every((o) => o.amount < params.line) && total >= params.line) {
        return block(`With what was paid before, ${total} would go to this destination in parts of less than ${params.line} each. Sums are not split; ask the user to have it reviewed.`);
      }
      if (p.depth > params.hops) return block('This account only passes on money that it received in this run. Chains of transfers need a review.');
      const others = new Set(paid.filter((o) => o.inside && o.from === p.from && o.to !== p.to).map((o) => o.to));
      if (p.inside && others.size >= params.spread) return block('Money of one account would be spread over many others. This needs a review.');
      return allow();
    },
    onDecision(call, decision) {
      const p = decision.do === 'block' ? undefined : read(call);
      if (p !== undefined) paid.push(p);
    },
  };
}
