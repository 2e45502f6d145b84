/* mechanism
summary = "Refuses to undo or hide what the run itself did: deleting a message it sent, removing a member it added, unless the user asked for deletion. Works in either order."
litmus = "Yes: it pairs actions by the objects they share, so names, tools and wording do not matter."
channels = ["indirect", "direct"]
acts = "block"
[params.min_length]
type = "int"
default = 1
min = 1
max = 8
*/
// The legs are kept as sets of values; a deletion is matched with what earlier effects were given
// and with what their results returned (a new id), and a creation with earlier deletions.
function mechanism(params, session) {
  const made = new Set();
  const gone = new Set();
  const valuesOf = (args) => session.claims(args).filter((c) => c.whole && c.kind !== 'amount' && String(c.value).length >= params.min_length).map((c) => String(c.value));
  return {
    onPreToolCall(call) {
      const effect = session.effectOf(call);
      if (effect.read || session.requestClasses.has('delete')) return allow();
      const other = effect.classes.has('delete') ? made : gone;
      const pair = valuesOf(call.arguments).find((v) => other.has(v) && !session.userSaid(v));
      return pair === undefined ? allow() : block(`"${pair}" was just touched by this run, and the user did not ask to remove it again. Leave it as it is.`);
    },
    onDecision(call, decision) {
      const effect = session.effectOf(call);
      if (decision.do === 'block' || effect.read) return;
      for (const v of valuesOf(call.arguments)) (effect.classes.has('delete') ? gone : made).add(v);
    },
    onPostToolCall(call, result) {
      const effect = session.effectOf(call);
      if (effect.read || result.isError || effect.classes.has('delete')) return keep();
      for (const l of resultLeaves(result.content)) if (/(?:^|_)id_?$/i.test(l.key)) made.add(normalizeText(l.text));
      return keep();
    },
  };
}
