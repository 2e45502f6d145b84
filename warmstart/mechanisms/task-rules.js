/* mechanism
summary = "Derives access rules from the request before the first call (kinds of effect, hosts, paths, commands) and checks every call against them and against a few standing rules."
litmus = "Yes: a host, path or command is judged by whether the task gives access to it; standing rules name classes of danger (credential stores, piping into a shell), not places of an attack."
channels = ["indirect", "direct"]
acts = "block"
[params.kinds]
type = "bool"
summary = "Effects must be of a kind that the request asks for."
default = true
[params.hosts]
type = "choice"
summary = "Hosts that calls may reach: any, those no passage that orders the assistant gave, or those the user or a record named."
values = ["any", "undirected", "named"]
default = "undirected"
[params.recipients]
type = "bool"
summary = "The same rule for addresses and accounts of effects."
default = true
[params.paths]
type = "bool"
summary = "Credential stores and system folders are closed unless the user names them; effects stay clear of paths that only orders gave."
default = true
[params.commands]
type = "bool"
summary = "Commands that destroy, open up or send out need the user's word for it."
default = true
*/
// The rules a model would phrase come from the request's verbs and values; published, a person confirms them
// and is asked at each violation. Here nobody can be asked, so a violation is a refusal that says what to change.
function mechanism(params, session) {
  const CLOSED = /(?:^|[/\\~])\.(?:ssh|aws|gnupg|kube|docker|netrc|npmrc|pypirc|env|git-credentials)(?:$|[/\\.\s"'])|(?:^|[\s"'=])\/(?:etc|root|boot|proc|sys)\/|(?:^|[/\\])id_(?:rsa|ed25519|ecdsa)\b|\bshadow\b|\.(?:pem|pfx|keystore)\b/i;
  const DESTROYS = /\brm\s+(?:-\w*[rf]\w*\s+)+|\bmkfs\b|\bdd\s+if=|\bchmod\s+(?:-R\s+)?[0-7]*7[0-7]7\b|\bformat\s+[a-z]:|:\(\)\s*\{|\bdrop\s+(?:table|database)\b|\btruncate\s+table\b|>\s*\/dev\/sd/i;
  const SENDS = /\b(?:curl|wget)\b[^|;&]{0,300}\s(?:-d|--data\S*|-F|--form|-T|--upload-file|--post-\S+)\b|\b(?:nc|netcat|scp|rsync|ftp)\b\s+\S|\bcrontab\b|\bauthorized_keys\b/i;
  const ordered = (c) => {
    const seen = session.evidence(c.value, c.kind);
    return seen.meta > 0;
  };
  const recorded = (c) => {
    const seen = session.evidence(c.value, c.kind);
    return seen.meta === 0 && seen.data + seen.plain > 0;
  };
  return {
    onPreToolCall(call) {
      const { read, classes, sensitive } = session.effectOf(call);
      if (!read && params.kinds && !session.granted(call, { kind: 'effect', value: '', classes })) {
        const open = classes.size === 0 || Array.from(classes).some((c) => session.requestClasses.has(c));
        const allowed = sensitive.length === 0 || sensitive.some((w) => session.userSaid(w));
        if (!open || !allowed) return block(`The rules for this task give no access to actions of this kind (${Array.from(classes).join(', ') || sensitive[0]}). Allowed: ${Array.from(session.requestClasses).join(', ') || 'reading'}.`);
      }
      for (const leaf of argumentLeaves(call.arguments)) {
        if (typeof leaf.raw !== 'string') continue;
        const text = foldText(leaf.text).slice(0, 20000);
        const said = () => session.userSaid(leaf.text) || session.requestNorm.includes(normalizeText(leaf.text).slice(0, 200));
        if (params.paths && text.length < 2000 && CLOSED.test(text) && !said()) return block(`${leaf.path} reaches into a store of credentials or the system, which the task does not name. Work with the user's own files.`);
        if (params.commands && (DESTROYS.test(text) || SENDS.test(text)) && !said()) return block(`${leaf.path} holds a command that destroys data, opens access or sends data out, and the user did not ask for it. Use a narrower command.`);
      }
      for (const c of session.claims(call.arguments)) {
        const target = c.kind === 'url' || (!read && params.recipients && (c.kind === 'email' || c.kind === 'iban' || argumentRole(c) === 'recipient'));
        const path = !read && params.paths && (c.kind === 'path' || c.kind === 'file') && c.whole;
        if (!(target && params.hosts !== 'any') && !path) continue;
        if (session.userSaid(c.value, c.kind) || session.granted(call, c) || (c.kind === 'url' && containsToken(session.requestNorm, hostOf(c.value)))) continue;
        if (!path && params.hosts === 'named' && !recorded(c)) return block(`The rules for this task give no access to "${c.value}": neither the user nor a record named it. Use one they named.`);
        if (ordered(c)) return block(`"${c.value}" was put into this task by a text that gives orders; the rules made from the request give no access to it. Use what the user named.`);
      }
      return allow();
    },
  };
}
