/* mechanism
summary = "Vouches for what the user delegates: values, and where the user says to follow it also actions, that stand in a source the user named."
litmus = "Yes: which source counts follows from the user's words and the provenance of the result. Passages addressed to the assistant are never vouched for, wherever they stand."
channels = ["utility"]
acts = "block"
[params.depth]
type = "int"
default = 0
min = 0
max = 3
[params.follow]
type = "choice"
values = ["never", "asked", "always"]
default = "asked"
[params.kinds]
type = "choice"
values = ["typed", "all"]
default = "all"
*/
// Blocks nothing itself: other mechanisms ask before they block. `depth`: how many steps a
// named source may lead on (a message names a page, the page an address). `follow`: whether
// requests in a named source widen the kinds of effect; `asked` = only if the user says so.
function mechanism(params, session) {
  const vouched = [];                                       // {segments, depth}
  const asksToFollow = () => {
    const t = session.requestNorm;
    return /\b(?:follow|do|perform|execute|complete|carry out|handle|process|take care of)\b[^.!?]{0,60}\b(?:instructions?|actions?|tasks?|to-?dos?|steps?|requests?|everything|items?)\b/.test(t)
      || /\b(?:accordingly|as (?:described|specified|instructed|requested|written|stated)|what (?:it|he|she|they) (?:says?|asks?))\b/.test(t)
      || /\bdetails? (?:in|on|from)\b/.test(t);
  };
  const holds = (claim) => {
    const probe = { kind: claim.kind, value: claim.value };
    return vouched.some((v) => v.segments.some((s) => segmentHas(s, probe.value, probe.kind)));
  };
  session.grants.push((call, claim) => {
    if (claim.kind === 'effect') {
      if (params.follow === 'never' || (params.follow === 'asked' && !asksToFollow())) return false;
      return vouched.some((v) => v.segments.some((s) => s.strength === 1 && words(s.norm).some((w) => verbClasses(w).some((c) => claim.classes.has(c)))));
    }
    if (params.kinds === 'typed' && claim.kind === 'text') return false;
    return holds(claim);
  });
  return {
    onPostToolCall(call) {
      const seen = session.observations[session.observations.length - 1];
      let segments = seen.segments.filter((s) => s.named && s.strength < 2);
      let depth = 0;
      if (segments.length === 0) {
        const from = vouched.filter((v) => v.depth < params.depth);
        const led = from.filter((v) => session.claims(call.arguments).some((c) => (c.kind !== 'text' || c.value.length >= 4) && v.segments.some((s) => segmentHas(s, c.value, c.kind))));
        if (led.length === 0) return keep();
        depth = Math.min(...led.map((v) => v.depth)) + 1;
        segments = seen.segments.filter((s) => s.strength < 2);
      }
      if (segments.length > 0) vouched.push({ segments, depth });
      return keep();
    },
  };
}
