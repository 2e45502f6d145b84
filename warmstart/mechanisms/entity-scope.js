/* mechanism
summary = "Keeps a run to the caller's own entities: accounts, lines, orders and tickets that the request names, or that records tie to those it names."
litmus = "Yes: it compares whose entity a call concerns with who is asking, by ties between records; which entity an attack picks does not matter."
channels = ["direct", "indirect"]
acts = "block"
[params.ties]
type = "choice"
summary = "What ties an entity to the caller: the request alone, a record that also holds an entity of the caller, or any record that was read with one."
values = ["request", "record", "result"]
default = "result"
[params.reads]
type = "bool"
summary = "Reads about other entities are refused too."
default = false
[params.unknown]
type = "choice"
summary = "What to do before any entity of the caller is known."
values = ["allow", "block"]
default = "allow"
*/
// An entity is an argument whose name says so (account, customer, caller, line, order, ticket, ... with
// or without id or number) and whose value has a digit. Destinations of payments and messages are not
// entities of the caller: other mechanisms judge those. Ties are collected from calls that were executed.
function mechanism(params, session) {
  const ENTITY = /(?:^|_)(?:account|customer|caller|client|subscriber|member|patient|policy|line|msisdn|phone|order|ticket|contract|subscription|profile|portfolio|case)(?:_?(?:id|no|number))?$/i;
  const OTHER = /(?:^|_)(?:to|target|recipient|payee|destination|beneficiary|counterparty)(?:_|$)/i;
  const own = new Set();
  const snake = (key) => String(key).replace(/([a-z])([A-Z])/g, '$1_$2');
  const isEntity = (key, text) => ENTITY.test(snake(key)) && !OTHER.test(snake(key)) && /\d/.test(text) && text.length <= 60;
  const entities = (call) => argumentLeaves(call.arguments).filter((l) => isEntity(l.key, l.text)).map((l) => ({ path: l.path, value: normalizeText(l.text) }));
  const mine = (value) => session.userSaid(value) || own.has(value);
  // A code in the request: letters and digits, or many digits.
  const known = () => own.size > 0 || foldText(session.request).split(/[\s,;()"'!?]+/).map((t) => t.replace(/[.:]+$/, '')).some((t) => t.length >= 4 && (/\d{5}/.test(t) || (/\d/.test(t) && /^[A-Za-z]+-?\w*$/.test(t))));
  return {
    onPreToolCall(call) {
      if (session.effectOf(call).read && !params.reads) return allow();
      const stranger = entities(call).find((e) => !mine(e.value) && !session.granted(call, { kind: 'id', value: e.value, whole: true, key: '', path: e.path }));
      if (stranger === undefined || (!known() && params.unknown === 'allow')) return allow();
      return block(`"${stranger.value}" (${stranger.path}) is not tied to the person who is asking. Act only on what belongs to them; look up their own record first.`);
    },
    onPostToolCall(call, result) {
      if (result.isError || params.ties === 'request') return keep();
      const seen = session.observations[session.observations.length - 1];
      const asked = entities(call);
      const about = asked.length > 0 && asked.every((e) => mine(e.value));
      const plain = seen.leaves.filter((l) => isEntity(l.key, l.text));
      for (const l of plain) {
        const value = normalizeText(l.text);
        const tied = seen.leaves.some((o) => o !== l && o.record === l.record && o.text.length >= 4 && mine(normalizeText(o.text)) && (/\d|@/.test(o.text) || session.mentions(o.text)));
        if (tied || (params.ties === 'result' && about) || (!seen.effect.read && about)) own.add(value);
      }
      return keep();
    },
  };
}
