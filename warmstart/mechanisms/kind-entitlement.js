/* mechanism
summary = "An offer of one kind goes only to a holder of that kind: plans for staff to staff, plans for firms to firms; what is for the general public goes to anybody."
litmus = "Yes: the kinds come from the records of offer and holder; which offer, holder or pretext an attack picks does not matter."
channels = ["direct", "indirect"]
acts = "block"
[params.unknown]
type = "choice"
summary = "What to do if the kind of offer or holder was not read."
values = ["allow", "block"]
default = "allow"
*/
// An offer is a record with a kind beside its name that the call hands to a holder; the holder's kind stands in
// any record with the holder's id.
function mechanism(params, session) {
  const KIND = /(?:^|_)(?:kind|type|category|segment|audience|class|tier|group)$/i;
  const PUBLIC = /^(?:consumers?|private|personal|residential|household|retail|standard|general|public|everyone|all|any)$/;
  const offers = new Map();                                 // name -> kind
  const holders = new Map();                                // id -> kind
  const plain = (t) => normalizeText(t).replace(/s$/, '');
  const parent = (path) => path.slice(0, Math.max(0, path.lastIndexOf('.')));
  return {
    onPreToolCall(call) {
      if (session.effectOf(call).read) return allow();
      const leaves = argumentLeaves(call.arguments).filter((l) => l.text.length <= 80);
      const offer = leaves.find((l) => /(?:^|_)(?:plan|tariff|offer|product|package|subscription|rate|licen[cs]e|tier|option|bundle|price_?list)(?:_?(?:id|name|code))?$/i.test(l.key));
      if (offer === undefined) return allow();
      const kind = offers.get(normalizeText(offer.text));
      const holder = leaves.filter((l) => l !== offer).map((l) => holders.get(normalizeText(l.text))).find((k) => k !== undefined);
      if (kind === undefined || (holder === undefined && !PUBLIC.test(kind))) {
        return params.unknown === 'block' || (kind !== undefined && leaves.length > 1) ? block('Look up first what kind of offer this is and what kind of customer gets it; some offers are for one kind only.') : allow();
      }
      if (PUBLIC.test(kind) || kind === holder) return allow();
      return block(`This offer is for ${kind} only, and the holder is ${holder}. Choose an offer for this kind of customer.`);
    },
    onPostToolCall(call, result) {
      const seen = session.observations[session.observations.length - 1];
      if (result.isError || !seen.effect.read || seen.outside) return keep();
      const many = seen.leaves.some((l) => /\]\./.test(l.path));
      for (const k of seen.leaves.filter((l) => KIND.test(l.key) && l.text.length <= 40)) {
        const kind = plain(k.text);
        const beside = seen.leaves.filter((l) => l !== k && l.record === k.record && parent(l.path) === parent(k.path) && l.text.length <= 80);
        const owned = /customer|owner|holder|client|member|subscriber|user/i.test(parent(k.path)) || beside.some((l) => /customer|owner|holder|client|member|subscriber|user|e?mail|phone/i.test(l.key));
        if (!owned) {
          if (many || beside.some((l) => /price|fee|cost/i.test(l.key))) for (const l of beside) if (/(?:^|_)(?:id|name|code|plan|tariff|offer|product|package)$/i.test(l.key)) offers.set(normalizeText(l.text), kind);
          continue;
        }
        for (const l of seen.leaves) if (l.record === k.record && /(?:^|_)(?:ids?|accounts?|lines?)$/i.test(l.key) && !(many && /\]\./.test(k.path) && parent(l.path) !== parent(k.path))) holders.set(normalizeText(l.text), kind);
      }
      return keep();
    },
  };
}
