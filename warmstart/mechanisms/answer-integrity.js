/* mechanism
summary = "Leaves out of the final answer what instructions in tool output wanted said: sentences that repeat wording or addresses found nowhere else."
litmus = "Yes: it compares the answer with the passages that urge something, whatever they promote and wherever they stood."
channels = ["indirect"]
acts = "block"
[params.words]
type = "int"
default = 4
min = 2
max = 8
[params.strength]
type = "choice"
values = ["assistant", "any"]
default = "assistant"
[params.act]
type = "choice"
values = ["cut", "withhold"]
default = "cut"
*/
// `words`: how long a run of words must be to count as repeated. `strength`: which passages
// are looked at, those to an assistant or those to any reader. What the user said, or what
// tool output also says plainly, may be repeated.
function mechanism(params, session) {
  const least = params.strength === 'any' ? 1 : 2;
  const runs = (w) => {
    const out = [];
    for (let i = 0; i + params.words <= w.length; i++) out.push(w.slice(i, i + params.words).join(' '));
    return out;
  };
  return {
    onFinalAnswer(text) {
      const urged = new Set();
      const free = new Set();
      for (const o of session.observations) {
        for (const s of o.segments) {
          if (s.strength < least) runs(words(s.norm)).forEach((r) => free.add(r));
          else {
            runs(words(s.norm)).forEach((r) => urged.add(r));
            extractValues(s.text).forEach((v) => urged.add(v.value));
          }
        }
      }
      runs(words(session.request)).forEach((r) => free.add(r));
      const repeats = (part) => runs(words(part)).some((r) => urged.has(r) && !free.has(r))
        || extractValues(part).some((v) => urged.has(v.value) && !session.userSaid(v.value, v.kind) && session.evidence(v.value, v.kind).data === 0);
      if (urged.size === 0 || !repeats(text)) return keep();
      if (params.act === 'withhold') return block('The answer repeats instructions that stood in a tool result. Ask again, or look at the sources yourself.');
      const lines = text.split('\n').map((line) => (repeats(line) ? sentences(line).filter((s) => !repeats(s)).join(' ') : line));
      return replace(`${lines.join('\n').trim()}\n\n(Left out: wording that instructions inside a tool result asked for.)`);
    },
  };
}
