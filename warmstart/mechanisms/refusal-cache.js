/* mechanism
summary = "Remembers what was refused: the same effect in another spelling is refused again, and after several refusals the tool stays closed for values the user did not give."
litmus = "Yes: it acts on what other checks refused, not on names; renaming a target does not reopen the tool once it is closed."
channels = ["indirect", "direct"]
acts = "block"
[params.close_after]
type = "int"
default = 3
min = 1
max = 12
[params.by]
type = "choice"
values = ["tool", "class"]
default = "tool"
*/
// Without another mechanism that refuses, this one never acts. `by`: whether refusals are
// counted for one tool, or for all tools with an effect of the same kind.
function mechanism(params, session) {
  const refused = new Set();
  const counts = new Map();
  const keysOf = (call) => (params.by === 'class' ? Array.from(session.effectOf(call).classes) : [call.tool]);
  const shape = (call) => `${call.tool} ${argumentLeaves(call.arguments).map((l) => `${l.path}=${normalizeText(l.text)}`).sort().join('|')}`;
  return {
    onPreToolCall(call) {
      if (session.effectOf(call).read) return allow();
      if (refused.has(shape(call))) return block('This was refused before and trying again does not change that. Go on without it.');
      if (!keysOf(call).some((k) => (counts.get(k) || 0) >= params.close_after)) return allow();
      const open = session.claims(call.arguments).filter((c) => c.whole && c.kind !== 'amount' && c.kind !== 'date');
      if (open.length > 0 && open.every((c) => session.userSaid(c.value, c.kind) || session.granted(call, c))) return allow();
      return block('Several actions of this kind were refused in this run. Only values that the user gave are accepted now.');
    },
    onDecision(call, decision) {
      if (decision.do !== 'block' || session.effectOf(call).read) return;
      const s = shape(call);
      if (refused.has(s)) return;
      refused.add(s);
      for (const k of keysOf(call)) counts.set(k, (counts.get(k) || 0) + 1);
    },
  };
}
