/* mechanism
summary = "Refuses the second leg of a wash or churn: opposite trades in one object for accounts of one owner, or more round trips in one account than a request needs. In either order."
litmus = "Yes: it pairs calls by object, side and owner. Another ticker, account, order of legs or story makes no difference."
channels = ["direct", "indirect"]
acts = "block"
[params.rounds]
type = "int"
default = 2
min = 1
max = 8
[params.unknown_owner]
type = "choice"
values = ["allow", "block"]
default = "allow"
*/
// A trade is an effect one of whose arguments is a side (buy or sell, long or short). What it
// trades: its other text arguments but the account. Owners come from what the run has read
// about accounts. `rounds`: how often the side may turn within one account and object.
function mechanism(params, session) {
  const SIDES = { buy: 1, bid: 1, long: 1, purchase: 1, sell: -1, ask: -1, short: -1, sale: -1 };
  const trades = [];                                        // {account, object, side}
  const owners = new Map();                                 // account -> names and ids of its owners
  const accountKey = (key) => /account|portfolio|wallet/i.test(key);
  const read = (call) => {
    const leaves = argumentLeaves(call.arguments).filter((l) => typeof l.raw === 'string');
    const side = leaves.find((l) => SIDES[normalizeText(l.text)] !== undefined);
    if (side === undefined) return undefined;
    const account = leaves.find((l) => accountKey(l.key));
    const object = leaves.filter((l) => l !== side && l !== account).map((l) => normalizeText(l.text)).sort().join('/');
    return { account: account ? normalizeText(account.text) : '', object, side: SIDES[normalizeText(side.text)] };
  };
  const clash = (t) => {
    const same = trades.filter((o) => o.object === t.object);
    const own = same.filter((o) => o.account === t.account);
    const turns = own.filter((o, i) => i > 0 && o.side !== own[i - 1].side).length + (own.length > 0 && own[own.length - 1].side !== t.side ? 1 : 0);
    if (turns > params.rounds) return 'This account has gone in and out of the same position several times in this run.';
    const across = same.filter((o) => o.account !== t.account && o.side !== t.side);
    const owner = owners.get(t.account);
    const linked = across.some((o) => (owner === undefined || owners.get(o.account) === undefined ? params.unknown_owner === 'block' : Array.from(owner).some((x) => owners.get(o.account).has(x))));
    return linked ? 'Another account of the same owner took the other side of this trade.' : '';
  };
  return {
    onPreToolCall(call) {
      if (session.effectOf(call).read) return allow();
      const t = read(call);
      const why = t === undefined ? '' : clash(t);
      return why === '' ? allow() : block(`${why} Do not place it; tell the user that such trades need a review.`);
    },
    onDecision(call, decision) {
      if (decision.do === 'block' || session.effectOf(call).read) return;
      const t = read(call);
      if (t !== undefined) trades.push(t);
    },
    onPostToolCall(call) {
      const { leaves } = session.observations[session.observations.length - 1];
      const asked = argumentLeaves(call.arguments).find((l) => accountKey(l.key));
      for (const l of leaves) {
        if (!/owner|holder|beneficiar/i.test(l.path)) continue;
        const named = leaves.find((o) => o.record === l.record && accountKey(o.key)) || asked;
        if (named === undefined) continue;
        const account = normalizeText(named.text);
        owners.set(account, (owners.get(account) || new Set()).add(normalizeText(l.text)));
      }
      return keep();
    },
  };
}
