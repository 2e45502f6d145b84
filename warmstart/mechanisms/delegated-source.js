/* mechanism
summary = "Vouches for what the user delegates: values that stand in a source the user named, and what that source asks for where the user says to follow it."
litmus = "Yes: which source counts follows from the user's words and the provenance of the result. Passages addressed to the assistant are never vouched for, wherever they stand."
channels = ["utility"]
acts = "block"
[params.depth]
type = "int"
default = 1
min = 0
max = 3
[params.trust]
type = "choice"
values = ["facts", "asked", "requests"]
default = "asked"
[params.effects]
type = "bool"
default = true
*/
// Blocks nothing itself: other mechanisms ask before they block. `depth`: how many steps a
// named source may lead on (a message names a page, the page an address). `trust`: which of its
// sentences supply values; `facts` = those that ask nobody to act, `requests` = all but those to
// the assistant, `asked` = requests too, as far as the user says to go by the source: to follow it
// (all values), or to act on its details (all but destinations); what it leads to gives facts only.
// An address quoted in a longer text is content; a link is not. `effects`: where the user says to
// follow it, what it asks for also counts as asked by the user.
function mechanism(params, session) {
  const vouched = [];                                       // {segments, depth}
  const DESTINATIONS = ['email', 'url', 'iban'];
  /** 2: the user says to follow a source; 1: to act on its details; 0: neither. */
  const delegation = () => {
    const t = session.requestNorm;
    if (/\b(?:follow|do|perform|execute|complete|carry out|handle|process|take care of|work through)\b[^.!?]{0,40}\b(?:instructions?|actions?|tasks?|to-?dos?|steps|requests?|everything|items)\b(?! in the order)/.test(t)) return 2;
    if (/\b(?:instructions?|tasks?|to-?dos?|requests?)\b[^!?]{0,60}\b(?:follow|do|complete|finish|handle|execute) (?:them|it|these|those|this)\b/.test(t)) return 2;
    if (/\bwhat(?:ever)? (?:it|he|she|they) (?:says?|asks?|wants?)\b/.test(t)) return 2;
    return /\baccordingly\b|\bas (?:described|specified|instructed|requested|written|stated|explained)\b|\b(?:details?|information|info) (?:are |is )?(?:in|on|from)\b|\baccording to\b/.test(t) ? 1 : 0;
  };
  const trusted = (segment, claim, depth) => {
    if (segment.strength === 0 || params.trust === 'requests') return segment.strength < 2;
    if (segment.strength === 2 || params.trust === 'facts' || depth > 0) return false;
    if (!claim.whole && (claim.kind === 'email' || claim.kind === 'iban')) return true;
    return delegation() === 2 || (delegation() === 1 && !DESTINATIONS.includes(claim.kind));
  };
  session.grants.push((call, claim) => {
    if (claim.kind === 'effect') {
      if (!params.effects || delegation() < 2) return false;
      return vouched.some((v) => v.depth === 0 && v.segments.some((s) => s.strength === 1 && Array.from(requestedClasses(s.text)).some((c) => claim.classes.has(c))));
    }
    return vouched.some((v) => segmentsWith(v, claim.value, claim.kind).some((s) => trusted(s, claim, v.depth)));
  });
  return {
    onPostToolCall(call) {
      const seen = session.observations[session.observations.length - 1];
      let segments = seen.segments.filter((s) => s.named && s.strength < 2);
      let depth = 0;
      if (segments.length === 0) {
        const from = vouched.filter((v) => v.depth < params.depth);
        const leads = (v) => session.claims(call.arguments).some((c) => (c.kind !== 'text' || c.value.length >= 4) && segmentsWith(v, c.value, c.kind).some((s) => trusted(s, c, v.depth)));
        const led = from.filter(leads);
        if (led.length === 0) return keep();
        depth = Math.min(...led.map((v) => v.depth)) + 1;
        segments = seen.segments.filter((s) => s.strength < 2);
      }
      if (segments.length > 0) vouched.push({ segments, depth });
      return keep();
    },
  };
}
