/* mechanism
summary = "Takes sentences that give orders out of tool output before the victim reads it, and says that it did."
litmus = "Yes: it goes by the grammar of orders; another name or place inside them changes nothing."
channels = ["indirect"]
acts = "rewrite"
[params.strength]
type = "choice"
values = ["assistant", "any"]
default = "assistant"
[params.note]
type = "bool"
default = true
*/
// Works on the text as delivered, so the structure of the output stays. Results of effects are
// left alone. `note`: leave a mark where something was taken out.
function mechanism(params, session) {
  const least = params.strength === 'any' ? 1 : 2;
  return {
    onPostToolCall(call, result) {
      const seen = session.observations[session.observations.length - 1];
      if (!seen.effect.read) return keep();
      const bad = seen.segments.filter((s) => s.strength >= least && s.text.length >= 8);
      if (bad.length === 0) return keep();
      let text = result.content;
      for (const s of bad.slice(0, 200)) {
        const pattern = s.text.slice(0, 600).split(/\s+/).map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/'/g, "''?").replace(/"/g, '\\\\?"')).join('(?:\\s|\\\\n|\\\\)+');
        text = text.replace(new RegExp(pattern, 'g'), params.note ? '[instruction removed]' : '');
      }
      return text === result.content ? keep() : replace(text);
    },
  };
}
