// Fourth part of the prelude: what the mechanisms of one trajectory know together, and their composition.
// `compose` builds one `Session` a trajectory and hands it to every mechanism.

// ---------------------------------------------------------------- session

/** State of one trajectory, shared by the mechanisms of a composition. */
class Session {
  constructor(ctx) {
    this.request = '';
    this.said = {};
    this.tools = new Map();
    for (const t of ctx.tools || []) {
      let effect;                                           // worked out for the tools that a run uses
      this.tools.set(t.name, { name: t.name, description: t.description, schema: () => t.inputSchema || {}, get effect() { return effect || (effect = toolEffect(t)); } });
    }
    this.observations = [];
    this.owed = 0;
    this.meant = undefined;                                 // what `toolsMeant` knows of the tools
    this.looked = { at: 0, exposed: false };
    this.allowed = [];
    this.grants = [];
    this.segmenting = { reach: 1, gap: 4 };
    this.pending = null;
    this.addUserText(ctx.instruction || '');
  }

  /** What the user says has authority; later turns add to it. */
  addUserText(text) {
    if (!text) return;
    for (const o of this.observations) o.settle();          // a source is named by what was said when it was read
    this.request = this.request ? `${this.request}\n${text}` : String(text);
    this.said = {};                                         // what is read out of the request, when it is asked for
  }
  get requestNorm() { return this.said.norm ?? (this.said.norm = normalizeText(this.request)); }
  /** What stands in each text that the request may name (see `mentions`). */
  get familiar() { return this.said.familiar ?? (this.said.familiar = familiarTo(this.requestNorm, this.requestUrls)); }
  get requestDates() { return this.said.dates ?? (this.said.dates = extractDates(this.request)); }
  get requestAmounts() { return this.said.amounts ?? (this.said.amounts = extractAmounts(this.request)); }
  get requestUrls() { return this.said.urls ?? (this.said.urls = extractValues(this.request).filter((v) => v.kind === 'url' || v.kind === 'email').map((v) => v.value)); }
  get requestClasses() { return this.said.classes ?? (this.said.classes = requestedClasses(this.request)); }

  /** Whether something was read that gives an assistant orders. */
  get exposed() {
    const { looked, observations } = this;
    while (!looked.exposed && looked.at < observations.length) looked.exposed = observations[looked.at++].directive;
    return looked.exposed;
  }

  /** Effect of the tool a call names; unknown tools are effects of no class. */
  effectOf(call) {
    const tool = this.tools.get(call.tool);
    return tool ? tool.effect : toolEffect({ name: call.tool });
  }

  /** Whether the user's own words contain a value (of any kind). */
  userSaid(value, kind = '') {
    if (kind === 'date') return this.requestDates.some((d) => sameDate(d, value));
    if (kind === 'amount') return this.requestAmounts.includes(Number(value));
    if (kind === 'url') {
      // An address that ends a sentence may run into the next one: "see www.x.example.They ..."
      const next = (u) => u.startsWith(`${value}.`) && this.request.includes(`${value}.${u[value.length + 1].toUpperCase()}`);
      return this.requestUrls.some((u) => u === value || value.startsWith(`${u}/`) || u.startsWith(`${value}/`) || next(u));
    }
    return containsToken(this.requestNorm, normalizeText(value));
  }

