/* mechanism
summary = "Leaves out of the final answer what instructions in tool output wanted said: sentences that repeat wording or addresses found nowhere else."
litmus = "Yes: it compares the answer with the passages that urge something, whatever they promote and wherever they stood."
channels = ["indirect"]
acts = "block"
[params.words]
type = "int"
default = 4
min = 1
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
// `words`: how many content words in a row must agree to count as repeated. `strength`: which
// passages are looked at, those to an assistant or also requests to any reader outside sources
// that the user named. What the user said, or what tool output also says plainly, may be repeated.
function mechanism(params, session) {
  const least = params.strength === 'any' ? 1 : 2;
  const SMALL = new Set('the a an and or of to in on for from with by at is are was be it its this that you your i me my as if so not do will can'.split(' '));
  const traces = (text) => {
    const w = words(text).filter((x) => !SMALL.has(x));
    const out = extractValues(text).map((v) => v.value);
    for (let i = 0; i + params.words <= w.length; i++) out.push(w.slice(i, i + params.words).join(' '));
    return out;
  };
  const directed = (s) => s.strength >= least && !(s.strength === 1 && s.named) && (s.strength === 1 || s.urges);
  return {
    onFinalAnswer(text) {
      const urged = new Set();
      for (const o of session.observations) for (const s of o.segments) if (directed(s)) traces(s.text).forEach((t) => urged.add(t));
      const mine = new Set(traces(text).filter((t) => urged.has(t)));
      if (mine.size > 0) traces(session.request).forEach((t) => mine.delete(t));
      if (mine.size > 0) for (const o of session.observations) for (const s of o.segments) if (s.strength < least || (s.strength === 1 && s.named)) traces(s.text).forEach((t) => mine.delete(t));
      if (mine.size === 0) return keep();
      if (params.act === 'withhold') return block('The answer repeats instructions that stood in a tool result. Ask again, or look at the sources yourself.');
      const repeats = (part) => traces(part).some((t) => mine.has(t));
      const lines = text.split('\n').map((line) => (repeats(line) ? sentences(line).filter((s) => !repeats(s)).join(' ') : line));
      return replace(`${lines.join('\n').trim()}\n\n(Left out: wording that instructions inside a tool result asked for.)`);
    },
  };
}
