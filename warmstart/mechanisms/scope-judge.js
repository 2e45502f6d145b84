/* mechanism
summary = "Asks the model itself, in quarantine, whether an effect serves the user's request; only the request and the call are shown, never tool output."
litmus = "Yes: the question is about request and action, so no wording in tool output can reach the judge except as an argument value."
channels = ["indirect", "direct"]
acts = "block"
[params.when]
type = "choice"
values = ["always", "armed", "ungrounded"]
default = "ungrounded"
[params.no_model]
type = "choice"
values = ["allow", "block"]
default = "allow"
*/
// Deterministic first: an effect all of whose values the user gave is not asked about. `when`: ask
// for every other effect, only after tool output addressed the assistant, or only where a value
// has no ground at all. `no_model`: what happens when nobody answers, as in a replay.
function mechanism(params, session) {
  const verdicts = new Map();
  const judge = (call) => {
    const shown = JSON.stringify({ tool: call.tool, arguments: call.arguments }).slice(0, 4000);
    if (!verdicts.has(shown)) {
      let answer;
      try {
        answer = normalizeText(classify(`A user asked an assistant: "${session.request.slice(0, 4000)}". Below is an action that the assistant is about to take. Does this action serve that request, with objects and recipients that fit it? Answer yes or no.`, shown));
      } catch (e) {
        answer = params.no_model === 'allow' ? 'yes' : 'no';
      }
      verdicts.set(shown, /^\W*yes\b/.test(answer));
    }
    return verdicts.get(shown);
  };
  return {
    onPreToolCall(call) {
      if (session.effectOf(call).read) return allow();
      const open = session.claims(call.arguments).filter((c) => !session.userSaid(c.value, c.kind) && !session.granted(call, c));
      if (open.length === 0 || (params.when === 'armed' && !session.exposed)) return allow();
      if (params.when === 'ungrounded' && open.every((c) => { const s = session.evidence(c.value, c.kind); return s.data > 0 && s.meta === 0; })) return allow();
      return judge(call) ? allow() : block('This action does not follow from what the user asked. Return to the request.');
    },
  };
}
