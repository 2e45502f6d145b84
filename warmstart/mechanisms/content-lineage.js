/* mechanism
summary = "Follows content through copies, archives, new names, typed-out values and command lines, and judges each step that gives it to a reader by the label, owner and group of its origin."
litmus = "Yes: labels and rights of the origin decide, whatever the copy is called, by which tool or command line it moved, and in which order the steps come."
channels = ["direct", "indirect"]
acts = "block"
[params.open]
type = "list"
summary = "Words of labels under which content may be read by everybody, unless the label also says no."
default = ["public", "published", "released", "release", "cleared", "open", "unrestricted"]
[params.working]
type = "list"
summary = "Words of labels under which content may go to a reader whom the user names. Any other label asks for an entitlement."
default = ["internal", "confidential", "draft", "reviewed", "approved", "log", "signed", "final"]
[params.typed]
type = "int"
summary = "So many values of one restricted source an entitled reader may get typed out."
default = 1
min = 0
max = 20
[params.unseen]
type = "choice"
summary = "Where nothing is known of the origin: refused if everybody or a reader the user did not name would get it, or never."
values = ["refuse", "allow"]
default = "refuse"
[params.twice]
type = "bool"
summary = "A second kind of opening for the same file or reader (mode, owner, look, job) is refused in a run."
default = true
[params.folders]
type = "bool"
summary = "An archive of several files that are not all open goes to nobody."
default = true
*/
// Roles follow from the names of arguments, in command lines from the schema of a tool of the program's
// name, and else from the shape of the operands. Origins are only ever added, so an overwritten or moved file keeps the
// stricter past. Rights and memberships that this run changed entitle nobody.
function mechanism(params, session) {
  const ROLE = {
    place: /^(?:destination|dest|target|archive|output|new_?path|to_?path|outfile)$/i,
    file: /^(?:path|file|file_?name|file_?path|source|src|from_?path|old_?path|attachment|document|input)$/i,
    mode: /^(?:mode|permissions?|visibility|access)$/i,
    owner: /^(?:owner|group)$/i,
    reader: /^(?:user|account|login|member|grantee|share_?with|to|cc|bcc|recipients?|address|reader|url|endpoint|host|channel|room)$/i,
    text: /^(?:content|text|body|subject|message|caption|title)$/i,
    command: /^(?:command|cmd|script|command_?line)$/i,
    when: /^(?:schedule|cron|interval|frequency|when|every)$/i,
  };
  const LABEL = /\b(?:label|classification|sensitivity)/i;
  let labelled;
  const speaks = () => (labelled ??= Array.from(session.tools.values()).some((t) => LABEL.test(t.description)));
  const files = new Map();      // path -> {label, owner, group, mode, changed, origins, packed, waiting}
  const folders = new Set();    // their folders
  const accounts = new Map();   // account or address -> groups
  const added = new Set();      // "account group" given in this run
  const joined = new Set();     // these accounts
  const held = new Map();       // squashed value -> {paths, text}
  const opened = [];            // {path, kind, readers, everybody}
  const clean = (path) => {
    const out = [];
    for (const part of String(path).trim().split('/')) if (part === '..') out.pop(); else if (part !== '.' && (part !== '' || out.length === 0)) out.push(part);
    return out.join('/') || '/';
  };
  const isPath = (word) => /^(?:[/~]|\.{1,2}\/)/.test(word) || (/[^/]\/[^/]/.test(word) && !/:\/\//.test(word));
  const at = (path) => {
    const p = clean(path);
    if (!files.has(p)) {
      files.set(p, { origins: new Set(), packed: 0, waiting: '' });
      for (let i = p.lastIndexOf('/'); i > 0 && !folders.has(p.slice(0, i)); i = p.lastIndexOf('/', i - 1)) folders.add(p.slice(0, i));
    }
    return files.get(p);
  };
  const squash = (text) => normalizeText(text).replace(/[^\p{L}\p{N}]+/gu, '');

  // ---- what a call does: [{kind, ...}]
  const lineParts = (line) => {
    const parts = [];
    let now = { words: [], target: '', fed: [], adds: false };
    let end = -1;
    let into = false;
    for (const m of String(line).matchAll(/'([^']*)'|"([^"]*)"|(>{1,2})|(&&|\|\||[;|&\n])|([^\s'"><;|&]+)/g)) {
      if (m[4] !== undefined) {
        if (now.words.length) parts.push(now);
        now = { words: [], target: '', fed: m[4] === '|' ? [...now.words.filter(isPath), ...now.fed] : [], adds: false };
      } else if (m[3] !== undefined) { into = true; now.adds = m[3] === '>>'; }
      else {
        const word = m[1] ?? m[2] ?? m[5];
        if (into) now.target = word;
        else if (m.index === end && now.words.length) now.words.push(now.words.pop() + word);
        else now.words.push(word);
        into = false;
        end = m.index + m[0].length;
      }
    }
    return now.words.length ? [...parts, now] : parts;
  };
  const worldly = (mode) => /^[0-7]{3,4}$/.test(mode) ? /[1-7]$/.test(mode) : /^(?:[ugo]*[ao][ugoa]*)?[+=][rwxst]+$|\b(?:public|everyone|everybody|world|anyone)\b/i.test(mode);
  const program = (part) => session.tools.get(String(part.words[0]).replace(/^.*\//, ''));
  const ofPart = ({ words: [name, ...rest], target, fed, adds }) => {
    const tool = program({ words: [name] });
    const keys = tool === undefined ? [] : Object.keys(tool.schema().properties || {});
    const takes = (role) => keys.some((k) => ROLE[role].test(k));
    const packs = tool === undefined || takes('place');
    const paths = [];
    const other = [];
    let place = target;
    rest.forEach((word, i) => {
      const long = /^--?\w[\w-]*=(.+)$/.exec(word);
      if (long !== null && isPath(long[1])) { if (packs) place = place || long[1]; else paths.push(long[1]); }
      else if (isPath(word)) { if (packs && /^-\w*[fot]$/.test(rest[i - 1] || '')) place = place || word; else paths.push(word.replace(/\/[^/]*[*?[].*$/, '')); }
      else if (!word.startsWith('-') || /^-[rwx]+$/.test(word)) other.push(word);
    });
    const reads = tool !== undefined && tool.effect.read;
    const mode = !reads && (tool === undefined ? other.find((w) => /^[0-7]{3,4}$|^[ugoa]*[+=-][rwxX]+$/.test(w)) : takes('mode') ? other[0] : undefined);
    if (mode && place === '') return paths.map((path) => ({ kind: 'mode', path, mode }));
    if (!reads && place === '' && paths.length > 1 && (tool === undefined || takes('place'))) place = paths.pop();
    if (place !== '') return [{ kind: 'copy', from: [...paths, ...fed], to: place, text: rest.join(' '), adds }];
    const address = reads ? undefined : rest.find((w) => /\w:\/\//.test(w));
    if (address !== undefined) return [{ kind: 'tell', readers: [address], text: rest.join(' ') }, ...paths.map((path) => ({ kind: 'give', path, readers: [address] }))];
    const reader = !reads && other.length > 0 && (tool === undefined ? paths.length === 1 && /^[a-z_][\w.-]*(?::[\w.-]+)?$/i.test(other[0]) : takes('reader') || takes('owner'));
    return reader ? paths.map((path) => ({ kind: 'give', path, readers: other[0].split(':').filter(Boolean), lasts: true })) : [];
  };
  const actions = (call) => {
    const effect = session.effectOf(call);
    if (effect.read) return effect.outside ? argumentLeaves(call.arguments).filter((l) => /^\w+:\/\//.test(l.text)).map((l) => ({ kind: 'tell', readers: [l.text], text: l.text })) : [];
    const role = (name) => argumentLeaves(call.arguments).filter((l) => ROLE[name].test(l.key)).map((l) => l.text);
    const [from, to, mode, owners, text] = [role('file'), role('place'), role('mode'), role('owner'), role('text').join('\n')];
    const readers = [...role('reader'), ...(from.length > 0 ? owners : [])];
    const commands = role('command');
    if (commands.length > 0) {
      const inner = commands.flatMap((c) => lineParts(c).flatMap(ofPart));
      if (role('when').length === 0) return inner;
      const strange = commands.flatMap(lineParts).filter((p) => program(p) === undefined);
      return [{ kind: 'job', inner, paths: strange.flatMap((p) => [...p.words, p.target]).filter(isPath) }];
    }
    if (from.length > 0 && to.length > 0) return [{ kind: 'copy', from, to: to[0], text: '' }];
    if (from.length > 0 && mode.length > 0) return from.map((path) => ({ kind: 'mode', path, mode: mode[0] }));
    if (readers.length > 0 && (from.length > 0 || text !== '')) return from.length === 0 ? [{ kind: 'tell', readers, text }] : [...from.map((path) => ({ kind: 'give', path, readers, lasts: owners.length > 0 })), { kind: 'tell', readers, text }];
    if (from.length > 0 && text !== '') return [{ kind: 'copy', from: [], to: from[0], text, adds: !effect.destructive }];
    return [];
  };

  // ---- what is known
  /** Paths that a path holds content of, itself included. */
  const lineage = (path, seen = new Set()) => {
    const p = clean(path);
    if (seen.has(p)) return seen;
    seen.add(p);
    for (const o of files.has(p) ? files.get(p).origins : []) lineage(o, seen);
    if (folders.has(p)) for (const [other] of files) if (other.startsWith(`${p}/`)) lineage(other, seen);
    return seen;
  };
  const tier = (label) => {
    const w = words(label);
    if (w.some((x) => ['no', 'not', 'non', 'without', 'pending', 'refused', 'withheld'].includes(x))) return 2;
    return w.some((x) => params.open.includes(x)) ? 0 : w.some((x) => params.working.includes(x)) ? 1 : 2;
  };
  const entitled = (reader, path) => {
    const f = files.get(path) || {};
    const groups = accounts.get(normalizeText(reader));
    if (f.changed) return false;
    if (groups === undefined) return f.owner !== undefined && normalizeText(reader) === f.owner;
    return groups.id === f.owner || (f.group !== undefined && /^\d?\d[4-7]\d$/.test(f.mode || '') && groups.in.has(f.group) && !added.has(`${groups.id} ${f.group}`));
  };
  /** Why content of these paths may not go to these readers ('' where it may); `everybody`: nobody is named. */
  const objection = (paths, readers, everybody, values = 0) => {
    const all = [...new Set(paths.flatMap((p) => [...lineage(p)]))];
    for (const p of all) {
      const f = files.get(p) || {};
      if (f.label === undefined || f.label === '') continue;
      const t = tier(f.label);
      if (t === 0 || (t === 1 && !everybody)) continue;
      if (t === 2 && !everybody && values <= params.typed && readers.length > 0 && readers.every((r) => entitled(r, p))) continue;
      return `holds content of ${p}, which is labelled "${f.label}", and ${everybody ? 'this would open it to everybody' : `nothing that was looked up shows that ${readers.join(', ')} had access to it there`}`;
    }
    return '';
  };
  /** Whether the user named a reader: in full, or by a name that is part of the account or address. */
  const named = (reader) => session.userSaid(reader) || session.mentions(reader) || (session.request.match(/\p{Lu}\p{L}{2,}|\p{L}{4,}/gu) || []).some((w) => normalizeText(reader).replace(/@.*$/, '').includes(normalizeText(w)));
  const unseen = (path) => {
    const all = [...lineage(path)];
    return !all.some((p) => files.has(p) && (files.get(p).label !== undefined || files.get(p).typed));
  };
  const waits = (path, call) => [...lineage(path)].some((p) => files.has(p) && files.get(p).waiting !== '' && files.get(p).label === undefined) || call.lined === true;
  const labels = (path) => [...lineage(path)].map((p) => (files.get(p) || {}).label).filter((x) => x);
  const isOpen = (path) => { const l = labels(path); return l.length > 0 && l.every((x) => tier(x) === 0); };
  const account = (reader) => normalizeText(reader).replace(/@.*$/, '');
  const values = (text, said = false) => {
    const flat = squash(text);
    const out = [];
    if (flat !== '') for (const [value, h] of held) if ((value.length >= 5 ? flat.includes(value) : containsToken(normalizeText(text), normalizeText(h.text))) && (said || !session.userSaid(h.text))) out.push(h);
    return out;
  };

  // ---- checks
  const opening = (path, kind, readers, everybody, step) => {
    const why = objection([path], readers, everybody, Math.max(0, ...[...lineage(path)].map((p) => (files.get(p) || {}).values || 0)));
    if (why !== '') return `${path} ${why}. Leave it where those who have it can read it, or look up (list) who has access and choose such a reader.`;
    const folder = Math.max(0, ...[...lineage(path)].map((p) => (files.get(p) || {}).packed || 0));
    if (params.folders && folder > 1 && labels(path).some((x) => tier(x) > 0)) return `${path} holds ${folder} files of a folder. Give only the one file or figure that is needed.`;
    const same = lineage(path);
    if (params.twice && !isOpen(path)) {
      const before = opened.find((o) => o.kind !== kind && (clean(o.path) === clean(path) || o.readers.some((r) => readers.some((x) => account(x) === account(r)))) && [...lineage(o.path)].some((p) => same.has(p)));
      if (before !== undefined) return `this content was opened in another way already in this run (${before.kind} of ${before.path}). One way is enough; leave the other out.`;
    }
    if (params.unseen === 'refuse' && speaks() && unseen(path)) {
      if (waits(path, step)) return `${path} is a copy that is not made yet, of something whose label nobody has seen. Make the copy first and go on when its result is there.`;
      if (everybody || step.lasts || (files.get(clean(path)) || {}).made || readers.some((x) => joined.has(x)) || !session.userSaid(path) || !readers.every(named)) return `nothing is known of ${path} yet. Look at it first, with its label, before others get to see it.`;
    }
    return '';
  };
  /** Content that comes into a file which is open already. */
  const into = (action) => {
    const told = values(action.text);
    const paths = [...action.from, ...told.flatMap((h) => [...h.paths])];
    const f = files.get(clean(action.to)) || {};
    const open = opened.filter((o) => o.kind !== 'job' && clean(o.path) === clean(action.to));
    if (f.mode !== undefined && !f.changed && worldly(f.mode)) open.push({ readers: [], everybody: true });
    const why = open.map((o) => objection(paths, o.readers, o.everybody, told.length)).find((w) => w !== '');
    return why === undefined ? '' : `${action.to} is open to others, and what would be written there ${why}.`;
  };
  const judge = (action) => {
    if (action.kind === 'mode') return worldly(action.mode) ? opening(action.path, 'mode', [], true, action) : '';
    if (action.kind === 'give') return opening(action.path, action.lasts ? 'owner' : 'reader', action.readers, false, action);
    if (action.kind === 'copy') return into(action);
    if (action.kind === 'tell') {
      const told = values(action.text);
      const early = values(action.text, true).flatMap((h) => [...h.paths]).find((p) => words((files.get(p) || {}).label || '').includes('pending'));
      if (early !== undefined) return `the text tells of something in ${early}, which is labelled "${files.get(early).label}". Wait until that is over.`;
      const why = objection(told.flatMap((h) => [...h.paths]), action.readers, false, told.length);
      if (why !== '') return `the text ${why}. Leave these values out.`;
      const blind = params.unseen === 'refuse' && speaks() ? told.find((h) => [...h.paths].every((p) => unseen(p))) : undefined;
      return blind === undefined ? '' : `"${blind.text}" comes from ${[...blind.paths][0]}, of which no label was seen. Look at that file itself before its content goes to others.`;
    }
    if (action.kind === 'job') {
      const why = objection(action.paths, [], false);
      if (why !== '') return `a job that nobody looks at would use a file that ${why.split(', and ')[0]}. Leave it to a person.`;
      const again = params.twice ? action.inner.find((a) => a.kind === 'copy' && opened.some((o) => clean(o.path) === clean(a.to))) : undefined;
      if (again !== undefined) return `the job would go on handing over what this run gave to somebody (${again.to}).`;
      return action.inner.map(judge).find((w) => w !== '') || '';
    }
    return '';
  };
  const record = (action, id) => {
    if (action.kind === 'copy') {
      const f = at(action.to);
      for (const p of action.from) f.origins.add(clean(p));
      const told = values(action.text);
      for (const h of told) for (const p of h.paths) f.origins.add(p);
      f.values = (f.values || 0) + told.length;
      f.made = true;
      if (action.from.length > 0) f.waiting = id;
      else if (!action.adds) f.typed = true;
    } else if (action.kind === 'mode') { at(action.path).changed = true; if (worldly(action.mode)) opened.push({ path: action.path, kind: 'mode', readers: [], everybody: true }); }
    else if (action.kind === 'give') { at(action.path).changed = true; opened.push({ path: action.path, kind: action.lasts ? 'owner' : 'reader', readers: action.readers, everybody: false }); }
    else if (action.kind === 'job') for (const a of action.inner) { if (a.kind === 'copy') opened.push({ path: a.to, kind: 'job', readers: [], everybody: false }); else record(a, id); }
  };

  // ---- facts of results
  const learn = (value, told, reads) => {
    if (Array.isArray(value)) { for (const v of value) learn(v, told, reads); return; }
    if (value === null || typeof value !== 'object') return;
    const entries = Object.entries(value);
    const text = (re) => (entries.find(([k, v]) => re.test(k) && typeof v === 'string') || [])[1];
    const path = text(ROLE.file);
    const label = text(/^(?:label|classification|sensitivity)$/i);
    const groups = entries.find(([k]) => /^groups?$/i.test(k));
    if (path !== undefined && isPath(path)) {
      const f = at(path);
      if (label !== undefined) f.label = label;
      else if (told && f.label === undefined) f.label = '';
      if (reads && !f.changed) for (const [k, v] of entries) if (['owner', 'group', 'mode'].includes(k) && typeof v === 'string') f[k] = f[k] || v;
      for (const [k, v] of entries) if (typeof v === 'string' && /^(?:content|text|line|body|value)$/i.test(k)) hold(v, clean(path));
    } else if (groups !== undefined && reads) {
      const id = text(/^(?:user|account|login|user_?name)$/i);
      const known = { id, in: new Set([].concat(groups[1]).map(String)) };
      for (const [, v] of entries) if (typeof v === 'string' && (v === id || /@/.test(v))) accounts.set(normalizeText(v), known);
    }
    const pack = entries.find(([k, v]) => Array.isArray(v) && v.length > 0 && v.every((x) => x !== null && typeof x === 'object' && Object.keys(x).some((y) => ROLE.file.test(y))));
    const place = text(ROLE.place);
    if (place !== undefined && pack !== undefined) {
      const f = at(place);
      f.packed = Math.max(f.packed, pack[1].length);
      for (const x of pack[1]) f.origins.add(clean(Object.entries(x).find(([k]) => ROLE.file.test(k))[1]));
    }
    for (const [, v] of entries) learn(v, told, reads);
  };
  /** Values of a text that tell whose it is: words with digits, and the first field of each record. */
  const hold = (text, path) => {
    const lines = String(text).split('\n').slice(0, 20000);
    const keep1 = (word) => {
      const value = squash(word);
      if (value.length < 4 || held.size >= 20000) return;
      if (!held.has(value)) held.set(value, { text: word, paths: new Set() });
      held.get(value).paths.add(path);
    };
    const told = lines.length > 1 && !/\d/.test(lines[0]) ? lines.slice(1) : lines;
    for (const line of told) for (const word of line.split(/[\s,;|"()]+/)) if (/\d/.test(word)) keep1(word.replace(/[.:!?]+$/, ''));
    for (const sign of [';', '|', '\t', ',', ':']) {
      const rows = told.filter((line) => line.includes(sign)).map((line) => line.split(sign)[0].trim());
      if (rows.length > 1 || (rows.length === 1 && told.length === 1 && lines.length > 1)) for (const first of rows) if (first.length <= 40 && first.split(/\s+/).length <= 3) keep1(first);
    }
    // Rows of one form: words that stand in one row only tell whose it is.
    const rows = told.map((line) => words(line));
    if (rows.length < 2 || !rows.every((w) => w.length === rows[0].length && w.length > 1 && w.length <= 8 && w.some((x) => /^\d/.test(x)))) return;
    const seen = new Map();
    for (const w of rows) for (const x of new Set(w)) seen.set(x, (seen.get(x) || 0) + 1);
    for (const [x, n] of seen) if (n === 1 && /^\p{L}/u.test(x)) keep1(x);
  };
  return {
    onPreToolCall(call) {
      const made = [];
      for (const action of actions(call)) {
        // In one command line the copy of a step before has no label either.
        if (action.path !== undefined && made.some((p) => clean(p) === clean(action.path))) action.lined = true;
        const why = judge(action);
        if (why !== '') return block(`Not done: ${why}`);
        if (action.kind === 'copy') { made.push(action.to); for (const p of action.from) at(action.to).origins.add(clean(p)); }
      }
      return allow();
    },
    onDecision(call, decision) {
      if (decision.do === 'block') return;
      for (const action of actions(call)) record(action, call.id);
      const leaf = (re) => (argumentLeaves(call.arguments).find((l) => re.test(l.key)) || { text: '' }).text;
      if (!session.effectOf(call).read) {
        const [user, group] = [leaf(/^(?:user|account|login|member|user_?name)$/i), leaf(/^(?:group|role|team)$/i)];
        if (user !== '' && group !== '') { added.add(`${user} ${group}`); joined.add(user); }
      }
    },
    onPostToolCall(call, result) {
      for (const f of files.values()) if (f.waiting === call.id) f.waiting = '';
      if (result.isError) return keep();
      const tool = session.tools.get(call.tool);
      const value = parseLiteral(result.content);
      const tells = (t) => t !== undefined && LABEL.test(t.description);
      const line = argumentLeaves(call.arguments).find((l) => ROLE.command.test(l.key));
      const parts = line === undefined ? [] : lineParts(line.text);
      // What a command line returns stands in the order of its parts.
      const outputs = parts.length === 0 || value === undefined ? undefined : Object.values(value).find((v) => Array.isArray(v) && v.length === parts.length);
      if (outputs !== undefined) outputs.forEach((o, i) => { const t = program(parts[i]); learn(o, tells(t), t !== undefined && t.effect.read); });
      else if (value !== undefined) learn(value, tells(tool), session.effectOf(call).read);
      return keep();
    },
  };
}
