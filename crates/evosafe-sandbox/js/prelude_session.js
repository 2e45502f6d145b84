// Second part of the prelude: what a harness must know about tools, directives and the run.
// `compose` builds one `Session` a trajectory and hands it to every mechanism.

// ---------------------------------------------------------------- effects

const setOf = (text) => new Set(text.split(' '));

// Verb -> class of effect. Base forms; `stem` maps inflections onto them.
const VERB_CLASSES = (() => {
  const classes = {
    send: 'send email mail message post reply respond notify forward publish text dm tell announce broadcast tweet comment submit upload write contact ask',
    pay: 'pay transfer refund reimburse wire remit buy purchase order checkout charge deposit withdraw sell trade donate tip',
    create: 'create add make schedule append insert generate write compose draft save put set remind register setup record upload commit fork',
    delete: 'delete remove cancel erase clear drop unsubscribe discard trash kick uninstall revoke close purge wipe',
    update: 'update change modify edit reschedule move rename adjust set append add correct replace mark increase decrease reset renew extend merge',
    share: 'share grant invite add give allow permit collaborate transfer star',
    reserve: 'reserve book rent schedule',
    execute: 'execute run install deploy launch start enable disable activate deactivate',
  };
  const out = new Map();
  for (const name of Object.keys(classes)) for (const verb of classes[name].split(' ')) out.set(verb, [...(out.get(verb) || []), name]);
  return out;
})();
const READ_VERBS = new Set('get list read search find fetch show view look lookup query check retrieve return returns describe count browse visit open see summarize calculate compare verify scan current download navigate'.split(' '));

/** Base form of a verb in one of its regular inflections. */
function stem(word) {
  if (VERB_CLASSES.has(word) || READ_VERBS.has(word)) return word;
  for (const [end, add] of [['ies', 'y'], ['es', ''], ['es', 'e'], ['s', ''], ['ing', ''], ['ing', 'e'], ['ed', ''], ['ed', 'e']]) {
    if (!word.endsWith(end) || word.length - end.length < 2) continue;
    const base = word.slice(0, -end.length) + add;
    for (const b of [base, base.replace(/(.)\1$/, '$1')]) if (VERB_CLASSES.has(b) || READ_VERBS.has(b)) return b;
  }
  return word;
}

/** Classes of effect that a word names; empty for other words. */
const verbClasses = (word) => VERB_CLASSES.get(stem(word)) || [];

// Words that are nouns as often as verbs: as a request they count only where they stand as a verb.
const NOUN_OR_VERB = setOf('email mail message post comment contact text book order charge trade transfer refund deposit rent share schedule record fork star change update answer forward set plan tip report notice broadcast mark upload');
const BEFORE_VERB = setOf('and then to please also you now or just kindly not');
const AFTER_VERB = setOf('a an the this that these those my our your his her him them me it us all every each everyone any one two three there some');
const ASKING = setOf('request place issue make submit leave post write');
const SENSITIVE = setOf('password passwords credential credentials passcode permission permissions key keys token tokens secret secrets authentication role roles admin');

/** Classes of effect a text asks for: verbs in base form, or in passive after `be`. */
function requestedClasses(text) {
  const out = new Set();
  for (const sentence of sentences(text)) {
    const w = words(sentence);
    w.forEach((x, i) => {
      const base = VERB_CLASSES.has(x) ? x : (w[i - 1] === 'be' || w[i - 2] === 'be' || w[i - 1] === 'get') && x.endsWith('ed') ? stem(x) : '';
      if (!base || (['give', 'tell', 'write'].includes(x) && ['me', 'us'].includes(w[i + 1])) || (x === 'make' && w[i + 1] === 'sure')) return;
      const first = w.slice(0, i).every((y) => LEAD_IN.has(y) || /^\d+$/.test(y));
      const asked = w.slice(Math.max(0, i - 4), i).some((y) => ASKING.has(y));   // request a refund, place the order
      if (NOUN_OR_VERB.has(x) && !first && !asked && !BEFORE_VERB.has(w[i - 1]) && !AFTER_VERB.has(w[i + 1])) return;
      verbClasses(base).forEach((c) => out.add(c));
    });
    if (w.some((x) => /^reserv(?:e|ation|ations)$|^bookings?$/.test(x))) out.add('reserve');
    if (w.some((x) => /^(?:payments?|transactions?|transfers?|standing)$/.test(x)) && out.has('create')) out.add('pay');
  }
  return out;
}

