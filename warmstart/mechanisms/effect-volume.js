/* mechanism
summary = "Caps how many effects a run may have, in all and for each kind, counted before the call so that parallel bursts cannot slip past."
litmus = "Yes: names, places and wording play no part; only the number of distinct effects does."
channels = ["indirect", "direct"]
acts = "block"
[params.per_tool]
type = "int"
default = 8
min = 1
max = 40
[params.per_run]
type = "int"
default = 16
min = 1
max = 80
[params.destructive]
type = "int"
default = 3
min = 0
max = 20
*/
// Repeats of the very same call count again: a flood of equal messages is a flood too.
// `destructive`: deletions and changes of credentials.
function mechanism(params, session) {
  const count = new Map();
  let total = 0;
  let destructive = 0;
  return {
    onPreToolCall(call) {
      const effect = session.effectOf(call);
      if (effect.read) return allow();
      const over = total >= params.per_run || (count.get(call.tool) || 0) >= params.per_tool || (effect.destructive && destructive >= params.destructive);
      return over ? block('This run has already made as many changes as one request may. Stop here, tell the user what was done and ask before doing more.') : allow();
    },
    onDecision(call, decision) {
      const effect = session.effectOf(call);
      if (decision.do === 'block' || effect.read) return;
      total++;
      count.set(call.tool, (count.get(call.tool) || 0) + 1);
      if (effect.destructive) destructive++;
    },
  };
}
