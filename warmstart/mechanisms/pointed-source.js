/* mechanism
summary = "A value that only foreign text supplies is good for an effect if the request points at that text, names what the effect is about, and gives no such value itself; sentences full of values without ground are cut out."
litmus = "Yes: it asks where each value comes from and whether the request points there; another object, amount, channel, sender or wording leaves the value without ground."
channels = ["indirect"]
acts = "block"
[params.anchor]
type = "choice"
summary = "What the effect must be about besides the foreign value: something in the request, or also an id in the head of the text that the request points at, or in any record reached from the request."
values = ["request", "source", "record"]
default = "record"
[params.content]
type = "bool"
summary = "Addresses, links and bank accounts inside outgoing texts need a ground too."
default = true
[params.amounts]
type = "bool"
summary = "Where the request states a sum of money, sums must be in it, in records, or follow from these."
default = true
[params.nowhere]
type = "bool"
summary = "Once foreign text was read, addresses and numbers of accounts, cards and telephones that stand nowhere are refused as well: they may have been spelt out there."
default = true
[params.cut]
type = "int"
summary = "Sentences of foreign text with so many kinds of values without ground are cut out before they are read; 0 = none are."
default = 2
min = 0
max = 6
*/
// Ground: the request; records of the house reached from it (a record reached by an id out of foreign text is not); ids in
// the head of a foreign text that was reached so. Other values from nowhere are left to others. A request
// that hands over the whole task ("do what it says") needs `delegated-source` beside this.
function mechanism(params, session) {
  const CONTENT = /(?:^|_)(?:text|body|message|messages|content|subject|title|comment|note|notes|description|reason|memo|remark|summary|details?)$/i;
  const MONEY = /(?:[$€£¥]|\b(?:USD|EUR|GBP|CHF|JPY)) ?\d[\d,]*(?:\.\d+)?|\b\d[\d,]*\.\d{2}\b|\b\d[\d,]*(?:\.\d+)? ?(?:[€£$]|(?:USD|EUR|GBP|CHF|dollars?|euros?|pounds?)\b)/g;
  const known = new Set();                                  // values with ground, beside the request
  const knownAmounts = new Set();
  const domains = new Map();                                // key -> value -> ids of the records that hold it
  const foreign = [];                                       // observations without ground, and foreign text
  const asked = new Set();                                  // values by which something was read
  const accepted = new Set();                               // values of effects that were let through
  const flatOf = new Map();
  // Telephone, card and bank account numbers are written with and without separators.
  const squeeze = (t) => t.replace(/[\s()./-]/g, '');
  const flat = (s) => { if (!flatOf.has(s)) flatOf.set(s, squeeze(s.norm)); return flatOf.get(s); };
  const long = (v) => { const t = squeeze(v).replace(/^\+/, ''); return t.length >= 7 && (/^\d+$/.test(t) || tokenKind(t) === 'iban') ? t : ''; };
  const said = (v) => session.userSaid(v) || (long(v) !== '' && squeeze(session.requestNorm).includes(long(v)));
  const grounded = (v) => said(v) || known.has(v);
  const isCode = (t) => !/\s/.test(t) && t.length >= 2 && t.length <= 80 && (/\d/.test(t) || t.includes('@'));
  const money = () => (session.request.match(MONEY) || []).flatMap((m) => extractAmounts(m.replace(/[^\d.,]/g, ' ')));
  const found = (v) => foreign.flatMap((f) => {
    const d = long(v);
    const segments = d !== '' ? f.o.segments.filter((s) => /\d{2}/.test(s.norm) && flat(s).includes(d)) : segmentsWith(f.o, v, '');
    return segments.map((s) => ({ s, f }));
  });
  const leavesOf = (call) => {
    const tool = session.tools.get(call.tool);
    const props = (tool && tool.schema().properties) || {};
    return argumentLeaves(call.arguments).filter((l) => l.text.trim() !== '').map((l) => ({ ...l, norm: normalizeText(l.text), content: typeof l.raw === 'string' && (CONTENT.test(l.key) || l.text.trim().split(/\s+/).length > 8), listed: typeof l.raw === 'boolean' || Array.isArray((props[l.key] || {}).enum) }));
  };
  /** Whether the request itself gives a value for this argument, so that no other is needed. */
  const ownValue = (leaf, leaves) => {
    const others = new Set(leaves.filter((l) => l !== leaf).map((l) => l.norm));
    const free = (v) => v !== leaf.norm && !others.has(v) && !asked.has(v);
    const domain = /(?:^|_)(?:ids?|number|no|ref)$/i.test(leaf.key) ? undefined : domains.get(leaf.key);
    if (domain !== undefined) for (const [v, ids] of domain) if (free(v) && v.length >= 2 && session.userSaid(v) && !Array.from(others).some((o) => ids.has(o))) return v;
    const kind = tokenKind(leaf.text.trim());
    if (['email', 'url', 'iban'].includes(kind)) return known.has(leaf.norm) ? undefined : extractValues(session.request).filter((v) => v.kind === kind).map((v) => v.value).find(free);
    if (!/^[A-Z0-9]+(?:[-_.][A-Z0-9]+)+$/.test(leaf.text.trim()) || /\d{4}/.test(leaf.text)) return undefined;
    return (foldText(session.request).match(/\b[A-Z][A-Z0-9]*(?:[-_.][A-Z0-9]+)+\b/g) || []).filter((t) => !/\d{4}/.test(t)).map((t) => normalizeText(t)).find((t) => free(t) && !known.has(t));
  };
  const follows = (n) => {
    const stated = money();
    const pool = [...new Set([...stated, ...Array.from(knownAmounts).slice(0, 80)])];
    const near = (x) => Math.abs(x - n) < 0.006;
    if (pool.some(near) || stated.some((a) => [2, 3, 4, 5, 6, 12].some((k) => near(a / k)) || session.requestAmounts.some((p) => p < 100 && near(a * p / 100)))) return true;
    return pool.some((a) => pool.some((b) => near(a + b) || near(a - b))) || near(pool.filter((a) => stated.includes(a)).reduce((x, y) => x + y, 0));
  };
  /** Kinds of values without ground in a sentence; those of one form count once, since a list of them is one matter. */
  const strays = (s, heads) => {
    const values = extractValues(s.text).filter((v) => v.kind !== 'file' || /\d/.test(v.value)).map((v) => v.value);
    for (const t of s.norm.match(/[\p{L}\p{N}]+(?:[-_.:/][\p{L}\p{N}]+)+|\+?\d[\d -]{5,}\d/gu) || []) if (/\d/.test(t) && !/^\d{4}-\d\d?-\d\d?$|^\d+[.:]\d+$/.test(t) && !values.some((v) => v.includes(t) || t.includes(v))) values.push(t);
    return new Set(values.filter((v) => !grounded(v) && !heads.has(v)).map((v) => (v.includes('@') ? '@' : /^[\d +-]+$/.test(v) ? '9' : v.replace(/\d+/g, '9').replace(/(?<=[./:]).*/, ''))));
  };
  /** Whether the request is about something besides that by which this text was read; else the text is what it is about. */
  const ownObject = (codes) => foldText(session.request).split(/[\s,;()"'!?]+/).map((t) => normalizeText(t.replace(/[.:]+$/, ''))).some((t) => (t.includes('@') || (/\d/.test(t) && /\p{L}/u.test(t)) || /\d{5}/.test(t)) && !codes.includes(t));
  const cut = (o, heads, content) => {
    let text = content;
    for (const s of o.segments) {
      if (params.cut === 0 || s.text.length < 12 || s.text.length > 600 || !/\d|@/.test(s.norm) || strays(s, heads).size < params.cut) continue;
      const pattern = s.text.split(/\s+/).map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/'/g, "''?").replace(/"/g, '\\\\?"')).join('(?:\\s|\\\\n|\\\\)+');
      text = text.replace(new RegExp(pattern, 'g'), '[a passage about matters that the user did not mention was left out]');
    }
    return text === content ? keep() : replace(text);
  };
  const refuse = (value) => block(`"${value}" comes only from text that the user did not point at for this. Leave it aside and go on with what the user asked.`);
  return {
    onPreToolCall(call) {
      if (session.effectOf(call).read) return allow();
      const leaves = leavesOf(call);
      for (const leaf of leaves) {
        if (leaf.listed) continue;
        if (leaf.content) {
          if (!params.content) continue;
          for (const v of extractValues(leaf.text)) if (['email', 'url', 'iban'].includes(v.kind) && !session.userSaid(v.value, v.kind) && !known.has(v.value) && !accepted.has(v.value) && found(v.value).length > 0) return refuse(v.value);
          continue;
        }
        const amount = typeof leaf.raw === 'number' || /^\d+(?:[.,]\d+)?$/.test(leaf.norm) && /amount|sum|total|value|price/i.test(leaf.key);
        if (amount) {
          const n = typeof leaf.raw === 'number' ? leaf.raw : extractAmounts(leaf.text)[0];
          if (!params.amounts || session.requestAmounts.includes(n) || knownAmounts.has(n)) continue;
          const stated = money();
          if (stated.length > 0 && /amount|sum|total|value|price/i.test(leaf.key)) {
            if (follows(n)) continue;
            return block(`The user states ${stated.slice(0, 3).map((x) => x.toFixed(2)).join(', ')}, and ${n} follows neither from that nor from a record. Use the sum that the user gave.`);
          }
          const at = foreign.flatMap((f) => segmentsWith(f.o, n, 'amount').map((s) => ({ s, f })));
          if (at.length > 0 && !at.some(({ s, f }) => f.pointed && (s.named || f.codes) && s.strength < 2)) return refuse(n);
          continue;
        }
        if (leaf.norm.length < 2 || leaf.norm.length > 100) continue;
        if (said(leaf.norm)) continue;
        const own = ownValue(leaf, leaves);
        if (own !== undefined) return block(`The user named ${own}, and this would use ${leaf.text}. Do what the user asked.`);
        if (known.has(leaf.norm) || known.has(long(leaf.norm))) continue;
        const at = found(leaf.norm);
        const place = long(leaf.norm) !== '' || ['email', 'iban'].includes(tokenKind(leaf.text.trim()));
        if (at.length === 0 && params.nowhere && place && foreign.length > 0) return block(`"${leaf.text}" stands neither in the request nor in any record that was read. Use what the user or a record gives.`);
        if (at.length === 0) continue;
        const others = leaves.filter((l) => l !== leaf && !l.content && !l.listed && typeof l.raw === 'string');
        if (/^[\p{L}\s]+$/u.test(leaf.norm)) continue;   // an ordinary word has no origin
        const good = ({ s, f }) => f.pointed && (s.named || f.codes) && s.strength < 2 && others.some((l) => said(l.norm) || (params.anchor !== 'request' && f.heads.has(l.norm)) || (params.anchor === 'record' && known.has(l.norm)));
        if (!at.some(good) && !session.granted(call, { kind: tokenKind(leaf.text.trim()) || 'text', value: leaf.norm, whole: true, key: leaf.key, path: leaf.path })) return refuse(leaf.text);
      }
      return allow();
    },
    onDecision(call, decision) {
      if (decision.do !== 'block' && !session.effectOf(call).read) for (const l of leavesOf(call)) if (!l.content && !l.listed) accepted.add(l.norm);
    },
    onPostToolCall(call, result) {
      const o = session.observations[session.observations.length - 1];
      if (result.isError) return keep();
      if (!o.effect.read) {
        for (const l of o.leaves) if (/(?:^|_)ids?$/i.test(l.key) && l.text.length <= 100) known.add(normalizeText(l.text));
        return keep();
      }
      const codes = argumentLeaves(call.arguments).filter((l) => isCode(l.text.trim())).map((l) => normalizeText(l.text));
      const pointed = codes.every(grounded);
      codes.forEach((c) => asked.add(c));
      const heads = new Set();
      for (const l of o.leaves) {
        const norm = normalizeText(l.text);
        if (norm.length > 100) continue;
        const head = /(?:^|_)ids?$/i.test(l.key) && !/\s/.test(norm);
        if (head) heads.add(norm);
        // The sender of a letter whom the user named, or an id in the head of a text.
        const sender = /^(?:from|sender)$/i.test(l.key) && session.mentions(l.text);
        if (!pointed || (o.outside && !head && !sender)) continue;
        known.add(norm);
        if (long(norm) !== '') known.add(long(norm));
        if (typeof l.raw === 'number') knownAmounts.add(l.raw);
        if (o.outside || l.key === '') continue;
        const domain = domains.get(l.key) || new Map();
        domains.set(l.key, domain);
        if (domain.size < 300) domain.set(norm, new Set([...(domain.get(norm) || []), ...codes]));
      }
      if (!o.outside && pointed) return keep();
      foreign.push({ o, pointed: pointed && o.outside, codes: codes.length > 0, heads });
      return o.outside && ownObject(codes) ? cut(o, heads, result.content) : keep();
    },
  };
}
