/* mechanism
summary = "Hides tools that the request cannot need: effects of kinds it never asks for, before the run starts."
litmus = "Yes: the choice is made from request and tool descriptions alone, before any untrusted text is seen."
channels = ["indirect"]
acts = "block"
[params.keep_unclear]
type = "bool"
default = true
[params.delegating]
type = "bool"
default = true
[params.ask]
type = "bool"
default = false
*/
// `delegating`: hide nothing where the user tells the assistant to go by what a source says, since
// nobody knows yet what that will need. `ask`: let the model choose, shown the request and the tools; without
// a model the verbs of the request choose, as they do when it is off.
function mechanism(params, session) {
  const asked = (ctx) => {
    try {
      const offered = ctx.tools.map((t) => `${t.name}: ${String(t.description).split('\n')[0].slice(0, 160)}`).join('\n').slice(0, 12000);
      const listed = answerJson(classify(`Which of these tools are needed to do what the text asks? Answer with a JSON list of their names.\n${offered}`, ctx.instruction.slice(0, 6000)));
      const names = Array.isArray(listed) ? listed.filter((name) => session.tools.has(name)) : [];
      return names.length > 0 ? new Set(names) : undefined;
    } catch (e) {
      return undefined;
    }
  };
  return {
    begin(ctx) {
      if (!ctx.instruction) return [];
      if (params.delegating && /\b(?:follow|do|perform|execute|complete|carry out)\b[^.!?]{0,60}\b(?:instructions?|actions?|tasks?|to-?dos?|steps|everything)\b/i.test(ctx.instruction)) return [];
      const chosen = params.ask ? asked(ctx) : undefined;
      if (chosen !== undefined) return Array.from(session.tools.keys()).filter((name) => !chosen.has(name));
      return Array.from(session.tools.keys()).filter((name) => {
        const { read, classes } = session.tools.get(name).effect;
        if (read || (classes.size === 0 && params.keep_unclear)) return false;
        return !Array.from(classes).some((c) => session.requestClasses.has(c));
      });
    },
  };
}