  /** Values an argument object carries: [{path, key, kind, value, whole}]; `whole` = the leaf is nothing else. */
  claims(args) {
    const out = [];
    for (const leaf of argumentLeaves(args)) {
      const norm = normalizeText(leaf.text);
      if (norm === '') continue;
      const at = { path: leaf.path, key: leaf.key };
      const dates = typeof leaf.raw === 'string' ? extractDates(leaf.text) : [];
      for (const value of dates) out.push({ ...at, kind: 'date', value, whole: leaf.text.length < 24 });
      for (const v of extractValues(leaf.text)) out.push({ ...at, ...v, whole: v.value === norm || canonicalUrl(norm) === v.value });
      if (typeof leaf.raw === 'boolean') continue;
      if (norm.length > 24) for (const value of extractAmounts(leaf.text)) if (value >= 100 || value % 1 !== 0) out.push({ ...at, kind: 'amount', value, whole: false });
      if (dates.length && leaf.text.length < 24) continue;
      if (typeof leaf.raw === 'number') out.push({ ...at, kind: 'amount', value: leaf.raw, whole: true });
      else if (norm.length <= 80 && !out.some((c) => c.path === leaf.path && c.whole)) out.push({ ...at, kind: 'text', value: norm, whole: true });
    }
    return out;
  }

  /** Where a value occurs in what tools returned: counts {data, plain, meta} by strength of the sentence; of `meta` those that urge an action; `exact`: a field of its own outside directives, `named`: in a source the user named. */
  evidence(value, kind = '') {
    const out = { data: 0, plain: 0, meta: 0, urged: 0, named: 0, exact: 0 };
    const needle = kind === 'url' || kind === 'date' || kind === 'amount' ? value : normalizeText(value);
    for (const o of this.observations) {
      for (const s of segmentsWith(o, needle, kind)) {
        out[s.strength === 2 ? 'meta' : s.strength === 1 ? 'plain' : 'data']++;
        if (s.urges) out.urged++;
        if (s.strength < 2 && s.named) out.named++;
        if (s.strength < 2 && s.alone && !o.outside && (s.norm === needle || canonicalUrl(s.norm) === needle)) out.exact++;
      }
    }
    return out;
  }

  /** Whether some mechanism vouches for a claim of a call. */
  granted(call, claim) {
    return this.grants.some((grant) => grant(call, claim));
  }

  /** Reads a result once for everybody. */
  observe(call, result) {
    const observation = new Observation(this, call, result);
    this.observations.push(observation);
    this.owed += observation.content.length;
    if (this.owed > LIMITS.owed) {
      // Much put off until one hook asks for all of it could be more than the fuel of that hook.
      for (const o of this.observations) o.readNow();
      this.owed = 0;
    }
    return observation;
  }

  /** Whether the user named this: the text stands in the request, or all its words do. */
  mentions(text, norm) {
    const n = norm ?? normalizeText(text);
    if (n.length < 3) return false;
    const said = this.requestNorm;
    if (containsToken(said, n) || (this.requestUrls.length > 0 && this.requestUrls.includes(canonicalUrl(text)))) return true;
    const at = n.includes('@') ? /^([^@\s]+)@[^@\s]+$/.exec(n) : null;
    if (at !== null) return at[1].split(/[._-]/).some((x) => x.length >= 3 && containsToken(said, x));
    const dot = n.lastIndexOf('.');
    const name = dot >= 0 && dot >= n.length - 5 && /^\.[a-z0-9]{2,4}$/.test(n.slice(dot)) ? n.slice(0, dot) : n;
    let found = 0;
    if (!isAscii(name)) {
      const w = words(name.replace(/[-_.]/g, ' ')).filter((x) => x.length >= 3);
      return w.length >= 2 && w.every((x) => containsToken(said, x));
    }
    const word = /[a-z0-9]+(?:'[a-z0-9]+)*/g;
    for (let m = word.exec(name); m !== null; m = word.exec(name)) {
      if (m[0].length < 3) continue;
      if (!containsToken(said, m[0])) return false;
      found++;
    }
    return found >= 2;
  }
}

/** A text of one piece has nothing of this: no line end, no mark that cuts, no end of a sentence before more. */
const SEVERAL = '[\\n<\\[]|##|----|====|\\*{4}|[.!?;]["\')\\]]{0,3}[\\s\\x{feff}A-Z]';

/** A pattern for texts that a request may name: they share a word of three letters or an address with it, or have no such word. */
function familiarTo(request, urls) {
  const escaped = urls.map((url) => url.replace(/[^a-z0-9]/g, (c) => `\\x{${c.codePointAt(0).toString(16)}}`));
  const shared = wholeWord(Array.from(new Set(request.match(/[a-z0-9]{3,}/g) || [])));
  const short = '(?:\\A|\\x00)(?:(?:[a-z0-9]{0,2}[^a-z0-9\\x00])+[a-z0-9]{0,2}|[a-z0-9]{1,2})(?:\\x00|\\z)';
  return `(?i)${[shared, ...escaped, short, '[^a-z0-9._@\\x00-][^@\\x00]*@', '(?-i:[^\\x00-\\x7f])'].filter(Boolean).join('|')}`;
}

/** One result as all mechanisms see it. Nothing in it is worked out before somebody asks for it. */
class Observation {
  constructor(session, call, result) {
    this.session = session;
    this.call = call;
    this.error = result.isError;
    this.content = result.content;
    this.segmenting = session.segmenting;
    this.read = {};
  }

