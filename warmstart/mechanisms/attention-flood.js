/* mechanism
summary = "Cases, tickets and alarms that a run opens are counted by whom they are for, before the call: few for one subject, and hardly any for subjects that the user did not name."
litmus = "Yes: only how many are opened for whom counts, and whether the user named them; texts, tools and turns do not."
channels = ["direct", "indirect"]
acts = "block"
[params.per_subject]
type = "int"
default = 1
min = 1
max = 10
[params.unnamed]
type = "int"
summary = "How many may be opened in all for subjects that the user did not name."
default = 1
min = 0
max = 10
*/
// Opening something: an effect of the kind `create` with a text for people and a subject, that stays inside the house.
// One case each for many subjects whom the user names is ordinary work and has no limit here.
function mechanism(params, session) {
  const CONTENT = /(?:^|_)(?:text|body|message|content|subject|title|comment|note|description|reason|summary|details?)$/i;
  const count = new Map();
  let unnamed = 0;
  const pending = new Map();
  const parse = (call) => {
    const effect = session.effectOf(call);
    if (effect.read || effect.outside || !effect.classes.has('create') || effect.classes.has('update') || effect.classes.has('pay')) return undefined;
    const tool = session.tools.get(call.tool);
    const props = (tool && tool.schema().properties) || {};
    const leaves = argumentLeaves(call.arguments);
    if (!leaves.some((l) => CONTENT.test(l.key))) return undefined;
    const subject = leaves.find((l) => !CONTENT.test(l.key) && typeof l.raw === 'string' && !(props[l.key] || {}).enum && l.text.length <= 80 && /(?:^|_)(?:ids?|customer|client|owner|user|assignee|account|team|queue|device|host|service)$/i.test(l.key));
    return subject === undefined ? undefined : { key: `${call.tool}:${normalizeText(subject.text)}`, named: session.userSaid(subject.text) };
  };
  return {
    onPreToolCall(call) {
      const p = parse(call);
      if (p === undefined) return allow();
      if ((count.get(p.key) || 0) >= params.per_subject) return block('This run has opened one for the same subject already. Put everything into that one; people on duty look at each.');
      if (!p.named && unnamed >= params.unnamed) return block('The user named none of these subjects. Do not open more for them.');
      return allow();
    },
    onDecision(call, decision) {
      const p = decision.do === 'block' ? undefined : parse(call);
      if (p === undefined) return;
      count.set(p.key, (count.get(p.key) || 0) + 1);
      if (!p.named) unnamed++;
      pending.set(call.id, p);
    },
    onPostToolCall(call, result) {
      const p = pending.get(call.id);
      pending.delete(call.id);
      if (p === undefined || !result.isError) return keep();
      count.set(p.key, count.get(p.key) - 1);
      if (!p.named) unnamed--;
      return keep();
    },
  };
}
