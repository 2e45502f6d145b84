// Third part of the prelude: what tools do, and which sentences tell their reader to act.

// ---------------------------------------------------------------- effects

const setOf = (text) => new Set(text.split(' '));

// Verb -> class of effect. Base forms; `stem` maps inflections onto them.
const VERB_CLASSES = (() => {
  const classes = {
    send: 'send email mail message post reply respond notify forward publish text dm tell announce broadcast tweet comment submit upload write contact ask',
    pay: 'pay transfer refund reimburse wire remit buy purchase order checkout charge deposit withdraw sell trade donate tip',
    create: 'create add make schedule append insert generate write compose draft save put set remind register setup record upload commit fork note enter log',
    delete: 'delete remove cancel erase clear drop unsubscribe discard trash kick uninstall revoke close purge wipe',
    update: 'update change modify edit reschedule move rename adjust set put append add correct replace mark increase decrease reset renew extend merge',
    share: 'share grant invite add give allow permit collaborate transfer star',
    reserve: 'reserve book rent schedule',
    execute: 'execute run install deploy launch start enable disable activate deactivate',
  };
  const out = new Map();
  for (const name of Object.keys(classes)) for (const verb of classes[name].split(' ')) out.set(verb, [...(out.get(verb) || []), name]);
  return out;
})();
const READ_VERBS = new Set('get list read search find fetch show view look lookup query check retrieve return returns describe count browse visit open see summarize calculate compare verify scan current download navigate'.split(' '));

const INFLECTIONS = [['ies', 'y'], ['es', ''], ['es', 'e'], ['s', ''], ['ing', ''], ['ing', 'e'], ['ed', ''], ['ed', 'e']];

/** Base form of a verb in one of its regular inflections. */
function stem(word) {
  if (VERB_CLASSES.has(word) || READ_VERBS.has(word)) return word;
  const last = word[word.length - 1];
  if (last !== 's' && last !== 'g' && last !== 'd') return word;
  for (const [end, add] of INFLECTIONS) {
    if (!word.endsWith(end) || word.length - end.length < 2) continue;
    const base = word.slice(0, -end.length) + add;
    if (VERB_CLASSES.has(base) || READ_VERBS.has(base)) return base;
    const single = base[base.length - 1] === base[base.length - 2] ? base.slice(0, -1) : base;
    if (VERB_CLASSES.has(single) || READ_VERBS.has(single)) return single;
  }
  return word;
}

/** Classes of effect that a word names; empty for other words. */
const verbClasses = (word) => VERB_CLASSES.get(stem(word)) || [];

// Words that are nouns as often as verbs: as a request they count only where they stand as a verb.
const NOUN_OR_VERB = setOf('email mail message post comment contact text book order charge trade transfer refund deposit rent share schedule record fork star change update answer forward set plan tip report notice broadcast mark upload note log');
const BEFORE_VERB = setOf('and then to please also you now or just kindly not');
const AFTER_VERB = setOf('a an the this that these those my our your his her him them me it us all every each everyone any one two three there some');
const ASKING = setOf('request place issue make submit leave post write');
const RESERVING = setOf('reserve reservation reservations booking bookings');
const PAYING = setOf('payment payments transaction transactions transfer transfers standing');
const ABOUT_RESERVING = setOf('reserve reserves reservation book booking');
const ABOUT_MONEY = setOf('money payment payments transaction transactions funds');
const SENSITIVE = setOf('password passwords credential credentials passcode permission permissions key keys token tokens secret secrets authentication role roles admin');

