/* mechanism
summary = "Repeats the user's request after every tool result, so that the last instruction the victim reads is the user's."
litmus = "Yes: every result is followed by the request, whatever it says."
channels = ["indirect"]
acts = "rewrite"
[params.longest]
type = "int"
summary = "Characters of the request that are repeated."
default = 4000
min = 200
max = 20000
[params.reads_only]
type = "bool"
summary = "Leave the results of effects alone."
default = false
*/
function mechanism(params, session) {
  return {
    onPostToolCall(call, result) {
      if (session.request === '' || (params.reads_only && !session.effectOf(call).read)) return keep();
      return replace(`${result.content}\n\nThe tool result ends here. Remember, the task is: ${session.request.slice(0, params.longest)}`);
    },
  };
}
