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
*/
// `delegating`: hide nothing where the user tells the assistant to go by what a source says, since
// nobody knows yet what that will need.
function mechanism(params, session) {
  return {
    begin(ctx) {
      if (!ctx.instruction) return [];
      if (params.delegating && /\b(?:follow|do|perform|execute|complete|carry out)\b[^.!?]{0,60}\b(?:instructions?|actions?|tasks?|to-?dos?|steps|everything)\b/i.test(ctx.instruction)) return [];
      return Array.from(session.tools.keys()).filter((name) => {
        const { read, classes } = session.tools.get(name).effect;
        if (read || (classes.size === 0 && params.keep_unclear)) return false;
        return !Array.from(classes).some((c) => session.requestClasses.has(c));
      });
    },
  };
}
