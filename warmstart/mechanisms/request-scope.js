/* mechanism
summary = "Blocks effects of a kind that the user's request never asks for, such as deleting where only reading was requested."
litmus = "Yes: it compares what a tool does with what the request asks, and never looks at the attacker's text."
channels = ["indirect"]
acts = "block"
[params.unclear]
type = "choice"
values = ["allow", "block"]
default = "allow"
[params.sensitive]
type = "bool"
default = false
[params.armed_only]
type = "bool"
default = false
*/
// The kind of an effect is read from annotations, description and name of its tool (see
// `toolEffect`). `unclear`: what to do with effects of no recognised kind. `armed_only`: judge
// only after tool output has addressed the assistant. `sensitive`: what changes passwords, keys or
// permissions must also be named by the user.
function mechanism(params, session) {
  return {
    onPreToolCall(call) {
      const { read, classes, sensitive } = session.effectOf(call);
      if (read || (params.armed_only && !session.exposed)) return allow();
      if (params.sensitive && sensitive.length > 0 && !sensitive.some((w) => session.userSaid(w))) return block(`This changes ${sensitive[0]} data, which the user's request does not mention. Leave it as it is.`);
      if (classes.size === 0 && params.unclear === 'allow') return allow();
      for (const c of classes) if (session.requestClasses.has(c)) return allow();
      if (session.granted(call, { kind: 'effect', value: '', classes })) return allow();
      return block(`The user did not ask for an action of this kind (${Array.from(classes).join(', ') || 'unclear effect'}). Do only what the user's request calls for.`);
    },
  };
}
