/* mechanism
summary = "Cleans arguments before anything compares them: no invisible characters, no look-alike letters in addresses, no mixed-script hosts."
litmus = "Yes: it concerns how a value is written, not which value it is."
channels = ["indirect", "direct"]
acts = "block"
[params.lookalikes]
type = "choice"
values = ["fold", "block"]
default = "fold"
[params.longest]
type = "int"
default = 20000
min = 500
max = 200000
*/
// Invisible characters go from every text; letters are folded only in addresses, accounts, files
// and ids, so that prose in other scripts stays as it is. `longest`: longest text of an argument.
function mechanism(params) {
  return {
    onPreToolCall(call) {
      let args = call.arguments;
      for (const leaf of argumentLeaves(call.arguments)) {
        if (typeof leaf.raw !== 'string') continue;
        if (leaf.text.length > params.longest) return block(`The argument ${leaf.path} is longer than ${params.longest} characters. Send a shorter text.`);
        let text = stripInvisible(leaf.text);
        const folded = foldText(text).trim();
        if (folded !== text && !/\s/.test(folded) && tokenKind(folded) !== '') {
          if (params.lookalikes === 'block') return block(`"${folded}" is written with letters of another script that look the same. Use the plain spelling.`);
          text = folded;
        }
        if (text !== leaf.text) args = replaceLeaf(args, leaf.path, text);
      }
      return args === call.arguments ? allow() : rewrite(args);
    },
  };
}
