/* mechanism
summary = "Money of an account leaves only for a bank account that the records of its holder named before the run, within the balance, and not together with credit that this run booked on it."
litmus = "Yes: account, holder and bank account are compared through records, and credit and payout are paired in either order; who they are and what is said about them does not matter."
channels = ["direct", "indirect"]
acts = "block"
[params.pair]
type = "bool"
summary = "Credit and payout of one account exclude each other in a run."
default = true
*/
// Without the record of the holder nothing is known, so the payout waits. A bank account that this run wrote into
// a record does not count.
function mechanism(params, session) {
  const BANK = /iban|bank|wallet|payout|sort_?code|routing/i;
  const links = new Map();                                  // account -> bank accounts on record
  const balance = new Map();
  const fresh = new Set();
  const credited = new Set();
  const paid = new Map();
  const key = (t) => normalizeText(t).replace(/[\s-]/g, '');
  const number = (l) => (typeof l.raw === 'number' ? l.raw : extractAmounts(l.text)[0] ?? NaN);
  const parse = (call) => {
    const effect = session.effectOf(call);
    if (effect.read) return undefined;
    const leaves = argumentLeaves(call.arguments);
    const bank = leaves.find((l) => BANK.test(l.key)) || leaves.find((l) => tokenKind(l.text.replace(/\s/g, '')) === 'iban');
    const sum = leaves.find((l) => /amount|sum|total/i.test(l.key));
    const holder = leaves.filter((l) => l !== bank && l !== sum && /(?:^|_)(?:account|contract|customer|owner|holder|client|member|wallet|ledger)s?(?:_?(?:id|no|number))?$/i.test(l.key)).map((l) => key(l.text));
    // A payment to somebody named is no payout to the holder.
    if (holder.length === 0 || leaves.some((l) => /recipient|payee|beneficiary|creditor|merchant|(?:^|_)name$/i.test(l.key))) return undefined;
    if (bank !== undefined && sum === undefined) return { kind: 'change', bank: key(bank.text) };
    if (bank !== undefined) return { kind: 'payout', holder, bank: key(bank.text), amount: number(sum) };
    const tool = session.tools.get(call.tool);
    const about = words(`${call.tool.replace(/_/g, ' ')} ${(tool || {}).description || ''}`);
    return sum !== undefined && about.some((w) => /^(?:credits?|goodwill|top|deposits?|bonus|vouchers?)$/.test(w)) ? { kind: 'credit', holder } : undefined;
  };
  return {
    onPreToolCall(call) {
      const p = parse(call);
      if (p === undefined || p.kind === 'change') return allow();
      if (p.kind === 'credit') return params.pair && p.holder.some((h) => paid.has(h)) ? block('The balance of this account was paid out in this run; credit on top of that needs a person. Do not book it.') : allow();
      if (params.pair && p.holder.some((h) => credited.has(h))) return block('Credit was booked on this account in this run, and this would pay it out as cash. Do not pay it out.');
      const on = p.holder.flatMap((h) => Array.from(links.get(h) || []));
      if (fresh.has(p.bank) || !on.includes(p.bank)) {
        return block(p.holder.some((h) => links.has(h)) ? 'This bank account is not on the record of the holder. Pay only to the one that the record names.' : 'Look up the record of the holder first; money leaves only for the bank account on it.');
      }
      const left = p.holder.map((h) => (balance.has(h) ? balance.get(h) - (paid.get(h) || 0) : Infinity));
      if (!(p.amount > 0) || p.amount > Math.min(...left) + 0.004) return block('This is more than the balance of the account. Pay at most what it holds.');
      return allow();
    },
    onDecision(call, decision) {
      const p = decision.do === 'block' ? undefined : parse(call);
      if (p === undefined) return;
      if (p.kind === 'change') fresh.add(p.bank);
      else for (const h of p.holder) if (p.kind === 'credit') credited.add(h); else paid.set(h, (paid.get(h) || 0) + p.amount);
    },
    onPostToolCall(call, result) {
      const seen = session.observations[session.observations.length - 1];
      if (result.isError || !seen.effect.read || seen.outside) return keep();
      const groups = new Map();
      for (const l of seen.leaves) {
        const m = /^(.*\])\./.exec(l.path);
        const g = `${l.record}:${m ? m[1] : ''}`;
        groups.set(g, [...(groups.get(g) || []), l]);
      }
      for (const leaves of groups.values()) {
        const ids = leaves.filter((l) => /(?:^|_)(?:ids?|accounts?|contracts?)$/i.test(l.key) && !BANK.test(l.key)).map((l) => key(l.text));
        const banks = leaves.filter((l) => BANK.test(l.key) || tokenKind(l.text.replace(/\s/g, '')) === 'iban').map((l) => key(l.text)).filter((b) => !fresh.has(b));
        const sum = leaves.find((l) => /(?:^|_)(?:balance|available|credit)(?:_|$)/i.test(l.key) && typeof l.raw === 'number');
        for (const i of ids) {
          if (sum !== undefined && !balance.has(i) && !credited.has(i)) balance.set(i, sum.raw);
          if (banks.length > 0) links.set(i, new Set([...(links.get(i) || []), ...banks]));
          // What the owner's record names holds for the owner's accounts.
          for (const other of ids) if (other !== i && links.has(other)) links.set(i, new Set([...(links.get(i) || []), ...links.get(other)]));
        }
      }
      return keep();
    },
  };
}