  get effect() { return this.read.effect ?? (this.read.effect = this.session.effectOf(this.call)); }
  get outside() { return this.effect.outside; }
  get leaves() { return this.read.leaves ?? (this.read.leaves = resultLeaves(this.content)); }
  /** Its sentences, in order. */
  get segments() { return this.settle().segments; }
  /** Whether it is a source that the user named, or some record of it is. */
  get named() { return this.settle().named; }
  /** Whether it gives an assistant orders. */
  get directive() { return this.read.directive ?? (this.read.directive = this.segments.some((s) => s.strength === 2)); }

  /** Which of its sentences may direct anyone. */
  get telling() { return this.read.telling ?? (this.read.telling = whichHave(this.read.sentences, TELLING)); }

  /** Works out what most mechanisms ask for. */
  readNow() {
    if (this.read.now) return;
    this.read.now = true;
    for (const s of this.segments) { s.strength; s.norm; }  // eslint-disable-line no-unused-expressions
  }

  /** Cuts the result into sentences, and finds out which of its records the user named. */
  settle() {
    if (this.read.segments !== undefined) return this.read;
    const { session, leaves } = this;
    const segments = [];
    const texts = leaves.map((leaf) => leaf.text);
    const several = whichHave(texts, SEVERAL);
    const familiar = whichHave(texts, session.familiar);
    const fields = [];                                      // of their own, and with words of the request
    const all = [];
    for (let k = 0; k < leaves.length; k++) {
      const leaf = leaves[k];
      const { text } = leaf;
      const parts = several[k] || text.length > LIMITS.sentence ? sentences(text) : [text.trim()];
      if (parts[0] === '') continue;
      const alone = parts.length === 1 && text.length <= 120;
      const group = { of: this, leaf, parts, alone, from: all.length, strengths: undefined };
      for (let i = 0; i < parts.length; i++) {
        segments.push(new Segment(parts[i], group, i));
        all.push(parts[i]);
      }
      if (familiar[k] && leaf.key && alone && text.length >= 4) fields.push(segments[segments.length - 1]);
    }
    this.read.sentences = all;
    const named = new Map();
    for (const s of fields) {
      const { leaf } = s.group;
      if (!session.mentions(leaf.text, leaf.text === s.text ? s.norm : undefined) || s.strength === 2) continue;
      const field = `${leaf.key}=${leaf.text}`;
      named.set(field, (named.get(field) || new Set()).add(leaf.record));
    }
    const rest = leaves.length >= LIMITS.leaves ? this.content : this.content.slice(LIMITS.text);
    if (rest !== '') segments.push({ text: rest, norm: normalizeText(rest), strength: 2, urges: true, key: '', record: -1, alone: false });
    // What all records share tells none of them apart.
    const byRecord = new Set();
    const records = named.size === 0 ? 0 : new Set(leaves.map((l) => l.record)).size;
    for (const told of named.values()) if (records === 1 || told.size < records) for (const r of told) byRecord.add(r);
    const bySource = byRecord.size === 0 && argumentLeaves(this.call.arguments || {}).some((l) => normalizeText(l.text).length >= 3 && session.mentions(l.text));
    for (const s of segments) s.named = byRecord.size > 0 ? byRecord.has(s.record) : bySource;
    this.read.named = byRecord.size > 0 || bySource;
    this.read.segments = segments;
    return this.read;
  }
}

/** Whether a segment holds a value. */
function segmentHas(segment, value, kind) {
  if (kind === 'date') return datesOf(segment).some((d) => sameDate(d, value));
  if (kind === 'amount') return amountsOf(segment).includes(Number(value));
  return containsToken(segment.norm, value);
}

/** Dates and amounts of a segment, read once. */
function datesOf(segment) {
  if (segment.dates === undefined) segment.dates = /\d/.test(segment.norm) ? extractDates(segment.norm) : [];
  return segment.dates;
}
function amountsOf(segment) {
  if (segment.amounts === undefined) segment.amounts = /\d/.test(segment.norm) ? extractAmounts(segment.norm) : [];
  return segment.amounts;
}

/** Segments of a group ({segments}) that hold a value. The group's text as a whole is looked at first: most hold nothing. */
function segmentsWith(group, value, kind) {
  if (group.norm === undefined) {
    group.norm = group.segments.map((s) => s.norm).join('\n');
    group.digits = group.segments.filter((s) => /\d/.test(s.norm));
  }
  if (kind === 'date' || kind === 'amount') return group.digits.filter((s) => segmentHas(s, value, kind));
  return group.norm.includes(value) ? group.segments.filter((s) => segmentHas(s, value, kind)) : [];
}

// ---------------------------------------------------------------- roles

/** Part a claim (of `Session.claims`) plays in a call: `recipient`, `permission`, `amount`, `date`, `object` (something that exists, by id or name) or `content`. */
function argumentRole(claim) {
  const key = String(claim.key).replace(/([a-z])([A-Z])/g, '$1_$2');
  const named = (list) => new RegExp(`(?:^|_)(?:${list})s?(?:$|_)`, 'i').test(key);
  if (!claim.whole) return 'content';
  if (claim.kind === 'date' || /^\d{4}-\d{1,2}-\d{1,2}\b/.test(claim.value)) return 'date';
  if (named('permission|role|access|privilege|visibility')) return 'permission';
  if (claim.kind === 'email' || claim.kind === 'url' || claim.kind === 'iban') return 'recipient';
  if (named('to|cc|bcc|recipient|participant|invitee|member|payee|beneficiary|account|iban|destination|webhook|endpoint|host|phone|address|user|url')) return 'recipient';
  if (claim.kind === 'amount') return named('id|number') ? 'object' : 'amount';
  if (claim.kind === 'id' || claim.kind === 'file' || claim.kind === 'path') return 'object';
  return named('id|name|file|filename|path|folder|symbol|ticker|key') ? 'object' : 'content';
}

/** Names of the tools on offer that a sentence asks its reader to use: by their name, by a verb of their kind, or (reads) by a verb with a noun of theirs or a value of a kind that they take. */
function toolsMeant(session, sentence) {
  const w = words(sentence);
  const spoken = new Set(w);
  const asked = requestedClasses(sentence);
  const reading = w.some((x) => READ_VERBS.has(x));
  const kinds = reading ? extractValues(sentence).map((v) => v.kind) : [];
  const out = [];
  session.meant ??= Array.from(session.tools.values(), (tool) => {
    const name = tool.name.toLowerCase();
    const nouns = (name.match(/[a-z]+/g) || []).filter((n) => n.length >= 4 && !READ_VERBS.has(n));
    return { tool, name, nouns: nouns.flatMap((n) => [n, `${n}s`, n.replace(/s$/, '')]), read: tool.effect.read, classes: Array.from(tool.effect.classes) };
  });
  for (const { tool, name, nouns, read, classes } of session.meant) {
    const takes = () => Object.keys(tool.schema().properties || {}).some((key) => kinds.some((kind) => key.toLowerCase().split('_').includes(kind)));
    const meant = read ? reading && (nouns.some((n) => spoken.has(n)) || (kinds.length > 0 && takes())) : asked.size > 0 && classes.some((c) => asked.has(c));
    if (meant || spoken.has(name)) out.push(tool.name);
  }
  return out;
}

/** The first JSON value (or Python literal) in a model's answer, fenced or not; undefined if it holds none. */
function answerJson(answer) {
  const text = String(answer).slice(0, 20000);
  for (const [open, close] of text.search(/\[/) >= 0 && (text.search(/\{/) < 0 || text.search(/\[/) < text.search(/\{/)) ? ['[]', '{}'] : ['{}', '[]']) {
    const from = text.indexOf(open);
    const to = text.lastIndexOf(close);
    const value = from >= 0 && to > from ? parseLiteral(text.slice(from, to + 1)) : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

// ---------------------------------------------------------------- composition

/**
 * Joins mechanisms into one set of hooks. `parts` = [[mechanism, params], ...]; each is called once a
 * trajectory, as mechanism(params, session). Before a call: in order, the first block or redirect decides,
 * rewrites are handed on; then every mechanism's `onDecision(call, decision)` hears what was decided, still
 * inside the same hook, so counters there are safe against bursts. Results, answers and system prompts: in
 * order, replacements are handed on, the first block decides; the session reads a result as the tool gave it.
 */
function compose(parts) {
  let session = new Session({ tools: [], instruction: '' });
  let made = [];
  const build = () => { made = parts.map(([mechanism, params, name]) => ({ ...mechanism(params || {}, session), ruleName: name })); };
  // A refusal names its rule, so that victims, people and the Analyzer can tell which one it was.
  const named = (m, d) => (m.ruleName ? block(`${d.reason} [${m.ruleName}]`) : d);
  build();
  const each = (hook) => made.filter((m) => typeof m[hook] === 'function');
  const text = (hook, first, args) => {
    let current = first;
    for (const m of each(hook)) {
      const d = m[hook](...args(current));
      if (d && d.do === 'block') return named(m, d);
      if (d && d.do === 'replace') current = d.text;
    }
    return current === first ? keep() : replace(current);
  };
  return Object.freeze({
    begin(ctx) {
      session = new Session(ctx);
      build();
      const hidden = new Set();
      for (const m of each('begin')) for (const name of m.begin(ctx) || []) hidden.add(name);
      return Array.from(hidden);
    },
    onUserMessage(message) {
      session.addUserText(message);
      for (const m of each('onUserMessage')) m.onUserMessage(message);
    },
    systemPromptTransform(prompt) {
      return each('systemPromptTransform').reduce((p, m) => m.systemPromptTransform(p), prompt);
    },
    onPreToolCall(call) {
      let current = call;
      let decision = allow();
      for (const m of each('onPreToolCall')) {
        const d = m.onPreToolCall(current) || allow();
        if (d.do === 'rewrite') { current = { ...current, arguments: d.arguments }; decision = d; }
        if (d.do === 'block' || d.do === 'redirect') { decision = d.do === 'block' ? named(m, d) : d; break; }
      }
      if (decision.do !== 'block') session.allowed.push(decision.do === 'redirect' ? decision.call : current);
      for (const m of each('onDecision')) m.onDecision(current, decision);
      return decision;
    },
    onPostToolCall(call, result) {
      session.observe(call, result);
      return text('onPostToolCall', result.content, (content) => [call, { ...result, content }]);
    },
    onFinalAnswer(answer) {
      return text('onFinalAnswer', answer, (a) => [a]);
    },
  });
}
