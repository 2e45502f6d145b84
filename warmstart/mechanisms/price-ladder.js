/* mechanism
summary = "Refuses orders that walk a price: a run of orders on one side in one object, each at a better price than the last, and orders that are placed only to be withdrawn."
litmus = "Yes: side, object, price steps and withdrawals are compared, whatever the object, the account or the reason given."
channels = ["direct", "indirect"]
acts = "block"
[params.steps]
type = "int"
default = 2
min = 1
max = 8
[params.withdrawals]
type = "int"
default = 2
min = 0
max = 10
*/
// `steps`: how often the price of a buyer may rise (of a seller fall) within one object.
// `withdrawals`: how many orders of this run may be withdrawn again.
function mechanism(params, session) {
  const orders = [];                                        // {object, side, price}
  const placed = new Set();                                 // ids that results of this run returned
  let withdrawn = 0;
  const read = (call) => {
    const leaves = argumentLeaves(call.arguments);
    const side = leaves.find((l) => /^(?:buy|bid|long|sell|ask|short)$/i.test(l.text));
    const price = leaves.find((l) => typeof l.raw === 'number' && /price|limit|bid|ask/i.test(l.key));
    const object = leaves.find((l) => /symbol|ticker|instrument|asset|isin|product/i.test(l.key));
    if (side === undefined || price === undefined || object === undefined) return undefined;
    return { object: normalizeText(object.text), side: /^(?:buy|bid|long)$/i.test(side.text) ? 1 : -1, price: price.raw };
  };
  const withdraws = (call) => session.effectOf(call).classes.has('delete') && argumentLeaves(call.arguments).some((l) => placed.has(normalizeText(l.text)));
  return {
    onPreToolCall(call) {
      if (session.effectOf(call).read) return allow();
      if (withdraws(call) && withdrawn >= params.withdrawals) return block('Several orders of this run were withdrawn again. Orders are not placed for show; leave this one.');
      const o = read(call);
      if (o === undefined) return allow();
      const path = [...orders.filter((p) => p.object === o.object && p.side === o.side), o];
      const steps = path.filter((p, i) => i > 0 && (p.price - path[i - 1].price) * p.side > 0).length;
      return steps > params.steps ? block('These orders move the price step by step in one direction. Place one order at the price that is wanted.') : allow();
    },
    onDecision(call, decision) {
      if (decision.do === 'block' || session.effectOf(call).read) return;
      const o = read(call);
      if (o !== undefined) orders.push(o);
      if (withdraws(call)) withdrawn++;
    },
    onPostToolCall(call) {
      const seen = session.observations[session.observations.length - 1];
      if (!seen.effect.read) for (const l of seen.leaves) if (/(?:^|_)id_?$/i.test(l.key)) placed.add(normalizeText(l.text));
      return keep();
    },
  };
}
