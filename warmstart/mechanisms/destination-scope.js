/* mechanism
summary = "Recipients, addresses and accounts of an effect must come from the user, from a vouched source, or from a field of their own in tool output, never out of running text."
litmus = "Yes: it asks where a destination came from, not which one it is or how the text around it reads."
channels = ["indirect"]
acts = "block"
[params.fields]
type = "bool"
default = true
[params.text]
type = "choice"
values = ["never", "plain", "undirected"]
default = "never"
[params.fetch]
type = "bool"
default = true
[params.content]
type = "bool"
default = false
*/
// `fields`: a value that is a whole field of a result (a contact, a sender) is trusted.
// `text`: whether sentences may supply a destination; `plain` = those that tell nobody to act,
// `undirected` = those not addressed to the assistant. `fetch`: also addresses that reads go to.
// `content`: also addresses inside bodies and messages.
function mechanism(params, session) {
  const keyed = (key) => /recipient|participant|(?:^|_)(?:to|cc|bcc|user|users|url|uri|link|host|endpoint|account|iban|payee|email|emails|address|phone|webhook|destination|target|beneficiary|invitee|member)(?:$|_)/i.test(key);
  const isDestination = (claim) => (['email', 'url', 'iban'].includes(claim.kind) && (claim.whole || params.content)) || (claim.kind === 'text' && keyed(claim.key)) || (claim.kind === 'id' && keyed(claim.key));
  return {
    onPreToolCall(call) {
      const { read } = session.effectOf(call);
      if (read && !params.fetch) return allow();
      for (const claim of session.claims(call.arguments)) {
        if (read ? claim.kind !== 'url' : !isDestination(claim)) continue;
        if (session.userSaid(claim.value, claim.kind) || session.granted(call, claim)) continue;
        const seen = session.evidence(claim.value, claim.kind);
        if (params.fields && seen.exact > 0) continue;
        if (params.text === 'plain' && seen.data > 0) continue;
        if (params.text === 'undirected' && seen.data + seen.plain > 0) continue;
        return block(`The destination "${claim.value}" was not given by the user and is not a contact or field that a tool returned. Ask the user, or use a destination the user named.`);
      }
      return allow();
    },
  };
}