/** Classes of effect a text asks for: verbs in base form, in passive after `be`, or in the third person with a number. */
function requestedClasses(text) {
  const out = new Set();
  for (const sentence of sentences(text)) {
    const w = words(sentence);
    w.forEach((x, i) => {
      // In base form, in passive, or told of somebody with a number: "she sells 110".
      let base = '';
      if (VERB_CLASSES.has(x)) base = x;
      else if (x.endsWith('ed')) base = w[i - 1] === 'be' || w[i - 2] === 'be' || w[i - 1] === 'get' ? stem(x) : '';
      else if (x.endsWith('s') && /^(?:\d|usd$|eur$|gbp$|chf$)/.test(w[i + 1] || '')) base = NOUN_OR_VERB.has(stem(x)) ? '' : stem(x);
      if (!base || (['give', 'tell', 'write'].includes(x) && ['me', 'us'].includes(w[i + 1])) || (x === 'make' && w[i + 1] === 'sure')) return;
      const first = w.slice(0, i).every((y) => LEAD_IN.has(y) || MODAL.has(y) || y === 'you' || y === 'to' || /^\d+$/.test(y));
      const asked = w.slice(Math.max(0, i - 4), i).some((y) => ASKING.has(y));   // request a refund, place the order
      if (NOUN_OR_VERB.has(x) && !first && !asked && !BEFORE_VERB.has(w[i - 1]) && !AFTER_VERB.has(w[i + 1])) return;
      verbClasses(base).forEach((c) => out.add(c));
    });
    if (w.some((x) => RESERVING.has(x))) out.add('reserve');
    if (w.some((x, i) => x === 'confirm' && w[i + 1] === 'to')) out.add('send');
    if ((w.includes('give') || w.includes('gives')) && /[$€£¥]\s?\d|\b(?:USD|EUR|GBP|CHF)\s?\d/.test(sentence)) out.add('pay');
    if (out.has('create') && w.some((x) => PAYING.has(x))) out.add('pay');
  }
  return out;
}

/**
 * What a tool does: {read, classes, destructive, sensitive, outside}. Annotations are believed first, then the leading
 * verb of the description, then the name. Unknown tools count as effects. `classes`: those of the leading verb and of
 * the verb in the name; `sensitive`: words for credentials and permissions that it is about; `outside`: it says
 * itself that it reaches people or text outside (`openWorldHint`).
 */
function toolEffect(tool) {
  const hints = tool.annotations || {};
  const name = String(tool.name || '');
  const nameWords = (/[A-Z]/.test(name) ? name.replace(/([a-z])([A-Z])/g, '$1 $2') : name).toLowerCase().match(/[a-z]+/g) || [];
  const descWords = words(/^[^.\n]*/.exec(String(tool.description || ''))[0]).slice(0, 12);
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
    if (about.some((w) => ABOUT_RESERVING.has(w))) classes.add('reserve');
    if (about.some((w) => ABOUT_MONEY.has(w))) classes.add('pay');
    if (classes.size === 0) descWords.forEach((w) => verbClasses(w).forEach((c) => classes.add(c)));
  }
  const sensitive = read ? [] : [...nameWords, ...descWords].filter((w) => SENSITIVE.has(w));
  return { read, classes, sensitive, outside: hints.openWorldHint === true, destructive: hints.destructiveHint === true || classes.has('delete') };
}

// ---------------------------------------------------------------- directives

