/* mechanism
summary = "Keeps passwords, codes, card and identity numbers that tools returned out of messages and posts, unless the user asked to send that very kind of secret."
litmus = "Yes: secrets are known by their form and label, and it does not matter who wants them or how the wish is put."
channels = ["indirect", "direct"]
acts = "block"
[params.act]
type = "choice"
values = ["block", "redact"]
default = "block"
[params.strict]
type = "bool"
default = false
[params.addresses]
type = "int"
default = 0
min = 0
max = 20
*/
// `strict`: even where the user names the kind of secret, it may only go where the user said.
// `addresses`: more contact addresses and accounts of other people than this in one text are
// treated as a leak too; 0 = not counted.
function mechanism(params, session) {
  const held = new Map();                                   // value -> kind
  return {
    onPostToolCall(call, result) {
      for (const s of extractSecrets(result.content)) if (held.size < 2000) held.set(s.value, s.kind);
      return keep();
    },
    onPreToolCall(call) {
      const effect = session.effectOf(call);
      if (effect.read) return allow();
      const claims = session.claims(call.arguments);
      const placed = claims.filter((c) => c.whole && ['email', 'url', 'iban'].includes(c.kind)).every((c) => session.userSaid(c.value, c.kind));
      let args = call.arguments;
      for (const leaf of argumentLeaves(call.arguments)) {
        const norm = normalizeText(leaf.text);
        let text = leaf.text;
        for (const [value, kind] of held) {
          if (!containsToken(norm, value) || session.userSaid(value)) continue;
          if (containsToken(session.requestNorm, kind.split(/[ _-]/)[0]) && (placed || !params.strict)) continue;
          if (params.act === 'block') return block(`This would send a ${kind} that a tool returned. The user did not ask to pass it on; leave it out.`);
          text = text.split(value).join('[withheld]');
        }
        if (params.addresses > 0 && leaf.text.length > 80) {
          const others = extractValues(leaf.text).filter((v) => (v.kind === 'email' || v.kind === 'iban') && !session.userSaid(v.value, v.kind));
          if (new Set(others.map((v) => v.value)).size > params.addresses) return block('This would send a list of addresses or accounts of other people. Send only what the user asked for.');
        }
        if (text !== leaf.text) args = replaceLeaf(args, leaf.path, text);
      }
      return args === call.arguments ? allow() : rewrite(args);
    },
  };
}
