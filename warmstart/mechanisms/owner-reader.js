/* mechanism
summary = "Personal data and secrets from a record go only to readers whom that record names: its owner, or a contact on it from before the run. Pieces in several texts count together."
litmus = "Yes: each outgoing text is compared with whose data it carries and who reads that place. Another person, channel, split or order leaves the reader a stranger to the owner."
channels = ["direct", "indirect"]
acts = "block"
[params.delegates]
type = "bool"
summary = "Contacts that the record names beside its owner may read too."
default = true
[params.pieces]
type = "bool"
summary = "Texts to strangers are read together."
default = true
*/
// Whose a place is (a ticket, an account) follows from records that hold both; a place whose owner was not
// looked up counts as a stranger's. A place without any addressee is read by everybody. A contact that
// this run changed is not the owner's, in either order of telling and changing.
function mechanism(params, session) {
  const CONTENT = /(?:^|_)(?:text|body|message|messages|content|subject|title|comment|note|notes|description|reason|memo|remark|summary|details?)$/i;
  const PERSONAL = /mail|phone|mobile|msisdn|address|street|residence|iban|bank|birth|passport|identity|ssn|tax/i;
  const SECRET = /secret|password|passcode|passphrase|(?:^|_)pin$|puk|otp|token|private_?key|api_?key/i;
  const OWNER = /(?:^|_)(?:customer|owner|holder|client|subscriber|member|patient|user|person|employee)_?(?:id|no|number)$/i;
  const OTHERS = /author|delegat|deput|guardian|prox|represent|contact_?person|emergency|third/i;
  const held = new Map();                                   // owner -> {values, readers, places}
  const sent = [];                                          // {text, reader}
  const written = new Set();                                // what this run wrote is nobody's record
  const changed = new Set();
  const changedOf = new Set();                              // owners with a changed contact
  const toldByPlace = new Set();                            // owners whose data went to a place of theirs
  const squeeze = (t) => normalizeText(t).replace(/[^\p{L}\p{N}]/gu, '');
  const isPoint = (t) => /^\S+@\S+\.\S+$/.test(t.trim()) || (/^\+?[\d\s()./-]+$/.test(t.trim()) && t.replace(/\D/g, '').length >= 7);
  const point = (t) => (t.includes('@') ? normalizeText(t) : t.replace(/\D/g, ''));
  const id = (t) => (isPoint(t) ? point(t) : normalizeText(t));
  const form = (t) => t.replace(/\d+/g, '9');
  const owner = (name) => { if (!held.has(name)) held.set(name, { values: new Map(), readers: new Set(), places: new Set([name]) }); return held.get(name); };
  /** Whether texts hold a value: whole, in any spelling of its separators, or cut into parts. */
  const holds = (value, texts) => {
    if (texts.some((t) => t.flat.includes(value.flat))) return true;
    if (!params.pieces || texts.length === 0) return false;
    if (value.parts.length > 1 && value.parts.every((p) => texts.some((t) => containsToken(t.norm, p)))) return true;
    let at = 0;
    for (let n = 0; n < 4 && at < value.flat.length; n++) {
      let length = 0;
      while (at + length < value.flat.length && texts.some((t) => t.flat.includes(value.flat.slice(at, at + length + 1)))) length++;
      if (length < 3) return false;
      at += length;
    }
    return at >= value.flat.length;
  };
  const parse = (call) => {
    const effect = session.effectOf(call);
    if (effect.read) return undefined;
    const tool = session.tools.get(call.tool);
    const props = (tool && tool.schema().properties) || {};
    const leaves = argumentLeaves(call.arguments).filter((l) => l.text.trim() !== '');
    const isContent = (l) => CONTENT.test(l.key) || l.text.trim().split(/\s+/).length > 4;
    const content = leaves.filter((l) => typeof l.raw === 'string' && isContent(l)).map((l) => ({ norm: normalizeText(l.text), flat: squeeze(l.text) }));
    const rest = leaves.filter((l) => !isContent(l) && typeof l.raw === 'string' && !(props[l.key] || {}).enum);
    if (content.length === 0) {
      const value = effect.outside || effect.classes.has('pay') ? undefined : rest.find((l) => isPoint(l.text) && !/(?:^|_)(?:id|number|no)$/i.test(l.key));
      return value === undefined ? undefined : { change: point(value.text), of: rest.filter((l) => l !== value).map((l) => id(l.text)) };
    }
    // An id of many digits is no telephone number.
    const reaches = (l) => isPoint(l.text) && !/(?:^|_)(?:ids?|number|no|ref)$/i.test(l.key);
    const to = rest.filter(reaches).map((l) => point(l.text));
    for (const l of rest) if (reaches(l)) content.push({ norm: normalizeText(l.text), flat: squeeze(l.text) });
    const places = rest.filter((l) => !reaches(l)).map((l) => ({ key: l.key, id: id(l.text) }));
    const open = effect.outside || ['send', 'share'].some((c) => effect.classes.has(c));
    return { content, to, places, open };
  };
  /** Whether all who read the place of this act may know of an owner; undefined where it stays inside. */
  const permitted = (o, name, act) => {
    if (act.to.length > 0) return act.to.every((t) => o.readers.has(t) && !changed.has(t));
    const mine = act.places.some((p) => o.places.has(p.id));
    if (mine) return !changedOf.has(name);
    if (act.open) return false;
    return act.places.some((p) => o.key === p.key || form(p.id) === form(name)) ? false : undefined;
  };
  return {
    onPreToolCall(call) {
      const act = parse(call);
      if (act === undefined) return allow();
      if (act.change !== undefined) {
        return act.of.some((o) => toldByPlace.has(o)) ? block('Data of this owner was sent out in this run, to the contact on record. That contact cannot change in the same run.') : allow();
      }
      for (const [name, o] of held) {
        if (o.values.size === 0) continue;
        const may = permitted(o, name, act);
        if (may === true) continue;
        const before = sent.filter((s) => permitted(o, name, s) === may).flatMap((s) => s.content);
        const hit = Array.from(o.values.values()).filter((v) => may === false || v.secret).find((v) => holds(v, act.content) || (before.length > 0 && holds(v, [...before, ...act.content]) && !holds(v, before)));
        if (hit === undefined) continue;
        // Data that several share, as a household its street, is each one's own.
        if (Array.from(held).some(([other, p]) => p.values.has(hit.flat) && permitted(p, other, act) === true)) continue;
        return block(`This text carries the ${hit.key.replace(/_/g, ' ')} of ${name}, and its reader is not known to be ${name} or a contact on that record. Leave the data out, or look up whose place it is.`);
      }
      return allow();
    },
    onDecision(call, decision) {
      if (decision.do !== 'block' && !session.effectOf(call).read) for (const l of argumentLeaves(call.arguments)) if (l.text.length <= 200) written.add(squeeze(l.text));
      const act = decision.do === 'block' ? undefined : parse(call);
      if (act === undefined) return;
      if (act.change !== undefined) {
        changed.add(act.change);
        act.of.forEach((o) => changedOf.add(o));
        return;
      }
      if (sent.length < 200) sent.push(act);
      if (act.to.length > 0) return;
      for (const [name, o] of held) if (act.places.some((p) => o.places.has(p.id)) && Array.from(o.values.values()).some((v) => holds(v, act.content))) toldByPlace.add(name);
    },
    onPostToolCall(call, result) {
      const seen = session.observations[session.observations.length - 1];
      if (result.isError || !seen.effect.read) return keep();
      const groups = new Map();
      for (const l of seen.leaves) {
        const m = /^(.*\])\./.exec(l.path);
        const g = `${l.record}:${m ? m[1] : ''}`;
        groups.set(g, [...(groups.get(g) || []), l]);
      }
      for (const [g, leaves] of groups) {
        // Who owns it: whom the record, or the record around it, names as that; else its first id, except in what outsiders write.
        const top = groups.get(`${leaves[0].record}:`) || [];
        const named = leaves.find((l) => OWNER.test(l.key)) || top.find((l) => OWNER.test(l.key)) || (seen.outside ? undefined : [...top, ...leaves].find((l) => /(?:^|_)id$/i.test(l.key)));
        if (named === undefined) continue;
        const o = owner(id(named.text));
        o.key = o.key || named.key;
        for (const l of leaves) if (/(?:^|_)(?:ids?|accounts?|tickets?|lines?)$/i.test(l.key) && l.text.length <= 60) o.places.add(id(l.text));
        if (seen.outside) continue;
        for (const l of leaves) {
          const others = OTHERS.test(l.path);
          if (isPoint(l.text) && (params.delegates || !others) && !changed.has(point(l.text))) o.readers.add(point(l.text));
          const flat = squeeze(l.text);
          if (others || written.has(flat) || flat.length < 5 || l.text.length > 200 || !(PERSONAL.test(l.key) || SECRET.test(l.key))) continue;
          if (o.values.size < 60) o.values.set(flat, { flat, key: l.key, secret: SECRET.test(l.key), parts: normalizeText(l.text).split(/[^\p{L}\p{N}]+/u).filter(Boolean) });
        }
      }
      return keep();
    },
  };
}
