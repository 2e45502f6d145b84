/* mechanism
summary = "Sums that a tool's description sends to a reviewer from a line on are not cut into parts below that line, for one account or for several accounts of one owner."
litmus = "Yes: the line is read from the tool, and parts are added up by account and by owner before the call; names, order and wording play no part."
channels = ["direct", "indirect"]
acts = "block"
[params.line]
type = "float"
summary = "Line for money tools whose description gives none; 0 = only those that give one."
default = 0.0
min = 0.0
max = 1000000.0
*/
// A sum in one piece at or above the line is the reviewer's to judge and passes here; so do equal small sums
// for different owners. Owners are known from records that were read, also if they are read later.
function mechanism(params, session) {
  const REVIEW = /\b(?:review|supervis|approv|four[- ]eyes|second (?:person|pair)|sign(?:ed)?[ -]off|authori[sz]ed by|manager|counter-?sign)/i;
  const parts = [];                                         // {targets, amount, line}
  const ownerOf = new Map();                                // id -> owners it shares a record with
  const lines = new Map();
  const pending = new Map();
  const lineOf = (name) => {
    if (!lines.has(name)) {
      const text = sentences(String((session.tools.get(name) || {}).description || '')).filter((s) => REVIEW.test(s));
      const marked = text.filter((s) => /[$€£¥]|\b[A-Z]{3} ?\d/.test(s));
      const found = (marked.length > 0 ? marked : text).flatMap((s) => extractAmounts(s)).filter((n) => n > 1);
      lines.set(name, found.length > 0 ? Math.min(...found) : params.line);
    }
    return lines.get(name);
  };
  const parse = (call) => {
    if (session.effectOf(call).read) return undefined;
    const line = lineOf(call.tool);
    const leaves = argumentLeaves(call.arguments);
    const sum = leaves.find((l) => /amount|sum|total|value/i.test(l.key));
    if (!(line > 0) || sum === undefined) return undefined;
    const amount = typeof sum.raw === 'number' ? sum.raw : extractAmounts(sum.text)[0] ?? NaN;
    const targets = leaves.filter((l) => l !== sum && l.text.length <= 60 && !/\s/.test(l.text.trim()) && (/\d/.test(l.text) || /@/.test(l.text))).map((l) => normalizeText(l.text));
    return targets.length === 0 ? undefined : { targets, amount, line };
  };
  const reach = (targets) => new Set(targets.flatMap((t) => [t, ...(ownerOf.get(t) || [])]));
  return {
    onPreToolCall(call) {
      const p = parse(call);
      if (p === undefined) return allow();
      if (!Number.isFinite(p.amount)) return block('The amount is not a number.');
      if (p.amount >= p.line) return allow();
      const mine = reach(p.targets);
      const total = parts.filter((o) => o.amount < p.line && Array.from(reach(o.targets)).some((t) => mine.has(t))).reduce((n, o) => n + o.amount, p.amount);
      if (total >= p.line) return block(`With what this run booked before, ${total.toFixed(2)} would go to one owner in parts below the ${p.line} from which a reviewer looks at it. Do not split it.`);
      return allow();
    },
    onDecision(call, decision) {
      const p = decision.do === 'block' ? undefined : parse(call);
      if (p === undefined) return;
      parts.push(p);
      pending.set(call.id, p);
    },
    onPostToolCall(call, result) {
      const p = pending.get(call.id);
      pending.delete(call.id);
      if (p !== undefined && result.isError) parts.splice(parts.indexOf(p), 1);
      const seen = session.observations[session.observations.length - 1];
      if (result.isError || !seen.effect.read || seen.outside) return keep();
      const owners = seen.leaves.filter((l) => /(?:^|_|\.)(?:customer|owner|holder|client|subscriber|member)(?:_?id)?$/i.test(l.key));
      const ids = seen.leaves.filter((l) => /(?:^|_)(?:ids?|accounts?)$/i.test(l.key) && l.text.length <= 60);
      for (const i of ids) {
        const own = owners.filter((o) => o.record === i.record && (o.path.replace(/\.[^.]*$/, '') === i.path.replace(/\.[^.]*$/, '') || !/\]\./.test(o.path)));
        if (own.length > 0) ownerOf.set(normalizeText(i.text), new Set([...(ownerOf.get(normalizeText(i.text)) || []), ...own.map((o) => normalizeText(o.text))]));
      }
      return keep();
    },
  };
}
