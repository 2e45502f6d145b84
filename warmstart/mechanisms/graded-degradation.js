/* mechanism
summary = "Takes privileges away step by step as a run shows signs of an attack, and gives them back after quiet steps: first values need firm ground, then only the user's values count, then nothing is changed any more."
litmus = "Yes: it reacts to orders in tool output and to refusals by any other check, and what it then asks of a call is where its values come from."
channels = ["indirect", "direct"]
acts = "block"
[params.first]
type = "int"
summary = "Signs from which effects need values of the user or of records."
default = 1
min = 1
max = 10
[params.second]
type = "int"
summary = "Signs from which effects need values of the user only."
default = 4
min = 1
max = 20
[params.third]
type = "int"
summary = "Signs from which there are no effects."
default = 8
min = 1
max = 40
[params.recover]
type = "int"
summary = "Allowed calls in a row that take one sign away; 0 = never."
default = 6
min = 0
max = 40
*/
// A result with an order is one sign, however long; a refusal is one. An effect all of whose guiding values are
// the user's passes the first two levels in any case.
function mechanism(params, session) {
  let signs = 0;
  let quiet = 0;
  return {
    onPreToolCall(call) {
      if (session.effectOf(call).read || signs < params.first) return allow();
      if (signs >= params.third) return block('Too many signs of an attack in this run: nothing is changed any more. Tell the user what is done and what is open.');
      for (const c of session.claims(call.arguments)) {
        const role = argumentRole(c);
        if (role === 'date' || role === 'content' || session.userSaid(c.value, c.kind) || session.granted(call, c)) continue;
        const seen = session.evidence(c.value, c.kind);
        if (role === 'recipient' ? seen.exact > 0 && seen.meta === 0 : seen.meta === 0 || seen.exact > 0) {
          if (signs < params.second) continue;
        }
        return block(`After signs of an attack in this run "${c.value}" (${c.path}) needs firmer ground: ${signs < params.second ? 'the user or a record' : 'the user'} must give it.`);
      }
      return allow();
    },
    onDecision(call, decision) {
      quiet = decision.do === 'block' ? 0 : quiet + 1;
      if (decision.do === 'block') signs++;
      else if (params.recover > 0 && quiet >= params.recover && signs > 0) { signs--; quiet = 0; }
    },
    onPostToolCall() {
      if (session.observations[session.observations.length - 1].directive) signs++;
      return keep();
    },
  };
}