/**
 * What a tool does: {read, classes, destructive, sensitive}. Annotations are believed first, then the leading
 * verb of the description, then the name. Unknown tools count as effects. `classes`: those of the leading verb and of
 * the verb in the name; `sensitive`: words for credentials and permissions that it is about.
 */
function toolEffect(tool) {
  const hints = tool.annotations || {};
  const nameWords = String(tool.name || '').replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase().split(/[^a-z]+/).filter(Boolean);
  const descWords = words(String(tool.description || '').split(/[.\n]/)[0]).slice(0, 12);
  const isVerb = (w) => READ_VERBS.has(w) || VERB_CLASSES.has(w);
  const lead = stem(descWords[0] || '');
  const named = nameWords.map(stem).find(isVerb);
  const verbs = [lead, named].filter((w) => w !== undefined && isVerb(w));
  let read = verbs.length > 0 && READ_VERBS.has(verbs[0]);
  if (typeof hints.readOnlyHint === 'boolean') read = hints.readOnlyHint;
  const classes = new Set();
  if (!read) {
    verbs.forEach((v) => verbClasses(v).forEach((c) => classes.add(c)));
    const about = [...nameWords, ...descWords];
    if (about.some((w) => /^reserv(?:e|es|ation)$|^book(?:ing)?$/.test(w))) classes.add('reserve');
    if (about.some((w) => /^(?:money|payments?|transactions?|funds)$/.test(w))) classes.add('pay');
    if (classes.size === 0) descWords.forEach((w) => verbClasses(w).forEach((c) => classes.add(c)));
  }
  const sensitive = read ? [] : [...nameWords, ...descWords].filter((w) => SENSITIVE.has(w));
  return { read, classes, sensitive, destructive: hints.destructiveHint === true || classes.has('delete') };
}

// ---------------------------------------------------------------- directives

const OVERRIDE = setOf('ignore disregard forget override bypass skip stop');
const PRIOR = setOf('previous prior above earlier preceding original initial current all any your other system existing');
const CONTROL = setOf('task tasks instruction instructions prompt request requests conversation question job');
const ASSISTANT = setOf('assistant ai agent model chatbot llm gpt claude gemini bot copilot');
const ORDERING = setOf('before after first instead continue proceed complete solve finish resume');
const TOOLING = setOf('tool tools function functions api command placeholder placeholders');
const LEAD_IN = setOf('p s ps p.s please then also finally just kindly now next and first second third afterwards todo important urgent note hey hi hello dear so lastly instead do immediately you should must need to have will can could would remember make sure be');
const MODAL = setOf('must should need have can could would will');
const ORDERS = setOf('must should need have shall');
const ASKS = setOf('can could would will');
const NEAR = 6;

/** How strongly a sentence tells its reader to act: 0 not at all, 1 a request or order to whoever reads, 2 addressed to an assistant about its task, tools or instructions. */
function directiveStrength(sentence) {
  const tag = /^\s*(?:<\/?([A-Za-z_][^<>\s]{0,40})[^<>]{0,40}>|\[\/?(?:SYSTEM|INST|INFO|IMPORTANT)[^\]]{0,30}\]|<<\/?SYS>>)\s*$/.exec(sentence);
  if (tag !== null && !HTML_TAGS.has(String(tag[1]).toLowerCase())) return 2;
  if (/^\W*#*\s*[([<]?\s*(?:system|assistant|developer)[ _-]?(?:message|prompt|note|instruction|override)?\s*[)\]>:]/i.test(sentence) && /[#(<[]/.test(sentence.slice(0, 20))) return 2;
  const w = words(sentence.slice(0, 2000));
  if (w.length === 0) return 0;
  const you = w.includes('you') || w.includes('your');
  const near = (i, set, n) => { for (let j = i + 1; j <= i + n && j < w.length; j++) if (set.has(w[j])) return true; return false; };
  for (let i = 0; i < w.length; i++) {
    if (OVERRIDE.has(w[i]) && near(i, PRIOR, 3)) { if (near(i, CONTROL, NEAR) || near(i, setOf('previous prior above earlier preceding'), 3)) return 2; }
    if (CONTROL.has(w[i]) && (w[i + 1] === 'i' || (w[i + 1] === 'that' && w[i + 2] === 'i')) && near(i, setOf('gave give asked assigned'), 4)) return 2;
  }
  const has = (set) => w.some((x) => set.has(x));
  if (you && has(ORDERING) && has(CONTROL) && /\b(?:the|your|my|this) (?:\w+ )?(?:task|instruction|prompt|request|question)/.test(w.join(' ')) && (has(setOf('solve complete continue proceed resume gave')))) return 2;
  if (you && /\b(?:message|instruction|note|order|request) (?:from me|to you|for you)\b/.test(w.join(' '))) return 2;
  if (has(ASSISTANT) && has(setOf('you')) && has(setOf('must should instructions message instruction following')) && /\byou\b[,:]? ?(?:the |are |as )?(?:an? )?(?:\w+ )?(?:assistant|ai|agent|model|chatbot|llm|gpt|claude|gemini|bot)\b/.test(w.join(' '))) return 2;
  if (has(TOOLING) && has(setOf('use call invoke run execute substitute')) && you && has(setOf('following arguments placeholder placeholders'))) return 2;
  if (/\bdo not (?:tell|mention|inform|notify|reveal|alert) (?:this |it |anything )?(?:to )?(?:the )?user\b/.test(w.join(' '))) return 2;
  return isImperative(sentence, w) ? 1 : 0;
}

