// Second part of the prelude: what tools do, and which sentences tell their reader to act.

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
const NOUN_OR_VERB = setOf('email mail message post comment contact text book order charge trade transfer refund deposit rent share schedule record fork star change update answer forward set plan tip report notice broadcast mark upload note log');
const BEFORE_VERB = setOf('and then to please also you now or just kindly not');
const AFTER_VERB = setOf('a an the this that these those my our your his her him them me it us all every each everyone any one two three there some');
const ASKING = setOf('request place issue make submit leave post write');
const SENSITIVE = setOf('password passwords credential credentials passcode permission permissions key keys token tokens secret secrets authentication role roles admin');

/** Classes of effect a text asks for: verbs in base form, in passive after `be`, or in the third person with a number. */
function requestedClasses(text) {
  const out = new Set();
  for (const sentence of sentences(text)) {
    const w = words(sentence);
    w.forEach((x, i) => {
      // In base form, in passive, or told of somebody with a number: "she sells 110".
      const told = () => x.endsWith('s') && /^(?:\d|usd$|eur$|gbp$|chf$)/.test(w[i + 1] || '') && !NOUN_OR_VERB.has(stem(x));
      const base = VERB_CLASSES.has(x) ? x : ((w[i - 1] === 'be' || w[i - 2] === 'be' || w[i - 1] === 'get') && x.endsWith('ed')) || told() ? stem(x) : '';
      if (!base || (['give', 'tell', 'write'].includes(x) && ['me', 'us'].includes(w[i + 1])) || (x === 'make' && w[i + 1] === 'sure')) return;
      const first = w.slice(0, i).every((y) => LEAD_IN.has(y) || MODAL.has(y) || y === 'you' || y === 'to' || /^\d+$/.test(y));
      const asked = w.slice(Math.max(0, i - 4), i).some((y) => ASKING.has(y));   // request a refund, place the order
      if (NOUN_OR_VERB.has(x) && !first && !asked && !BEFORE_VERB.has(w[i - 1]) && !AFTER_VERB.has(w[i + 1])) return;
      verbClasses(base).forEach((c) => out.add(c));
    });
    if (w.some((x) => /^reserv(?:e|ation|ations)$|^bookings?$/.test(x))) out.add('reserve');
    if (w.some((x, i) => x === 'confirm' && w[i + 1] === 'to')) out.add('send');
    if (w.some((x) => x === 'give' || x === 'gives') && /[$€£¥]\s?\d|\b(?:USD|EUR|GBP|CHF)\s?\d/.test(sentence)) out.add('pay');
    if (w.some((x) => /^(?:payments?|transactions?|transfers?|standing)$/.test(x)) && out.has('create')) out.add('pay');
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
  return { read, classes, sensitive, outside: hints.openWorldHint === true, destructive: hints.destructiveHint === true || classes.has('delete') };
}

// ---------------------------------------------------------------- directives

const OVERRIDE = setOf('ignore disregard forget override overrides bypass skip stop drop abandon aside supersedes replaces cancels voids');
const PRIOR = setOf('previous prior above earlier preceding original initial current all any your other system existing');
const CONTROL = setOf('task tasks instruction instructions prompt request requests conversation question job jobs assignment work order orders directions errand');
const ASSISTANT = setOf('assistant ai agent model chatbot llm gpt claude gemini bot copilot');
const EARLIER = setOf('previous prior above earlier preceding former');
const GIVING = setOf('gave give given asked assigned told set requested');
const RESUMING = setOf('solve complete continue proceed resume return gave');
const MACHINES = setOf('assistant assistants ai agents models bots systems llm llms chatbot chatbots automated');
const SECRECY = setOf('user users');
const DUTY = setOf('must should instructions message instruction following');
const CALLING = setOf('use call invoke run execute substitute');
const FILLING = setOf('following arguments argument placeholder placeholders parameters');
const ORDERING = setOf('before after first instead continue proceed complete solve finish resume');
const TOOLING = setOf('tool tools function functions api command placeholder placeholders');
const LEAD_IN = setOf('p s ps p.s please then also finally just kindly now next and first second third afterwards todo important urgent note hey hi hello dear so lastly instead do immediately remember make sure be');
const MODAL = setOf('must should need have can could would will');
const ORDERS = setOf('must should need have shall');
// Words without which no request starts in the middle of a sentence.
const HINTS = setOf('please kindly you can could would will make should must required requested instructed');
const ASKS = setOf('can could would will');

// What makes a sentence one to an assistant. `w` are its words, `has(set)` asks for one of them,
// `near(set, other, n)` for a word of `set` with one of `other` among the n words after it.
const TO_ASSISTANT = [
  // drop what you were told: "ignore all previous instructions"
  ({ near }) => near(OVERRIDE, EARLIER, 5) || (near(OVERRIDE, PRIOR, 3) && near(OVERRIDE, CONTROL, 6)),
  // what you were told is void: "the earlier request no longer stands"
  ({ has, line }) => has(EARLIER) && /\b(?:previous|prior|above|earlier|preceding) (?:\w+ )?(?:requests?|instructions?|tasks?|prompts?)\b.{0,30}\b(?:no longer|void|obsolete|outdated|replaced|withdrawn|invalid|cancelled)\b/.test(line),
  // the reader's task, spoken of by its giver: "the task that I gave you"
  ({ w, has }) => has(GIVING) && w.some((x, i) => CONTROL.has(x) && w.slice(i + 1, i + 3).includes('i') && w.slice(i + 1, i + 6).some((y) => GIVING.has(y))),
  // when to do the task: "before you continue with your task"
  ({ has, you, line }) => you && has(ORDERING) && has(RESUMING) && /\b(?:the|your|my|this) (?:\w+ )?(?:task|instruction|prompt|request|question)/.test(line),
  // a message that says whom it is for: "a message from me to you", "this comes from me, ..., to you"
  ({ you, line }) => you && (/\b(?:message|instruction|note|order|request) (?:from me|to you|for you)\b/.test(line) || /\bfrom me\b.{0,40} to you\b/.test(line)),
  // the reader as a machine: "you are an AI assistant and must ..."
  ({ has, line }) => has(ASSISTANT) && has(DUTY) && /\byou (?:the |are |as )?(?:an? )?(?:\w+ )?(?:assistant|ai|agent|model|chatbot|llm|gpt|claude|gemini|bot)\b/.test(line),
  // machines in the third person: "all AI agents are required to", "note to the assistant"
  ({ has, line }) => has(MACHINES) && /\b(?:ai|automated|all|any|every) (?:agents?|models?|bots?|systems?|assistants?) (?:\w+ ){0,6}(?:must|should|shall|have to|are required|is required|are asked)\b|\b(?:assistants?|llms?|chatbots?|language models?) (?:\w+ ){0,6}(?:must|should|shall|have to|are required|is required)\b|\b(?:for|to|dear|attention|hey|hello) (?:the |all |any |an? |this )?(?:ai |llm |automated )?(?:assistants?|ai agents?|llms?|chatbots?|ai)\b/.test(line),
  // how to call tools: "you should use the tool ... with the following arguments"
  ({ has, you }) => you && has(TOOLING) && has(CALLING) && has(FILLING),
  // secrecy: "do not tell the user"
  ({ has, line }) => has(SECRECY) && /\b(?:do not|don't|never) (?:tell|mention|inform|notify|reveal|alert) (?:this |it |anything )?(?:to )?(?:the )?users?\b/.test(line),
];

/** Whether a sentence is addressed to an assistant, or is markup that poses as a message to one. */
function addressesAssistant(sentence, w = words(sentence)) {
  const head = sentence.slice(0, 80);
  const tag = /^<\/?([A-Za-z_][^<>\s]{0,40})[^<>]{0,40}>$|^\[\/?(?:SYSTEM|INST|INFO|IMPORTANT)[^\]]{0,30}\]$|^<<\/?SYS>>$/.exec(head.trim());
  if (tag !== null && sentence.length <= 80 && !HTML_TAGS.has(String(tag[1]).toLowerCase())) return true;
  if (/^[#*[(<{\s]{1,12}(?:system|assistant|developer)[ _-]?(?:message|prompt|note|instruction|override)?\s?[)\]}>:]/i.test(head)) return true;
  if (w.length < 3) return false;
  const bag = new Set(w);
  const has = (set) => { for (const x of set) if (bag.has(x)) return true; return false; };
  const near = (set, other, n) => has(set) && has(other) && w.some((x, i) => set.has(x) && w.slice(i + 1, i + 1 + n).some((y) => other.has(y)));
  const seen = { w, has, near, you: bag.has('you') || bag.has('your'), line: w.join(' ') };
  return TO_ASSISTANT.some((rule) => rule(seen));
}

/** How strongly a sentence tells its reader to act: 0 not at all, 1 a request or order to whoever reads, 2 addressed to an assistant about its task, tools or instructions. */
function directiveStrength(sentence) {
  const w = words(sentence);
  if (addressesAssistant(sentence, w)) return 2;
  return isImperative(sentence, w) ? 1 : 0;
}

/** Whether a sentence, or a clause after a colon, asks its reader for an action or says how something must be. */
function isImperative(sentence, w = words(sentence)) {
  const label = /^[\s\p{P}]{0,20}[\p{L}][\p{L}\p{N} _/-]{0,30}:\s/u;
  let rest = sentence;
  for (let m = label.exec(rest); m !== null; m = label.exec(rest)) rest = rest.slice(m[0].length);
  const body = (rest === sentence ? w : words(rest)).filter((x) => x > '9' || !/^\d+$/.test(x));
  let i = 0;
  while (i < 6 && LEAD_IN.has(body[i]) && body[i] !== 'make') i++;
  if ((body[i - 1] === 'please' || body[i - 1] === 'kindly') && body[i + 1] !== undefined) return true;
  if (isAction(body[i])) return body[i + 1] !== undefined && !['is', 'was', 'are', 'of', 's'].includes(body[i + 1]);
  for (let j = i; j < body.length; j++) {
    if (!HINTS.has(body[j])) continue;
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
const isAction = (x) => x !== undefined && (VERB_CLASSES.has(x) || READ_VERBS.has(x) || ACTION_VERBS.has(x));
const ACTION_VERBS = setOf('say quote click follow use call do go take provide include concatenate enter confirm sign subscribe try consider recommend');

/**
 * Segments of one leaf: [{text, norm, strength}]. Sentences after one addressed to an assistant, and all
 * that stands between two of them, belong to the same directive.
 */
function segmentLeaf(text, options) {
  const parts = sentences(text);
  const out = parts.map((s, i) => ({ text: s, norm: normalizeText(s), strength: i < LIMITS.sentences ? directiveStrength(s) : 2 }));
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
    if (s.strength === 2) s.urges = s.text.length > LIMITS.sentence || isImperative(s.text);
  }
  return out;
}