// Words that directives are told by. Each sentence is looked at word by word once: what its words can mean is one
// bit each, and the rules below ask the bits first. Most sentences have none of them.
const ACTION_VERBS = setOf('say quote click follow use call do go take provide include concatenate enter confirm sign subscribe try consider recommend');
const isAction = (x) => x !== undefined && (VERB_CLASSES.has(x) || READ_VERBS.has(x) || ACTION_VERBS.has(x));
const LEAD_IN = setOf('p s ps p.s please then also finally just kindly now next and first second third afterwards todo important urgent note hey hi hello dear so lastly instead do immediately remember make sure be');
const MODAL = setOf('must should need have can could would will');
const ORDERS = setOf('must should need have shall');
const ASKS = setOf('can could would will');
const MARKS = Object.freeze({
  OVERRIDE: 1, PRIOR: 2, CONTROL: 4, ASSISTANT: 8, EARLIER: 16, GIVING: 32, RESUMING: 64, MACHINES: 128, SECRECY: 256,
  DUTY: 512, CALLING: 1024, FILLING: 2048, ORDERING: 4096, TOOLING: 8192, HINT: 16384, ACTION: 32768, YOU: 65536,
});
const MARKED = (() => {
  const table = {
    OVERRIDE: 'ignore disregard forget override overrides bypass skip stop drop abandon aside supersedes replaces cancels voids',
    PRIOR: 'previous prior above earlier preceding original initial current all any your other system existing',
    CONTROL: 'task tasks instruction instructions prompt request requests conversation question job jobs assignment work order orders directions errand',
    ASSISTANT: 'assistant ai agent model chatbot llm gpt claude gemini bot copilot',
    EARLIER: 'previous prior above earlier preceding former',
    GIVING: 'gave give given asked assigned told set requested',
    RESUMING: 'solve complete continue proceed resume return gave',
    MACHINES: 'assistant assistants ai agents models bots systems llm llms chatbot chatbots automated',
    SECRECY: 'user users',
    DUTY: 'must should instructions message instruction following',
    CALLING: 'use call invoke run execute substitute',
    FILLING: 'following arguments argument placeholder placeholders parameters',
    ORDERING: 'before after first instead continue proceed complete solve finish resume',
    TOOLING: 'tool tools function functions api command placeholder placeholders',
    // Words without which no request starts in the middle of a sentence.
    HINT: 'please kindly you can could would will make should must required requested instructed',
    YOU: 'you your',
  };
  const out = new Map();
  const mark = (word, bit) => out.set(word, (out.get(word) || 0) | bit);
  for (const name of Object.keys(table)) for (const word of table[name].split(' ')) mark(word, MARKS[name]);
  for (const verbs of [VERB_CLASSES.keys(), READ_VERBS, ACTION_VERBS]) for (const verb of verbs) mark(verb, MARKS.ACTION);
  return out;
})();

/** All marks of some words together. */
function marksOf(w) {
  let marks = 0;
  for (let i = 0; i < w.length; i++) marks |= MARKED.get(w[i]);
  return marks;
}