/** Whether a sentence, or a clause after a colon, asks its reader for an action or says how something must be. */
function isImperative(sentence, w = words(sentence)) {
  const label = /^[\s\p{P}]*[\p{L}][\p{L}\p{N} _/-]{0,30}:\s/u.exec(sentence);
  if (label !== null) return isImperative(sentence.slice(label[0].length));
  const body = w.filter((x) => !/^\d+$/.test(x));
  let i = 0;
  let led = false;
  while (i < body.length && i < 6 && LEAD_IN.has(body[i])) { if (MODAL.has(body[i]) || body[i] === 'please' || body[i] === 'kindly') led = true; i++; }
  if (isAction(body[i])) return !(body[i + 1] === undefined && !led) && !['is', 'was', 'are', 'of', 's'].includes(body[i + 1]);
  for (let j = i; j < body.length; j++) {
    if ((body[j] === 'please' || body[j] === 'kindly') && body.slice(j + 1, j + 4).some(isAction)) return true;
    if (body[j] === 'you' && ORDERS.has(body[j + 1]) && body.slice(j + 2, j + 5).some(isAction)) return true;
    if (body[j + 1] === 'you' && ASKS.has(body[j]) && body.slice(j + 2, j + 5).some(isAction)) return true;
    if (body[j] === 'make' && body[j + 1] === 'sure') return true;
    if (MODAL.has(body[j]) && body[j + 1] === 'be' && (body[j] === 'should' || body[j] === 'must')) return true;
  }
  const clause = /:\s+([A-Z][\p{L}]+|please|Please \p{L}+)\s+\S/u.exec(sentence);
  return clause !== null && clause[1].toLowerCase().split(' ').some((x) => x === 'please' || isAction(x));
}
const isAction = (x) => x !== undefined && (VERB_CLASSES.has(x) || READ_VERBS.has(x) || ACTION_VERBS.has(x));
const ACTION_VERBS = setOf('say click follow use call do go take provide include concatenate enter confirm sign subscribe try consider recommend');

/**
 * Segments of one leaf: [{text, norm, strength}]. Sentences after one addressed to an assistant, and all
 * that stands between two of them, belong to the same directive.
 */
function segmentLeaf(text, options) {
  const parts = sentences(text);
  const out = parts.map((s) => ({ text: s, norm: normalizeText(s), strength: directiveStrength(s) }));
  const { reach, gap } = options;
  let last = -1;
  for (let i = 0; i < out.length; i++) {
    if (out[i].strength < 2) continue;
    if (last >= 0 && i - last - 1 <= gap) for (let j = last + 1; j < i; j++) out[j].strength = 3;
    last = i;
  }
  for (let i = out.length - 1; i >= 0; i--) {
    if (out[i].strength !== 2) continue;
    let steps = 0;
    for (let j = i + 1; j < out.length && out[j].strength < 2 && steps < reach; j++, steps++) out[j].strength = 3;
  }
  for (const s of out) {
    if (s.strength === 3) s.strength = 2;
    if (s.strength === 2) s.urges = isImperative(s.text);
  }
  return out;
}

// ---------------------------------------------------------------- session

