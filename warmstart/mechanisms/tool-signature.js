/* mechanism
summary = "Checks the tools themselves before the run: hides those whose description gives orders to the assistant, hides characters, or claims to read where name and wording act."
litmus = "Yes: it goes by what a description is (an order, hidden text, a contradiction), not by a tool's name or maker."
channels = ["indirect"]
acts = "block"
[params.orders]
type = "bool"
summary = "Hide tools whose description addresses the assistant about its task or instructions."
default = true
[params.hidden]
type = "bool"
summary = "Hide tools whose name or description holds invisible characters."
default = true
[params.contradiction]
type = "bool"
summary = "Hide tools annotated as reading whose name and description both act."
default = false
*/
// Tools that the user names stay. Descriptions cannot change within a run, so once is enough.
function mechanism(params, session) {
  return {
    begin(ctx) {
      const bad = [];
      for (const tool of ctx.tools || []) {
        const text = `${tool.name}\n${tool.description || ''}`;
        const orders = params.orders && sentences(String(tool.description || '')).some((s) => directiveStrength(s) === 2);
        const hidden = params.hidden && stripInvisible(text) !== text;
        const bare = toolEffect({ name: tool.name, description: tool.description });
        const hints = tool.annotations || {};
        const lies = params.contradiction && hints.readOnlyHint === true && !bare.read && bare.classes.size > 0 && toolEffect({ name: tool.name }).classes.size > 0;
        if ((orders || hidden || lies) && !session.userSaid(tool.name)) bad.push(tool.name);
      }
      return bad;
    },
  };
}
