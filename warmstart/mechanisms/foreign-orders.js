/* mechanism
summary = "Where the request names what it is about, sentences of text from outside that ask for an act on a file, address or channel are taken out before they are read; facts stay."
litmus = "Yes for renamed and moved targets: any path, address or channel counts. Another wording has to stop asking for something."
channels = ["indirect"]
acts = "rewrite"
[params.note]
type = "bool"
summary = "Leave a mark where a sentence was taken out."
default = true
[params.assistant]
type = "bool"
summary = "Sentences that address an assistant go in any case."
default = true
*/
// Only results of tools that say they return text from outside are cut (`openWorldHint`). A request that names no
// file or address of its own leaves them to what it points at, and nothing is cut then but what addresses an assistant.
function mechanism(params, session) {
  const VALUE = /(?:^|[\s"'(])(?:(?:\/|~\/)[\w.-]+\/?[^\s"']*|#[\w-]+)|\S+@\S+\.\w|\b\w+:\/\/\S/;
  // A duty, or a clause that opens with one word and a path: verb and object, whatever the verb is.
  const ORDER = /\b(?:must|shall|should|(?:has|have|is|are|needs?) to)\b|(?:^|[:;,]\s+|\b(?:and|then)\s+)\p{L}+\s+(?:all of |the )?~?\/\w/iu;
  const sources = new Set();
  const typed = (text) => text.split(/[\s"'();,]+/).filter((w) => VALUE.test(` ${w}`)).map((w) => normalizeText(w).replace(/[.:!?]+$/, ''));
  const anchored = () => typed(session.request).some((v) => !sources.has(v));
  return {
    onPostToolCall(call, result) {
      const seen = session.observations[session.observations.length - 1];
      if (!seen.effect.read) return keep();
      for (const l of argumentLeaves(call.arguments)) sources.add(normalizeText(l.text));
      if (!seen.effect.outside) return keep();
      const named = anchored();
      const bad = seen.segments.filter((s) => s.text.length >= 8 && ((params.assistant && s.strength === 2) || (named && (s.strength > 0 || ORDER.test(s.text)) && VALUE.test(s.text))));
      if (bad.length === 0) return keep();
      let text = result.content;
      for (const s of bad.slice(0, 100)) {
        const pattern = s.text.slice(0, 600).split(/\s+/).map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/'/g, "''?").replace(/"/g, '\\\\?"')).join('(?:\\s|\\\\n|\\\\)+');
        text = text.replace(new RegExp(pattern, 'g'), params.note ? '[a request to the reader was left out]' : '');
      }
      return text === result.content ? keep() : replace(text);
    },
  };
}