/** State of one trajectory, shared by the mechanisms of a composition. */
class Session {
  constructor(ctx) {
    this.request = '';
    this.requestNorm = '';
    this.requestDates = [];
    this.requestAmounts = [];
    this.requestClasses = new Set();
    this.tools = new Map();
    for (const t of ctx.tools || []) this.tools.set(t.name, { name: t.name, description: t.description, effect: toolEffect(t) });
    this.observations = [];
    this.allowed = [];
    this.exposed = false;
    this.grants = [];
    this.segmenting = { reach: 1, gap: 4 };
    this.pending = null;
    this.addUserText(ctx.instruction || '');
  }

  /** What the user says has authority; later turns add to it. */
  addUserText(text) {
    if (!text) return;
    this.request = this.request ? `${this.request}\n${text}` : String(text);
    this.requestNorm = normalizeText(this.request);
    this.requestDates = extractDates(this.request);
    this.requestAmounts = extractAmounts(this.request);
    this.requestUrls = extractValues(this.request).filter((v) => v.kind === 'url' || v.kind === 'email').map((v) => v.value);
    this.requestClasses = requestedClasses(this.request);
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
    if (kind === 'url') return (this.requestUrls || []).some((u) => u === value || value.startsWith(`${u}/`) || u.startsWith(`${value}/`));
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
      for (const s of o.segments) {
        if (!segmentHas(s, needle, kind)) continue;
        out[s.strength === 2 ? 'meta' : s.strength === 1 ? 'plain' : 'data']++;
        if (s.urges) out.urged++;
        if (s.strength < 2 && s.named) out.named++;
        if (s.strength < 2 && s.alone) out.exact++;
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
    const effect = this.effectOf(call);
    const leaves = resultLeaves(result.content);
    const byRecord = new Map();
    const callNamed = argumentLeaves(call.arguments || {}).some((l) => normalizeText(l.text).length >= 3 && this.mentions(l.text));
    const segments = [];
    const named = new Map();
    const tell = (leaf) => { const k = `${leaf.key}=${leaf.text}`; named.set(k, (named.get(k) || new Set()).add(leaf.record)); };
    for (const leaf of leaves) {
      const parts = segmentLeaf(leaf.text, this.segmenting);
      const alone = parts.length === 1 && leaf.text.length <= 120;
      for (const p of parts) segments.push({ ...p, key: leaf.key, record: leaf.record, alone, named: false });
      if (leaf.key && alone && parts[0].strength < 2 && leaf.text.length >= 4 && this.mentions(leaf.text)) tell(leaf);
    }
    // What all records share tells none of them apart.
    const records = new Set(leaves.map((l) => l.record)).size;
    for (const told of named.values()) if (records === 1 || told.size < records) for (const r of told) byRecord.set(r, true);
    for (const s of segments) s.named = byRecord.size > 0 ? byRecord.has(s.record) : callNamed;
    const observation = { call, effect, error: result.isError, segments, named: byRecord.size > 0 || callNamed };
    if (segments.some((s) => s.strength === 2)) { this.exposed = true; observation.directive = true; }
    this.observations.push(observation);
    return observation;
  }

  /** Whether the user named this: the text stands in the request, or all its words do. */
  mentions(text) {
    const n = normalizeText(text);
    if (n.length < 3) return false;
    if (containsToken(this.requestNorm, n) || (this.requestUrls || []).includes(canonicalUrl(text))) return true;
    const at = /^([^@\s]+)@[^@\s]+$/.exec(n);
    if (at !== null) return at[1].split(/[._-]/).some((x) => x.length >= 3 && containsToken(this.requestNorm, x));
    const w = words(n.replace(/\.[a-z0-9]{2,4}$/, '').replace(/[-_.]/g, ' ')).filter((x) => x.length >= 3);
    return w.length >= 2 && w.every((x) => containsToken(this.requestNorm, x));
  }
}

/** Whether a segment holds a value. */
function segmentHas(segment, value, kind) {
  if (kind === 'date') {
    if (segment.dates === undefined) segment.dates = /\d/.test(segment.norm) ? extractDates(segment.norm) : [];
    return segment.dates.some((d) => sameDate(d, value));
  }
  if (kind === 'amount') {
    if (segment.amounts === undefined) segment.amounts = /\d/.test(segment.norm) ? extractAmounts(segment.norm) : [];
    return segment.amounts.includes(Number(value));
  }
  return containsToken(segment.norm, value);
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
