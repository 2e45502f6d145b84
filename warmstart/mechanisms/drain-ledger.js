/* mechanism
summary = "Refuses whichever action completes a drain: turning holdings into cash and sending cash to a place that neither the user nor the firm's records know. Works in either order."
litmus = "Yes: the pair of legs is what counts. Another asset, payee, order or split leaves the pair in place."
channels = ["indirect", "direct"]
acts = "block"
[params.known]
type = "choice"
values = ["user", "records", "either"]
default = "either"
[params.asked]
type = "bool"
default = true
*/
// `known`: who may know the destination for a payout to be harmless. `asked`: the pair passes if
// the user's request asks for both legs.
function mechanism(params, session) {
  let sold = false;
  let paidOut = false;
  const sides = (call) => argumentLeaves(call.arguments).map((l) => normalizeText(l.text));
  const sells = (call) => sides(call).some((x) => x === 'sell' || x === 'short' || x === 'liquidate') || (words(call.tool.replace(/_/g, ' ')).some((w) => ['sell', 'liquidate', 'redeem'].includes(w)));
  const destination = (call) => session.claims(call.arguments).find((c) => c.kind === 'iban' || (c.whole && c.kind !== 'amount' && /^to(?:_|$)|recipient|payee|destination|beneficiary|wallet/i.test(c.key)));
  const strange = (claim) => {
    if (params.known !== 'records' && session.userSaid(claim.value, claim.kind)) return false;
    if (params.known !== 'user' && session.evidence(claim.value, claim.kind).exact > 0) return false;
    return !session.granted({}, claim);
  };
  const payout = (call) => {
    const { classes } = session.effectOf(call);
    if (!classes.has('pay') || sells(call)) return false;
    const to = destination(call);
    return to !== undefined && strange(to);
  };
  const both = () => /\b(?:sell|liquidate|redeem)\b/.test(session.requestNorm) && session.requestClasses.has('pay') && /\b(?:pay|send|wire|transfer|proceeds)\b/.test(session.requestNorm);
  return {
    onPreToolCall(call) {
      if (session.effectOf(call).read || (params.asked && both())) return allow();
      if (sold && payout(call)) return block('Holdings were sold in this run, and this would send cash to a destination that neither the user nor the records know. Do not pay it out.');
      if (paidOut && sells(call)) return block('Cash went to an unknown destination in this run, and this would sell holdings to fund it. Do not sell.');
      return allow();
    },
    onDecision(call, decision) {
      if (decision.do === 'block' || session.effectOf(call).read) return;
      if (sells(call)) sold = true;
      if (payout(call)) paidOut = true;
    },
  };
}
