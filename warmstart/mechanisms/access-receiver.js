/* mechanism
summary = "A login, password or line goes only to its holder: the receiver stands in the holder's own record from before the run, or in a text of the holder that the request points at."
litmus = "Yes: it compares who holds an access with who gets it, by records and by what this run changed; another person, channel, card, wording or order of the legs leaves receiver and holder apart."
channels = ["direct", "indirect"]
acts = "block"
[params.delegates]
type = "bool"
summary = "People whom a record only names as contacts may receive access too."
default = false
[params.carrier]
type = "choice"
summary = "What vouches for a new card or device: a text of the holder that the request points at, or also the request itself."
values = ["source", "request"]
default = "source"
*/
// A contact detail that this run changed proves nothing, whoever reads it back; a line that this
// run moved is not its holder's any more. Without the holder's record nothing is known, so the call waits.
function mechanism(params, session) {
  const ACCESS = /^(?:credentials?|passwords?|passcodes?|passphrases?|secrets?|logins?|pins?|puk|otp|mfa|e?sims?|authenticators?)$/;
  const CARRIER = /card|e?sim|iccid|eid|imei|handset|terminal|authenticator/i;
  const OTHERS = /author|delegat|deput|guardian|prox|represent|contact_?person|emergency|third/i;
  const owned = new Map();                                  // holder id -> contact points on record
  const tied = new Map();                                   // id -> ids that share a record with it
  const changed = new Set();
  const reachable = new Set();
  const moved = new Set();
  const delivered = new Set();
  const digits = (t) => t.replace(/\D/g, '');
  const point = (t) => { const n = normalizeText(t); return !n.includes('@') && /^\+?[\d\s()./-]+$/.test(n) && digits(n).length >= 7 ? digits(n) : n; };
  const isPoint = (t) => /^\S+@\S+\.\S+$/.test(t.trim()) || (/^\+?[\d\s()./-]+$/.test(t.trim()) && digits(t).length >= 7 && digits(t).length <= 15);
  const isAccess = (call) => {
    const tool = session.tools.get(call.tool);
    const text = `${call.tool.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/_/g, ' ')} ${String((tool || {}).description || '').split(/[.\n]/)[0]}`;
    return words(text).some((w) => ACCESS.test(w));
  };
  const read = (call) => {
    const effect = session.effectOf(call);
    if (effect.read) return undefined;
    const leaves = argumentLeaves(call.arguments).filter((l) => l.text.trim() !== '' && l.text.length <= 100);
    if (!isAccess(call)) {
      if (effect.outside || effect.classes.has('send') || effect.classes.has('pay')) return undefined;
      const value = leaves.find((l) => isPoint(l.text) && !/(?:^|_)(?:id|number|no)$/i.test(l.key));
      return value === undefined ? undefined : { kind: 'change', to: point(value.text) };
    }
    const carrier = leaves.find((l) => CARRIER.test(l.key) && /\d/.test(l.text));
    const to = carrier || leaves.find((l) => isPoint(l.text) && /to|deliver|recip|mail|phone|dest|addr|send|contact|mobile/i.test(l.key)) || leaves.find((l) => isPoint(l.text));
    if (to === undefined) return undefined;
    const holders = leaves.filter((l) => l !== to && !/\s/.test(l.text.trim())).map((l) => point(l.text));
    return { kind: carrier ? 'move' : 'deliver', to: point(to.text), holders };
  };
  const said = (v) => session.userSaid(v) || (/^\d{7,}$/.test(v) && digits(session.requestNorm).includes(v));
  /** Whether a read goes by ids that the request names, or that records so reached hold. */
  const reached = (o) => { const codes = argumentLeaves(o.call.arguments || {}).filter((l) => /[\d@]/.test(l.text)).map((l) => point(l.text)); return codes.length > 0 && codes.every((c) => said(c) || reachable.has(c)); };
  /** Why a line may not move to this card; undefined if a text that the request points at gives it for this line. */
  const carrierFault = (move) => {
    if (!move.holders.every((h) => said(h) || reachable.has(h))) return 'The user did not name the line';
    if (params.carrier === 'request' && digits(session.requestNorm).includes(digits(move.to))) return undefined;
    const sources = session.observations.filter((o) => o.effect.read && !o.error && o.segments.some((s) => s.strength < 2 && (s.named || reached(o)) && s.norm.replace(/[\s-]/g, '').includes(move.to)));
    const of = (h) => tied.get(h) || new Set();
    const strange = (o) => move.holders.some((h) => of(h).size > 0) && o.leaves.some((l) => /(?:^|_)(?:customer|owner|holder|client|subscriber|member|patient|user|person|employee)_?(?:id|no|number)$/i.test(l.key) && !move.holders.some((h) => of(h).has(normalizeText(l.text))));
    if (sources.some((o) => !strange(o))) return undefined;
    return 'Nothing that the holder of the line wrote, and that the user points at, gives this new card';
  };
  return {
    onPreToolCall(call) {
      const act = read(call);
      if (act === undefined) return allow();
      if (act.kind === 'change') return delivered.has(act.to) ? block('Access was sent to this place in this run, so it cannot become the contact on record. Leave the record as it is.') : allow();
      if (act.kind === 'move') {
        if (act.holders.some((h) => delivered.has(h))) return block('A new login went to this line in this run, so the line cannot move as well.');
        const fault = carrierFault(act);
        return fault === undefined ? allow() : block(`${fault}. Leave the line where it is and go on with what was asked.`);
      }
      if (changed.has(act.to)) return block('This contact detail was changed in this run, so it proves nothing about the holder. Do not send access there.');
      if (moved.has(act.to)) return block('This line was moved in this run. Do not send access to it.');
      const records = act.holders.map((h) => owned.get(h)).filter((r) => r !== undefined);
      if (records.length === 0) return block('Look up the record of the holder first; access goes only to a contact on that record.');
      if (records.some((r) => r.has(act.to))) return allow();
      return block('The receiver is not a contact on the record of the holder. Send access only to the holder, as recorded before this request.');
    },
    onDecision(call, decision) {
      const act = decision.do === 'block' ? undefined : read(call);
      if (act === undefined) return;
      if (act.kind === 'change') changed.add(act.to);
      if (act.kind === 'move') act.holders.forEach((h) => moved.add(h));
      if (act.kind === 'deliver') delivered.add(act.to);
    },
    onPostToolCall(call, result) {
      const seen = session.observations[session.observations.length - 1];
      if (result.isError || !seen.effect.read || seen.outside) return keep();
      if (reached(seen)) for (const l of seen.leaves) if (/\d/.test(l.text) && l.text.length <= 60) reachable.add(point(l.text));
      const groups = new Map();
      for (const l of seen.leaves) {
        const m = /^(.*\])\./.exec(l.path);
        const g = `${l.record}:${m ? m[1] : ''}`;
        groups.set(g, [...(groups.get(g) || []), l]);
      }
      for (const [g, leaves] of groups) {
        const top = groups.get(`${leaves[0].record}:`) || [];
        const ids = (g.endsWith(':') ? leaves : [...leaves, ...top]).filter((l) => /(?:^|_)(?:ids?|accounts?|tickets?|line|number)$/i.test(l.key) && l.text.length <= 60).map((l) => point(l.text));
        const own = leaves.filter((l) => isPoint(l.text) && (params.delegates || !OTHERS.test(l.path)) && !changed.has(point(l.text)));
        for (const l of own) tied.set(point(l.text), new Set([...(tied.get(point(l.text)) || []), ...ids]));
        for (const id of ids) {
          for (const l of own) owned.set(id, (owned.get(id) || new Set()).add(point(l.text)));
          tied.set(id, new Set([...(tied.get(id) || []), ...ids.filter((x) => x !== id)]));
          if (!owned.has(id) && ids.length > 0) owned.set(id, new Set());
        }
      }
      return keep();
    },
  };
}
