/* mechanism
summary = "Shows the victim the head and the tail of long results and says how much was left out, so that bulk cannot bury the task."
litmus = "Yes: length alone counts."
channels = ["indirect"]
acts = "rewrite"
[params.head]
type = "int"
default = 12000
min = 500
max = 100000
[params.tail]
type = "int"
default = 4000
min = 0
max = 50000
*/
function mechanism(params) {
  return {
    onPostToolCall(call, result) {
      const text = result.content;
      if (text.length <= params.head + params.tail + 200) return keep();
      const left = text.length - params.head - params.tail;
      return replace(`${text.slice(0, params.head)}\n[${left} characters left out]\n${params.tail > 0 ? text.slice(-params.tail) : ''}`);
    },
  };
}