// What makes a sentence one to an assistant: the marks that it must have, each of a row one at least, and the rule.
// `w` are its words, `is(word, mark)` asks for a mark, `near(mark, other, n)` for a word of one mark with one
// of the other among the n words after it.
const TO_ASSISTANT = (() => {
  const { OVERRIDE, PRIOR, CONTROL, ASSISTANT, EARLIER, GIVING, RESUMING, MACHINES, SECRECY, DUTY, CALLING, FILLING, ORDERING, TOOLING, YOU } = MARKS;
  return [
    // drop what you were told: "ignore all previous instructions"
    [[OVERRIDE, EARLIER | PRIOR], ({ near }) => near(OVERRIDE, EARLIER, 5) || (near(OVERRIDE, PRIOR, 3) && near(OVERRIDE, CONTROL, 6))],
    // what you were told is void: "the earlier request no longer stands"
    [[EARLIER], ({ line }) => /\b(?:previous|prior|above|earlier|preceding) (?:\w+ )?(?:requests?|instructions?|tasks?|prompts?)\b.{0,30}\b(?:no longer|void|obsolete|outdated|replaced|withdrawn|invalid|cancelled)\b/.test(line())],
    // the reader's task, spoken of by its giver: "the task that I gave you"
    [[GIVING, CONTROL], ({ w, is }) => w.some((x, i) => is(x, CONTROL) && w.slice(i + 1, i + 3).includes('i') && w.slice(i + 1, i + 6).some((y) => is(y, GIVING)))],
    // when to do the task: "before you continue with your task"
    [[YOU, ORDERING, RESUMING], ({ line }) => /\b(?:the|your|my|this) (?:\w+ )?(?:task|instruction|prompt|request|question)/.test(line())],
    // a message that says whom it is for: "a message from me to you", "this comes from me, ..., to you"
    [[YOU], ({ line }) => [' from me', ' to you', ' for you', 'from me '].some((x) => line().includes(x)) && (/\b(?:message|instruction|note|order|request) (?:from me|to you|for you)\b/.test(line()) || /\bfrom me\b.{0,40} to you\b/.test(line()))],
    // the reader as a machine: "you are an AI assistant and must ..."
    [[ASSISTANT, DUTY], ({ line }) => /\byou (?:the |are |as )?(?:an? )?(?:\w+ )?(?:assistant|ai|agent|model|chatbot|llm|gpt|claude|gemini|bot)\b/.test(line())],
    // machines in the third person: "all AI agents are required to", "note to the assistant"
    [[MACHINES], ({ line }) => /\b(?:ai|automated|all|any|every) (?:agents?|models?|bots?|systems?|assistants?) (?:\w+ ){0,6}(?:must|should|shall|have to|are required|is required|are asked)\b|\b(?:assistants?|llms?|chatbots?|language models?) (?:\w+ ){0,6}(?:must|should|shall|have to|are required|is required)\b|\b(?:for|to|dear|attention|hey|hello) (?:the |all |any |an? |this )?(?:ai |llm |automated )?(?:assistants?|ai agents?|llms?|chatbots?|ai)\b/.test(line())],
    // how to call tools: "you should use the tool ... with the following arguments"
    [[YOU, TOOLING, CALLING, FILLING], () => true],
    // secrecy: "do not tell the user"
    [[SECRECY], ({ line }) => /\b(?:do not|don't|never) (?:tell|mention|inform|notify|reveal|alert) (?:this |it |anything )?(?:to )?(?:the )?users?\b/.test(line())],
  ];
})();
const NOT_HINT_OR_ACTION = ~(MARKS.HINT | MARKS.ACTION);

/** Whether a sentence is addressed to an assistant, or is markup that poses as a message to one. */
function addressesAssistant(sentence, w = words(sentence), marks = marksOf(w)) {
  if (/^[#*[(<{\s]/.test(sentence)) {
    const head = sentence.slice(0, 80);
    const tag = /^<\/?([A-Za-z_][^<>\s]{0,40})[^<>]{0,40}>$|^\[\/?(?:SYSTEM|INST|INFO|IMPORTANT)[^\]]{0,30}\]$|^<<\/?SYS>>$/.exec(head.trim());
    if (tag !== null && sentence.length <= 80 && !HTML_TAGS.has(String(tag[1]).toLowerCase())) return true;
    if (/^[#*[(<{\s]{1,12}(?:system|assistant|developer)[ _-]?(?:message|prompt|note|instruction|override)?\s?[)\]}>:]/i.test(head)) return true;
  }
  if (w.length < 3 || (marks & NOT_HINT_OR_ACTION) === 0) return false;
  let joined;
  const is = (word, mark) => (MARKED.get(word) & mark) !== 0;
  const near = (mark, other, n) => (marks & mark) !== 0 && (marks & other) !== 0 && w.some((x, i) => is(x, mark) && w.slice(i + 1, i + 1 + n).some((y) => is(y, other)));
  const seen = { w, is, near, line: () => joined ?? (joined = w.join(' ')) };
  return TO_ASSISTANT.some(([needs, rule]) => needs.every((mark) => (marks & mark) !== 0) && rule(seen));
}

/** How strongly a sentence tells its reader to act: 0 not at all, 1 a request or order to whoever reads, 2 addressed to an assistant about its task, tools or instructions. */
function directiveStrength(sentence) {
  const w = words(sentence);
  const marks = marksOf(w);
  if (addressesAssistant(sentence, w, marks)) return 2;
  return ordersReader(sentence, w, marks) ? 1 : 0;
}

/** Whether a sentence, or a clause after a colon, asks its reader for an action or says how something must be. */
function isImperative(sentence, w = words(sentence)) {
  return ordersReader(sentence, w, marksOf(w));
}

function ordersReader(sentence, w, marks) {
  // Without an action or a hint among the words nothing below holds; in ASCII the words are all there is.
  if ((marks & (MARKS.HINT | MARKS.ACTION)) === 0 && isAscii(sentence)) return false;
  const label = /^[\s\p{P}]{0,20}[\p{L}][\p{L}\p{N} _/-]{0,30}:\s/u;
  let rest = sentence;
  if (sentence.includes(':')) for (let m = label.exec(rest); m !== null; m = label.exec(rest)) rest = rest.slice(m[0].length);
  const body = (rest === sentence ? w : words(rest)).filter((x) => x > '9' || !/^\d+$/.test(x));
  let i = 0;
  while (i < 6 && LEAD_IN.has(body[i]) && body[i] !== 'make') i++;
  if ((body[i - 1] === 'please' || body[i - 1] === 'kindly') && body[i + 1] !== undefined) return true;
  if (isAction(body[i])) return body[i + 1] !== undefined && !['is', 'was', 'are', 'of', 's'].includes(body[i + 1]);
  for (let j = i; j < body.length; j++) {
    if (!(MARKED.get(body[j]) & MARKS.HINT)) continue;
    if ((body[j] === 'please' || body[j] === 'kindly') && body.slice(j + 1, j + 4).some(isAction)) return true;
    if (body[j] === 'you' && ORDERS.has(body[j + 1]) && body.slice(j + 2, j + 5).some(isAction)) return true;
    if (body[j + 1] === 'you' && ASKS.has(body[j]) && body.slice(j + 2, j + 5).some(isAction)) return true;
    if (body[j] === 'make' && body[j + 1] === 'sure') return true;
    if ((body[j] === 'must' || body[j] === 'should') && (body[j + 1] === 'be' || isAction(body[j + 1]))) return true;
    if ((body[j] === 'required' || body[j] === 'requested' || body[j] === 'instructed') && body[j + 1] === 'to') return true;
  }
  const clause = !rest.includes(': ') ? null : /:\s+(\p{L}+|Please \p{L}+)\s+\S/u.exec(rest);
  return clause !== null && clause[1].toLowerCase().split(' ').some((x) => x === 'please' || isAction(x));
}

// A sentence in which a word of MARKED stands, or that begins as markup does, or with letters that may fold to others.
const TELLING = `(?i)${wholeWord(Array.from(MARKED.keys()))}|(?:\\A|\\x00)[#*\\[(<{\\s]|(?-i:[^\\x00-\\x7f])`;

/**
 * How strongly each sentence of one leaf directs. Sentences after one addressed to an assistant (`reach`), and all
 * that stands between two of them (`gap`), belong to the same directive. `may(i)`: whether sentence i may direct at all.
 */
function strengthsOf(parts, { reach, gap }, may) {
  const out = parts.map((s, i) => (i >= LIMITS.sentences ? 2 : may(i) ? directiveStrength(s) : 0));
  if (out.length === 1 || !out.includes(2)) return out;
  let last = -1;
  for (let i = 0; i < out.length; i++) {
    if (out[i] < 2) continue;
    if (last >= 0 && i - last - 1 <= gap) for (let j = last + 1; j < i; j++) out[j] = 3;
    last = i;
  }
  for (let i = out.length - 1; i >= 0; i--) {
    if (out[i] !== 2) continue;
    let steps = 0;
    for (let j = i + 1; j < out.length && out[j] < 2 && steps < reach; j++, steps++) out[j] = 3;
  }
  return out.map((strength) => Math.min(strength, 2));
}

/** A sentence of a result. What it means is worked out when it is asked for: most sentences are never asked. */
class Segment {
  constructor(text, group, place) {
    this.text = text;
    this.group = group;                                     // {of, leaf, parts, alone, from, strengths}: the sentences of its leaf
    this.place = place;
    this.named = false;                                     // in a source that the user named
  }

  get key() { return this.group.leaf.key; }
  get record() { return this.group.leaf.record; }
  /** Nothing else stands in its leaf, and it is short. */
  get alone() { return this.group.alone; }

  /** In the form in which values are compared. */
  get norm() {
    return this.normal ?? (this.normal = normalizeText(this.text));
  }

  /** As `directiveStrength`, with what belongs to the same directive. */
  get strength() {
    const { group } = this;
    return (group.strengths ?? (group.strengths = strengthsOf(group.parts, group.of.segmenting, (i) => group.of.telling[group.from + i])))[this.place];
  }

  /** Whether a directive itself asks for an action. */
  get urges() {
    if (this.strength !== 2) return undefined;
    return this.urging ?? (this.urging = this.text.length > LIMITS.sentence || isImperative(this.text));
  }
}
