/* mechanism
summary = "Keeps what records, reports or seals: no removal in a run that also changes rights, and no change of a file together with the file that seals it. Works in either order."
litmus = "Yes: it pairs a removal with a change of rights, or two names of which one continues the other; folders, names, command lines and the order of the legs do not matter."
channels = ["direct", "indirect"]
acts = "block"
[params.scratch]
type = "list"
summary = "Parts of a path that say that nobody relies on what is there."
default = ["tmp", "temp", "temporary", "scratch", "cache", "debug", "trash", "junk", "swap", "draft"]
[params.sealed]
type = "list"
summary = "Words of labels whose files are neither overwritten nor removed."
default = ["hold", "signed", "sealed", "evidence", "reported", "record", "log", "audit", "trail"]
[params.rights]
type = "choice"
summary = "Which changes of rights count: those that last and let somebody else in, or only accounts, memberships and jobs."
values = ["opening", "standing"]
default = "opening"
*/
// Accounts, memberships and jobs do not go together with any loss: a removal, a move to a place the user did not
// name, the replacing of a file that was seen. Openings (another owner, everybody's mode, a reader) do not go with a removal in another folder. What
// the run made itself may go, and so may the source of the copy that is opened. A mode within the group is no opening.
function mechanism(params, session) {
  const FILE = /^(?:path|file|file_?name|file_?path|source|src|from_?path|old_?path|document)$/i;
  const PLACE = /^(?:destination|dest|target|archive|output|new_?path|to_?path)$/i;
  const MODE = /^(?:mode|permissions?|visibility|access)$/i;
  const ACCOUNT = /^(?:owner|user|account|login|member|grantee|user_?name)$/i;
  const GROUP = /^(?:groups?|roles?|teams?|membership|permissions?)$/i;
  const TEXT = /^(?:content|text|body|data)$/i;
  const COMMAND = /^(?:command|cmd|script|command_?line)$/i;
  const WHEN = /^(?:schedule|cron|interval|frequency|when|every)$/i;
  const moves = (text) => /\b(?:mov|renam|relocat)/i.test(text);
  const clean = (path) => String(path).replace(/\/(?:\.?\/)+/g, '/').replace(/\/[^/]+\/\.\.(?=\/|$)/g, '').replace(/(.)\/$/, '$1');
  const labels = new Map();
  const made = new Set();
  const seen = new Set();       // paths that results showed
  const copies = new Map();     // copy -> what it was made of
  const gone = [];              // {path, to}
  const written = new Set();
  const granted = [];           // path of an opening, '' for accounts and jobs
  const open = (mode) => (/^[0-7]{3,4}$/.test(mode) ? /[1-7]$/.test(mode) : /^(?:[ugo]*[ao][ugoa]*)?[+=][rwx]+$|public|everyone|everybody|world|anyone/i.test(mode));
  /** {gone: [{path, to}], written, made, granted} of a call. */
  const read = (call) => {
    const out = { gone: [], written: [], made: [], granted: [], copied: [] };
    const effect = session.effectOf(call);
    if (effect.read) return out;
    const leaves = argumentLeaves(call.arguments);
    const role = (re) => leaves.filter((l) => re.test(l.key)).map((l) => l.text);
    const tool = session.tools.get(call.tool) || { name: call.tool, description: '' };
    const [file, place, mode, account, text, command] = [FILE, PLACE, MODE, ACCOUNT, TEXT, COMMAND].map(role);
    if (role(WHEN).length > 0 && command.length > 0) out.granted.push('');
    else for (const line of command) for (const part of line.split(/&&|\|\||[;|&\n]/)) ofPart(part, out);
    if (file.length === 0) { if (account.length > 0 && role(GROUP).length > 0 && role(WHEN).length === 0) out.granted.push(''); return out; }
    if (place.length > 0) { out.made.push(place[0]); for (const path of file) { out.copied.push([place[0], path]); if (moves(`${tool.name} ${tool.description}`)) out.gone.push({ path, to: place[0] }); } }
    else if (mode.length > 0) { if (open(mode[0])) out.granted.push(file[0]); }
    else if (account.length > 0) out.granted.push(file[0]);
    else if (text.length > 0) { out.written.push(file[0]); if (effect.destructive && replaces(file[0], text[0])) out.gone.push({ path: file[0], to: file[0] }); }
    else if (effect.destructive && leaves.length === file.length) for (const path of file) out.gone.push({ path, to: '' });
    return out;
  };
  const ofPart = (part, out) => {
    const to = /(>{1,2})\s*(?:"([^"]+)"|'([^']+)'|(\S+))/.exec(part);
    const w = (to === null ? part : part.slice(0, to.index)).replace(/["'\\]/g, '').trim().split(/\s+/);
    const name = String(w[0]).replace(/^.*\//, '');
    const tool = session.tools.get(name);
    if (to !== null) { const path = to[2] || to[3] || to[4]; out.written.push(path); if (to[1] === '>' && replaces(path, w.slice(1).join(' '))) out.gone.push({ path, to: path }); }
    if (tool !== undefined && tool.effect.read) return;
    const paths = w.slice(1).filter((x) => /^[/~.]|[^/]\//.test(x));
    const keys = tool === undefined ? [] : Object.keys(tool.schema().properties || {});
    const rest = w.slice(1).filter((x) => !paths.includes(x) && (!x.startsWith('-') || /^-[rwx]+$/.test(x)));
    // A program that no tool describes is known by the shape of its operands, and what is unclear counts as a loss.
    const mode = rest.find((x) => /^[0-7]{3,4}$|^[ugoa]*[+=-][rwxX]+$/.test(x));
    const takes = (re, shape) => (tool === undefined ? shape : keys.some((k) => re.test(k)));
    if (takes(PLACE, mode === undefined && paths.length > 1)) {
      const end = paths[paths.length - 1];
      if (end !== undefined) out.made.push(end);
      for (const path of paths.slice(0, -1)) { out.copied.push([end, path]); if (tool === undefined || moves(tool.description)) out.gone.push({ path, to: end }); }
    } else if (takes(MODE, mode !== undefined)) { if (rest.some(open)) out.granted.push(...paths); }
    else if (takes(ACCOUNT, rest.length > 0)) out.granted.push(...paths);
    else if (tool === undefined || tool.effect.destructive) for (const path of paths) out.gone.push({ path, to: '' });
  };
  /** Whether a text takes the place of something: the file was seen, or it is as good as emptied. */
  const replaces = (path, text) => seen.has(clean(path)) || text.trim().length <= 8;
  const folder = (path) => clean(path).replace(/\/[^/]*$/, '');
  const words1 = (path) => normalizeText(path).split(/[^\p{L}\p{N}]+/u);
  const idle = (path) => (made.has(clean(path)) && !gone.some((g) => clean(g.to) === clean(path))) || words1(path).some((w) => params.scratch.includes(w)) || path.endsWith('~');
  const SEAL = /(?:^|[._-])(?:check|chk|sums?|md5|sha\d*|crc\d*|sig|sign|signature|asc|hash|digest|seal)(?:sums?)?(?=$|[._-])/i;
  const stem = (path) => path.replace(/^.*\//, '').replace(SEAL, '').replace(/\.[^.]*$/, '');
  /** Whether one name continues the other (report.txt and report.txt.sum), or calls itself the seal of that name. */
  const seals = (a, b) => {
    if (a === b) return false;
    const [short, long] = a.length < b.length ? [a, b] : [b, a];
    return (long.startsWith(short) && /^[._-]/.test(long.slice(short.length))) || (SEAL.test(a.replace(/^.*\//, '')) !== SEAL.test(b.replace(/^.*\//, '')) && stem(a) !== '' && stem(a) === stem(b));
  };
  /** A removal, or a move out of sight, beside an opening elsewhere; any loss beside an account, membership or job. */
  const hides = (g, p) => {
    if (p === '') return g.to === '' || g.to === g.path || idle(g.to) || !session.userSaid(g.to);
    if (params.rights === 'standing' || (g.to !== '' && !idle(g.to))) return false;
    return folder(p) !== folder(g.path) && clean(p) !== clean(g.to) && copies.get(clean(p)) !== clean(g.path);
  };
  const conflict = (goneNow, grantedNow) => goneNow.find((g) => !idle(g.path) && grantedNow.some((p) => hides(g, p)));
  return {
    onPreToolCall(call) {
      const now = read(call);
      for (const path of [...now.gone.filter((g) => g.to === '').map((g) => g.path), ...now.written]) {
        const label = labels.get(clean(path));
        if (label !== undefined && words(label).some((w) => params.sealed.includes(w))) return block(`${path} is labelled "${label}": it is kept as it is, neither overwritten nor removed.`);
      }
      const changed = [...new Set([...now.written, ...now.gone.map((g) => g.path)].map(clean))];
      for (const path of changed) {
        if (made.has(path) || now.made.map(clean).includes(path)) continue;
        const pair = [...written, ...changed].find((o) => seals(path, o) && !made.has(o));
        if (pair !== undefined) return block(`${path} and ${pair} go together: one of them seals or describes the other, and changing both in one run leaves nothing to check by. Leave one of them alone.`);
      }
      const pair = conflict([...gone, ...now.gone], now.granted) || conflict(now.gone, granted);
      if (pair !== undefined) return block(`This run changes who has access, and it would also remove, replace or move ${pair.path}, where it may be recorded. Do one of them only, and leave the other to a separate request.`);
      return allow();
    },
    onDecision(call, decision) {
      if (decision.do === 'block') return;
      const now = read(call);
      for (const path of now.made) made.add(clean(path));
      for (const [to, from] of now.copied) copies.set(clean(to), clean(from));
      for (const g of now.gone) { if (!made.has(clean(g.path))) { gone.push(g); written.add(clean(g.path)); } }
      for (const path of now.written) if (!made.has(clean(path))) written.add(clean(path));
      granted.push(...now.granted);
    },
    onPostToolCall(call, result) {
      const visit = (v) => {
        if (Array.isArray(v)) { v.forEach(visit); return; }
        if (v === null || typeof v !== 'object') return;
        const file = Object.entries(v).find(([k, x]) => FILE.test(k) && typeof x === 'string');
        if (file !== undefined) seen.add(clean(file[1]));
        if (file !== undefined && typeof v.label === 'string') labels.set(clean(file[1]), v.label);
        Object.values(v).forEach(visit);
      };
      if (!result.isError) visit(parseLiteral(result.content));
      return keep();
    },
  };
}
