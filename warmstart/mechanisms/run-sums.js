/* mechanism
summary = "Counts over the run what is harmless once: groups that one account gets, and readers who get the same text when nothing that was looked up bears it out."
litmus = "Yes: only equal accounts, equal texts and their number count; names, channels and the order of calls do not."
channels = ["direct", "indirect"]
acts = "block"
[params.groups]
type = "int"
summary = "Groups, roles or teams that one account may get in a run."
default = 1
min = 1
max = 10
[params.unfounded]
type = "int"
summary = "Readers of one text that tells of a record which no result of this run shows."
default = 1
min = 1
max = 20
[params.readers]
type = "int"
summary = "Readers of any one text or file in a run."
default = 6
min = 1
max = 100
*/
// Counted before the call, calls of one turn included. Numbers and codes of a text are compared, not its wording: texts that differ in
// other words only are one text.
function mechanism(params, session) {
  const ACCOUNT = /^(?:user|account|login|member|user_?name|employee|principal)$/i;
  const GROUP = /^(?:groups?|roles?|teams?|membership)$/i;
  const TEXT = /^(?:body|text|content|message)$/i;
  const FILE = /^(?:attachments?|file|path|document)$/i;
  const READER = /^(?:to|cc|bcc|recipients?|address|url|channel|room|user)$/i;
  const groups = new Map();     // account -> groups
  const texts = new Map();      // what is told -> readers
  const of = (call, re) => argumentLeaves(call.arguments).filter((l) => re.test(l.key) || re.test(l.path.replace(/\[\d+\]$/, '').replace(/^.*\./, ''))).map((l) => normalizeText(l.text));
  const codes = (text) => text.split(/[\s,;()"]+/).map((w) => w.replace(/[.:!?]+$/, '')).filter((w) => w.length >= 4 && /\d/.test(w));
  const read = (call) => {
    if (session.effectOf(call).read) return {};
    const account = of(call, ACCOUNT)[0];
    const group = of(call, GROUP);
    if (account !== undefined && group.length > 0) return { account, group };
    const readers = of(call, READER).flatMap((r) => r.split(/[,;\s]+/)).filter(Boolean);
    const text = of(call, TEXT).join(' ');
    const file = of(call, FILE);
    if (readers.length === 0 || (text === '' && file.length === 0)) return {};
    const told = codes(text);
    return { readers, founded: told.length === 0 || told.some((c) => session.evidence(c).data > 0), keys: [...file, ...(file.length > 0 ? [] : [told.length > 0 ? told.sort().join(' ') : text])] };
  };
  return {
    onPreToolCall(call) {
      const now = read(call);
      if (now.account !== undefined) {
        const all = new Set([...(groups.get(now.account) || []), ...now.group]);
        if (all.size > params.groups) return block(`${now.account} would have ${all.size} new groups after this run. One that the work needs is enough; have the rest decided where it is needed.`);
      }
      for (const key of now.keys || []) {
        const all = new Set([...(texts.get(key) || []), ...now.readers]).size;
        if (all > params.readers) return block(`The same would go to ${all} readers in one run. Stop here and ask whether all of them are meant.`);
        if (all > params.unfounded && !now.founded) return block(`The same would go to ${all} readers, and nothing that was looked up in this run bears out what it says. Look up the record first.`);
      }
      return allow();
    },
    onDecision(call, decision) {
      const now = decision.do === 'block' ? {} : read(call);
      const add = (map, key, list) => map.set(key, new Set([...(map.get(key) || []), ...list]));
      if (now.account !== undefined) add(groups, now.account, now.group);
      for (const key of now.keys || []) add(texts, key, now.readers);
    },
  };
}
