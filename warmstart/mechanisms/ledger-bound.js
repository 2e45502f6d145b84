/* mechanism
summary = "What is given back for a charge, earlier and in this run together, stays within what was paid for it; without its entry nothing is given back."
litmus = "Yes: the sum is compared with the entry of the books, so neither the charge, the split, the order nor the pretext matters."
channels = ["direct", "indirect"]
acts = "block"
[params.unread]
type = "choice"
summary = "What to do with a charge whose entry was not read although it can be."
values = ["block", "allow"]
default = "block"
*/
// Counted before the call, so a burst in one turn is one sum; a call that failed is taken out again. An
// entry read again never gives back room: it may or may not show what this run did.
function mechanism(params, session) {
  const GIVES = /\b(?:refund|reimburs|chargeback|repay)\w*|\b(?:giv|pay|send|transfer)\w* (?:[\w-]+ ){0,3}back\b|\breturn\w* (?:[\w-]+ ){0,2}(?:money|payments?)\b/i;
  const PAID = /(?:^|_)(?:paid|received|settled|captured|collected)(?:_|$)/i;
  const BACK = /refund|reimburs|returned|given_?back|repaid|revers/i;
  const book = new Map();                                   // id -> {paid, back}
  const given = new Map();                                  // id -> given back in this run
  const pending = new Map();
  const snake = (key) => String(key).replace(/([a-z])([A-Z])/g, '$1_$2');
  const number = (leaf) => (typeof leaf.raw === 'number' ? leaf.raw : extractAmounts(leaf.text)[0] ?? NaN);
  const parse = (call) => {
    if (session.effectOf(call).read) return undefined;
    const tool = session.tools.get(call.tool);
    if (!GIVES.test(`${call.tool.replace(/_/g, ' ')}. ${(tool || {}).description || ''}`)) return undefined;
    const leaves = argumentLeaves(call.arguments);
    const entry = leaves.find((l) => book.has(normalizeText(l.text))) || leaves.find((l) => /(?:charge|entry|invoice|payment|order|transaction|booking|bill|purchase|item|position)s?(?:_?(?:id|no|number|ref))?$/i.test(snake(l.key)));
    if (entry === undefined) return undefined;
    const sum = leaves.find((l) => /amount|sum|total|value/i.test(l.key));
    return { id: normalizeText(entry.text), noun: snake(entry.key).toLowerCase().split('_')[0], amount: sum === undefined ? undefined : number(sum) };
  };
  const room = (id) => { const b = book.get(id); return b.paid - b.back - (given.get(id) || 0); };
  const readable = (noun) => Array.from(session.tools.values()).some((t) => t.effect.read && !t.effect.outside && words(`${t.name.replace(/_/g, ' ')} ${t.description || ''}`).some((w) => w.startsWith(noun.replace(/y$/, ''))));
  return {
    onPreToolCall(call) {
      const r = parse(call);
      if (r === undefined) return allow();
      if (!book.has(r.id)) {
        return params.unread === 'block' && readable(r.noun) ? block(`Look up the entry of this ${r.noun} first: what was paid for it and what was given back already.`) : allow();
      }
      const amount = r.amount === undefined ? room(r.id) : r.amount;
      if (!(amount > 0) || amount > room(r.id) + 0.004) {
        return block(`At most ${Math.max(0, room(r.id)).toFixed(2)} can still be given back for this ${r.noun}, all refunds together. Do not give back more.`);
      }
      return allow();
    },
    onDecision(call, decision) {
      const r = decision.do === 'block' ? undefined : parse(call);
      if (r === undefined) return;
      const amount = r.amount === undefined ? (book.has(r.id) ? room(r.id) : 0) : r.amount;
      given.set(r.id, (given.get(r.id) || 0) + amount);
      pending.set(call.id, { id: r.id, amount });
    },
    onPostToolCall(call, result) {
      const p = pending.get(call.id);
      pending.delete(call.id);
      if (p !== undefined && result.isError) given.set(p.id, given.get(p.id) - p.amount);
      const seen = session.observations[session.observations.length - 1];
      if (result.isError || !seen.effect.read || seen.outside) return keep();
      const groups = new Map();
      for (const l of seen.leaves) {
        const g = `${l.record}:${l.path.slice(0, Math.max(0, l.path.lastIndexOf('.')))}`;
        groups.set(g, [...(groups.get(g) || []), l]);
      }
      for (const leaves of groups.values()) {
        const amount = leaves.find((l) => /amount|sum|total|price/i.test(l.key) && typeof l.raw === 'number');
        const back = leaves.find((l) => BACK.test(snake(l.key)) && typeof l.raw !== 'boolean');
        const paid = leaves.find((l) => l !== back && PAID.test(snake(l.key)) && typeof l.raw === 'number');
        const state = leaves.find((l) => /status|state|paid/i.test(l.key) && typeof l.raw !== 'number');
        if (paid === undefined && (amount === undefined || state === undefined)) continue;
        const sum = paid !== undefined ? paid.raw : /^(?:paid|true|settled|captured|completed?)$/i.test(state.text) ? amount.raw : 0;
        for (const l of leaves.filter((x) => /(?:^|_)(?:id|no|number|ref|reference|code)$/i.test(snake(x.key)))) {
          const id = normalizeText(l.text);
          const old = book.get(id);
          const now = (back === undefined ? 0 : number(back) || 0) - (given.get(id) || 0);
          book.set(id, { paid: old === undefined ? sum : Math.min(old.paid, sum), back: Math.max(now, old === undefined ? 0 : old.back) });
        }
      }
      return keep();
    },
  };
}
