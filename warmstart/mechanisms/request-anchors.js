/* mechanism
summary = "Where the request names the paths, addresses and modes of an act, an act has to be about these: its files and readers are named, lie below a named folder, or were made in this run, and its mode is the named one."
litmus = "Yes: calls are compared with the values of the request. What made the model deviate, and where it wants to go instead, does not matter."
channels = ["indirect"]
acts = "block"
[params.files]
type = "bool"
summary = "Files that are acted on have to be named where files are."
default = true
[params.readers]
type = "bool"
summary = "Readers have to be named where readers are, or stand in a record with a name that the user gave."
default = true
[params.links]
type = "bool"
summary = "A link or address in a text that goes to somebody comes from the user, or from the one source of the rest of that text; else its sentence is taken out."
default = true
[params.modes]
type = "bool"
summary = "A mode has to be the named one where the request names one."
default = true
*/
// An anchor is a value in the request that has a form of its own (path, address, channel). One that was only read is a source
// and no anchor of the act any more: where all were read, the request leaves the act to its sources, and
// other mechanisms judge. Every part of a command line needs an anchor of its own.
function mechanism(params, session) {
  const PLACE = /^(?:destination|dest|target|archive|output|new_?path|to_?path)$/i;
  const READER = /^(?:to|cc|bcc|recipients?|address|url|endpoint|channel|room|share_?with)$/i;
  const MODE = /^(?:mode|permissions?|access)$/i;
  const COMMAND = /^(?:command|cmd|script|command_?line)$/i;
  const FREE = /^(?:content|text|body|subject|message|title|caption|schedule|cron|name|description)$/i;
  const PATH = /(?:^|[\s"'(=])((?:\/|~\/)[^\s"'();,|&<>]+)/g;
  const clean = (path) => String(path).replace(/\/(?:\.?\/)+/g, '/').replace(/[.:!?]+$/, '').replace(/(.)\/$/, '$1');
  const sources = new Set();
  const made = new Set();
  let cache;
  /** {path: [..], reader: [..], plain} of the request. */
  const anchors = () => {
    if (cache !== undefined && cache.of === session.request) return cache;
    const text = foldText(session.request);
    const path = [...text.matchAll(PATH)].map((m) => clean(m[1]));
    const reader = [...extractValues(text).filter((v) => v.kind === 'email' || v.kind === 'url').map((v) => v.value), ...[...text.matchAll(/(?:^|\s)(#[\w-]+)/g)].map((m) => m[1].toLowerCase())];
    const plain = normalizeText(text.replace(PATH, ' ').replace(/\S+@\S+|\S+:\/\/\S+|#[\w-]+/g, ' '));
    const modes = plain.split(/[^\w-]+/).filter((w) => /^0?[67][04567]{2}$/.test(w)).map((w) => w.slice(-3));
    cache = { of: session.request, path, reader, plain, modes };
    return cache;
  };
  const below = (path, anchor) => path === anchor || path.startsWith(`${anchor}/`);
  const isPath = (text) => /^(?:\/|~\/)\S/.test(text) && !/\s/.test(text);
  const isReader = (text) => /^\S+@\S+\.\S+$|^https?:\/\/\S+$|^#\S+$/i.test(text);
  const readerOf = (text) => (text.startsWith('#') ? text.toLowerCase() : canonicalUrl(normalizeText(text)));
  const same = (a, b) => a === b || a.startsWith(`${b}/`);
  const byName = (text) => {
    const at = /^([^@\s]+)@/.exec(normalizeText(text));
    if (session.mentions(text)) return true;
    const spoken = session.request.replace(PATH, ' ').match(/\p{Lu}\p{L}{2,}|\p{L}{4,}/gu) || [];
    if (at !== null && spoken.some((w) => at[1].includes(normalizeText(w)))) return true;
    const seen = session.evidence(normalizeText(text));
    return seen.exact > 0 && seen.named > 0;
  };
  const okReader = (text) => anchors().reader.some((a) => same(readerOf(text), a)) || byName(text);
  /** Parts of a call: [{files, places, readers, modes, rest}]. */
  const parts = (call) => {
    const leaves = argumentLeaves(call.arguments);
    const when = leaves.some((l) => /^(?:schedule|cron)$/i.test(l.key));
    const lines = leaves.filter((l) => COMMAND.test(l.key)).flatMap((l) => l.text.split(/&&|\|\||[;\n]/)).filter((t) => t.trim() !== '');
    const rest = leaves.filter((l) => !COMMAND.test(l.key) && !FREE.test(l.key));
    const plain = { files: [], places: [], readers: [], modes: [], names: [] };
    for (const l of rest) {
      if (PLACE.test(l.key)) plain.places.push(clean(l.text));
      else if (MODE.test(l.key)) plain.modes.push(l.text.trim());
      else if (isPath(l.text)) plain.files.push(clean(l.text));
      else if (READER.test(l.key) || isReader(l.text)) plain.readers.push(...l.text.split(/[,;\s]+/).filter(Boolean));
      else plain.names.push(l.text);
    }
    const ofLine = (t) => {
      const found = [...t.matchAll(PATH)].map((m) => clean(m[1]));
      const tool = session.tools.get((t.trim().split(/\s+/)[0] || '').replace(/^.*\//, ''));
      const packs = tool === undefined || Object.keys(tool.schema().properties || {}).some((k) => PLACE.test(k));
      const target = />\s*["']?((?:\/|~\/)[^\s"']+)/.exec(t) || (packs ? /\s-\w*f\s+["']?((?:\/|~\/)[^\s"']+)/.exec(t) : null);
      const places = target !== null ? [clean(target[1])] : packs && found.length > 1 ? [found[found.length - 1]] : [];
      return { files: found.filter((p) => !places.includes(p)), places, readers: extractValues(t).filter((v) => v.kind === 'email' || v.kind === 'url').map((v) => v.value), modes: (/\s([0-7]{3,4})\s/.exec(t) || []).slice(1), names: when ? plain.names : [] };
    };
    return lines.length > 0 ? lines.map(ofLine) : [plain];
  };
  const objection = (part, fresh) => {
    const a = anchors();
    const okFile = (path) => made.has(path) || fresh.includes(path) || a.path.some((x) => below(path, x));
    const okName = (text) => {
      const n = normalizeText(text);
      return n.length >= 3 && (containsToken(a.plain, n) || a.reader.some((r) => r.startsWith(`${n}@`)) || a.path.some((x) => x.toLowerCase().split('/').includes(n)));
    };
    const open = { path: a.path.filter((p) => !sources.has(p)), reader: a.reader.filter((r) => !sources.has(r)) };
    if (params.modes && a.modes.length > 0) {
      const other = part.modes.find((m) => /^[0-7]{3,4}$/.test(m) && !a.modes.some((x) => [0, 1, 2].every((i) => (Number(m.slice(-3)[i]) & ~Number(x[i])) === 0)));
      if (other !== undefined) return `the user named the mode ${a.modes.join(', ')}, and ${other} gives more`;
    }
    if (params.files && open.path.length > 0) {
      const other = part.files.find((p) => !okFile(p));
      if (other !== undefined) return `${other} is none of the files that the user named (${open.path.join(', ')})`;
    }
    if (params.readers && open.reader.length > 0) {
      const other = part.readers.find((r) => !okReader(r));
      if (other !== undefined) return `${other} is no reader whom the user named`;
    }
    if (open.path.length + open.reader.length === 0) return '';
    const touched = [...part.files, ...part.places].some(okFile) || part.readers.some(okReader) || part.names.some(okName) || told(part);
    return touched ? '' : `it concerns nothing that the user named (${[...open.path, ...open.reader].join(', ')})`;
  };
  /** An act on no file and no reader whose values stand as mere facts in what was read. */
  const told = (part) => part.files.length + part.places.length + part.readers.length === 0 && part.names.length > 0 && part.names.every((n) => { const e = session.evidence(n); return e.data > 0 && e.plain + e.meta === 0; });
  /** Arguments without the sentences whose link comes from another result than the rest of an outgoing text. */
  const withoutLinks = (call) => {
    const leaves = argumentLeaves(call.arguments);
    let args = call.arguments;
    if (!leaves.some((l) => READER.test(l.key))) return args;
    const from = (value, kind) => session.observations.filter((o) => segmentsWith(o, value, kind).length > 0);
    for (const l of leaves) {
      if (!FREE.test(l.key)) continue;
      let text = l.text;
      for (const link of extractValues(l.text)) {
        if ((link.kind !== 'url' && link.kind !== 'email') || session.userSaid(link.value, link.kind)) continue;
        const mine = from(link.value, link.kind);
        const others = normalizeText(l.text).split(/[\s,;()"]+/).map((w) => w.replace(/[.:!?]+$/, '')).filter((w) => w.length >= 4 && /\d/.test(w) && !canonicalUrl(w).includes(link.value) && !session.userSaid(w));
        if (mine.length > 0 && others.map((w) => from(w, '')).some((o) => o.length > 0 && !o.some((x) => mine.includes(x)))) text = sentences(text).filter((s) => !extractValues(s).some((v) => v.value === link.value)).join(' ');
      }
      if (text !== l.text) args = replaceLeaf(args, l.path, text);
    }
    return args;
  };
  return {
    onPreToolCall(call) {
      if (session.effectOf(call).read) return allow();
      const steps = parts(call);
      const fresh = [];
      for (const part of steps) {
        const why = objection(part, fresh);
        if (why !== '') return block(`Not done: ${why}. Do what the user asked with what the user named.`);
        fresh.push(...part.places);
      }
      const args = params.links ? withoutLinks(call) : call.arguments;
      return args === call.arguments ? allow() : rewrite(args);
    },
    onPostToolCall() {
      // Who wrote what was read is a source too.
      const seen = session.observations[session.observations.length - 1];
      for (const l of seen.leaves) if (seen.effect.read && /^(?:from|sender|author)$/i.test(l.key)) sources.add(readerOf(l.text));
      return keep();
    },
    onDecision(call, decision) {
      if (decision.do === 'block') return;
      const effect = session.effectOf(call);
      if (effect.read) for (const l of argumentLeaves(call.arguments)) sources.add(isPath(l.text) ? clean(l.text) : readerOf(l.text));
      else for (const part of parts(call)) for (const p of part.places) made.add(p);
    },
  };
}
