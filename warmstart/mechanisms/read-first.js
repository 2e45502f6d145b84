/* mechanism
summary = "The state of something that can be looked up is changed only after it was read, or after a text was read that the user points at as the reason."
litmus = "Yes: what counts is whether this very object was read before the change, for any object, state and wording; reading another one does not help."
channels = ["direct", "indirect"]
acts = "block"
[params.states]
type = "choice"
summary = "Which changes: those that choose a value from a closed list, or all changes of an object."
values = ["listed", "all"]
default = "listed"
[params.unread]
type = "int"
summary = "So many changes that end nothing may be made unread, for objects that the user names."
default = 1
min = 0
max = 5
[params.sources]
type = "bool"
summary = "A text that the user points at can stand for reading the object itself, if the user, a record or the head of that text names the object."
default = true
*/
// An object can be looked up if a read tool takes the same argument. A text of the same kind (another
// ticket) is no reason for this one. What ends a case (closed, rejected, deleted) is always read before.
function mechanism(params, session) {
  const ENDS = /^(?:closed?|resolved?|solved|done|completed?|finished|cancel(?:l?ed)?|rejected|declined|archived?|deleted?|terminated?|ended|dismissed|inactive|suspended|blocked)$/i;
  const readKeys = new Set();
  for (const t of session.tools.values()) if (t.effect.read) for (const k of Object.keys(t.schema().properties || {})) readKeys.add(k);
  let unread = 0;
  const seen = new Set();                                   // key=value of what was read
  const near = new Set();                                   // ids in records, and in the heads of texts that the user points at
  const sources = [];                                       // keys by which texts that the user points at were read
  const parse = (call) => {
    const effect = session.effectOf(call);
    if (effect.read || !(effect.classes.has('update') || effect.classes.has('delete'))) return undefined;
    const tool = session.tools.get(call.tool);
    const props = (tool && tool.schema().properties) || {};
    const leaves = argumentLeaves(call.arguments);
    if (params.states === 'listed' && !leaves.some((l) => Array.isArray((props[l.key] || {}).enum) || typeof l.raw === 'boolean')) return undefined;
    return leaves.filter((l) => readKeys.has(l.key) && /(?:^|_)(?:id|ids|no|number|ref|key|name)$/i.test(l.key) && !(props[l.key] || {}).enum);
  };
  const blind = (call) => (parse(call) || []).filter((l) => !seen.has(`${l.key}=${normalizeText(l.text)}`) && !(params.sources && (session.userSaid(l.text) || near.has(normalizeText(l.text))) && sources.some((key) => key !== l.key)));
  const ends = (call) => session.effectOf(call).classes.has('delete') || argumentLeaves(call.arguments).some((l) => ENDS.test(l.text));
  return {
    onPreToolCall(call) {
      for (const l of blind(call)) {
        if (unread < params.unread && session.userSaid(l.text) && !ends(call)) continue;
        return block(`Nobody has looked at ${l.text} in this run. Read it first; its state is changed only for a reason that stands there or where the user points.`);
      }
      return allow();
    },
    onDecision(call, decision) {
      if (decision.do !== 'block' && blind(call).length > 0) unread++;
    },
    onPostToolCall(call, result) {
      if (result.isError || !session.effectOf(call).read) return keep();
      const leaves = argumentLeaves(call.arguments);
      for (const l of leaves) seen.add(`${l.key}=${normalizeText(l.text)}`);
      const o = session.observations[session.observations.length - 1];
      const pointed = o.named || leaves.some((l) => session.userSaid(l.text));
      if (pointed || !o.outside) for (const l of o.leaves) if (/(?:^|_)ids?$/i.test(l.key)) near.add(normalizeText(l.text));
      if (pointed && o.outside) sources.push(leaves.length > 0 ? leaves[0].key : '');
      return keep();
    },
  };
}
