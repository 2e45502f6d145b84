// Prelude of every JavaScript harness: pure helpers, no I/O, no state outside `compose`.
//
// A plain script: the provider runs it before the candidate, then freezes its names. The
// host functions `classify(question, text)`, `regexFindAll(pattern, text)` and `log(message)`
// come from the provider, not from here. Everything is deterministic and close to linear in
// its input. What goes beyond LIMITS is not analysed but counts as directed at the assistant.

const LIMITS = Object.freeze({ text: 200000, token: 300, leaves: 20000, depth: 24, sentences: 4000, sentence: 1500, owed: 60000 });

// ---------------------------------------------------------------- decisions

const allow = () => Object.freeze({ do: 'allow' });
const rewrite = (args) => Object.freeze({ do: 'rewrite', arguments: args });
const redirect = (call) => Object.freeze({ do: 'redirect', call });
const block = (reason) => Object.freeze({ do: 'block', reason: String(reason) });
const keep = () => Object.freeze({ do: 'keep' });
const replace = (text) => Object.freeze({ do: 'replace', text: String(text) });

// ---------------------------------------------------------------- text

// Patterns with the `g` flag are made where they are used: the provider freezes top-level values.
const CONFUSABLE_FROM = 'аеорсухіјѕԁһӏԛԝАВЕКМНОРСТХІЈЅοαινρτυκΑΒΕΖΗΙΚΜΝΟΡΤΥΧ‐‑‒–—−’‘‛′“”„″‚․⁄∕：';
const CONFUSABLE_TO = 'aeopcyxijsdhlqwABEKMHOPCTXIJSoaivptukABEZHIKMNOPTYX------\'\'\'\'"""",.//:';
const CONFUSABLE = new Map(Array.from(CONFUSABLE_FROM).map((c, i) => [c, CONFUSABLE_TO[i]]));

// The engine has no faster test: an anchored loop over one class is its quickest pattern, and a search its slowest.
const isAscii = (text) => /^[\x00-\x7f]*$/.test(text);   // eslint-disable-line no-control-regex
/** ASCII in which the only white space is single spaces between words: nothing to fold but case. */
const isPlain = (text) => /^(?:[\x00-\x08\x0e-\x1f!-\x7f]+(?: [\x00-\x08\x0e-\x1f!-\x7f]+)*)?$/.test(text);   // eslint-disable-line no-control-regex

const withoutInvisible = (text) => text.replace(/[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]|\udb40[\udc00-\udfff]/g, '');

/** Text without zero-width, bidirectional and tag characters. */
function stripInvisible(text) {
  const t = String(text);
  return isAscii(t) ? t : withoutInvisible(t);
}

/** NFKC, no invisible characters, look-alike letters folded to Latin ones. Keeps case and spacing. */
function foldText(text) {
  const t = String(text);
  if (isAscii(t)) return t;
  return withoutInvisible(t).normalize('NFKC').replace(/[^\x00-\x7f]/gu, (c) => CONFUSABLE.get(c) || c);   // eslint-disable-line no-control-regex
}

/** `foldText`, lower case, white space collapsed: the form in which values are compared. */
function normalizeText(text) {
  const given = String(text);
  if (isPlain(given)) return given.toLowerCase();
  const t = foldText(given).toLowerCase();
  return (/[\t-\r\u00a0\u2000-\u3000]|  /.test(t) ? t.replace(/\s+/g, ' ') : t).trim();
}

/** Lower-case words of a text; letters and digits with inner `'`, `-` and `_`. */
function words(text) {
  const given = String(text);
  if (isAscii(given)) return given.toLowerCase().match(/[a-z0-9]+(?:['_-][a-z0-9]+)*/g) || [];
  const t = foldText(given).toLowerCase();
  return (isAscii(t) ? t.match(/[a-z0-9]+(?:['_-][a-z0-9]+)*/g) : t.match(/[\p{L}\p{N}]+(?:['_-][\p{L}\p{N}]+)*/gu)) || [];
}

const isWordChar = (c) => c !== undefined && c !== '' && (c <= '\x7f' ? /\w/.test(c) : /[\p{L}\p{N}]/u.test(c));

/** Whether `needle` stands in `haystack` as a whole token; both already normalised. A number is not part of a longer number, date or time. */
function containsToken(haystack, needle) {
  if (needle === '') return false;
  for (let at = haystack.indexOf(needle); at >= 0; at = haystack.indexOf(needle, at + 1)) {
    const end = at + needle.length;
    const left = !isWordChar(needle[0]) || !(isWordChar(haystack[at - 1]) || joinsNumber(haystack, at - 1, at - 2, needle[0]));
    const right = !isWordChar(needle[needle.length - 1]) || !(isWordChar(haystack[end]) || joinsNumber(haystack, end, end + 1, needle[needle.length - 1]));
    if (left && right) return true;
  }
  return false;
}
const isDigit = (c) => c !== undefined && c >= '0' && c <= '9';
const joinsNumber = (text, at, beyond, edge) => isDigit(edge) && '-:./,'.includes(text[at] || ' ') && isDigit(text[beyond]);

/**
 * Sentences of a text: cut at line breaks, at marks such as `###`, `<TAG>` or `----`, and after `.`, `!`, `?`, `;`. Longer
 * ones come in pieces that overlap. At most LIMITS.sentences; the last then holds all that is left.
 */
function sentences(text) {
  const given = String(text);
  if (given.length <= LIMITS.sentence && /^[^\n.!?;<[#=*]*$/.test(given) && !given.includes('----')) {
    const only = given.trim();
    return only === '' ? [] : [only];
  }
  const out = [];
  const full = () => out.length >= LIMITS.sentences;
  const add = (piece) => {
    const t = piece.trim();
    for (let i = 0; t !== '' && (i === 0 || i + 100 < t.length) && !full(); i += LIMITS.sentence - 100) out.push(t.slice(i, i + LIMITS.sentence));
  };
  const lines = [];
  for (const line of given.split('\n')) {
    if ((/^[^<[#=*]*$/.test(line) && !line.includes('----')) || !/[<[]|##|----|====|\*{4}/.test(line)) lines.push(line);
    else lines.push(...line.split(/(?=(?<!#)##|<\/?[A-Za-z][^<>]{0,40}>|\[\/?[A-Z]{3,12}\])|(?<=[A-Za-z]>)|[-=*]{4,}/));
  }
  for (let k = 0; k < lines.length; k++) {
    if (full()) { out.push(lines.slice(k).join('\n')); break; }
    const line = lines[k];
    if (/^[^.!?;]*$/.test(line)) { add(line); continue; }
    let from = 0;
    const cut = /[.!?;]["')\]]{0,3}(?:\s+|(?=[A-Z][A-Za-z]*[ :]))/g;
    for (let m = cut.exec(line); m !== null; m = cut.exec(line)) {
      const head = line.slice(Math.max(from, cut.lastIndex - 40), cut.lastIndex).trim();
      if (m[0].trim() === m[0] && /[A-Z.]/.test(line[m.index - 1] || '')) continue;
      if (/^(?:\S{0,3}\d+|[A-Za-z])\.$/.test(head) || /\b(?:e\.g|i\.e|etc|mr|mrs|ms|dr|no|vs)\.$/i.test(head)) continue;
      add(line.slice(from, cut.lastIndex));
      from = cut.lastIndex;
    }
    add(line.slice(from));
  }
  return out;
}

// ---------------------------------------------------------------- values

const MONTHS = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november', 'december'];
const MONTH_NUMBERS = new Map(MONTHS.flatMap((m, i) => [[m, i + 1], [m.slice(0, 3), i + 1]]).concat([['sept', 9]]));
const monthNumber = (word) => MONTH_NUMBERS.get(word) || 0;
const pad = (n) => String(n).padStart(2, '0');

/** Dates in a text as `YYYY-MM-DD`, year `*` where none is given. Knows ISO and English day-month forms. */
function extractDates(text) {
  const found = [];
  const t = foldText(text);
  if (!/\d/.test(t)) return found;
  const iso = /\b(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?!\d)/g;
  for (let m = iso.exec(t); m !== null; m = iso.exec(t)) found.push(`${m[1]}-${pad(m[2])}-${pad(m[3])}`);
  const w = t.toLowerCase().match(/[a-z]+|\d+(?:st|nd|rd|th)?/g) || [];
  const day = (token) => { const m = /^(\d{1,2})(?:st|nd|rd|th)?$/.exec(token || ''); return m && +m[1] >= 1 && +m[1] <= 31 ? +m[1] : 0; };
  for (let i = 0; i < w.length; i++) {
    const month = monthNumber(w[i]);
    if (!month) continue;
    const days = [];
    let year = '*';
    if (day(w[i + 1])) {                                   // May 1st(, 2024)
      days.push(day(w[i + 1]));
      if (/^\d{4}$/.test(w[i + 2] || '')) year = w[i + 2];
    } else if (/^\d{4}$/.test(w[i + 1] || '')) year = w[i + 1];
    for (let j = i - 1; j >= 0 && j >= i - 6; j--) {        // 13th to the 17th of May
      if (day(w[j])) days.push(day(w[j]));
      else if (!['of', 'to', 'the', 'and', 'until', 'from'].includes(w[j])) break;
    }
    for (const d of days) found.push(`${year}-${pad(month)}-${pad(d)}`);
  }
  return found;
}

/** Whether two dates of `extractDates` can be the same day. */
const sameDate = (a, b) => a.slice(-5) === b.slice(-5) && (a[0] === '*' || b[0] === '*' || a === b);

/** Numbers in a text that can be amounts: thousands separators removed, dates and identifiers left out. */
function extractAmounts(text) {
  const out = [];
  const re = /(^|[^\p{L}\p{N}_.,:/-])([$€£¥]?)(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\p{L}\d_/:-]|[.,]\d)/gu;
  const t = foldText(text);
  if (!/\d/.test(t)) return out;
  for (let m = re.exec(t); m !== null; m = re.exec(t)) out.push(Number(m[3].replace(/,/g, '')));
  return out.filter((n) => Number.isFinite(n));
}

const TLD = /\.(?:com|org|net|io|co|ai|dev|app|edu|gov|info|biz|me|shop|online|site|xyz|store|tech|cloud|ch|de|uk|us|fr|eu|it|es|nl|in|cn|jp|au|ca|br|ru|example|test|local|internal)(?:[:/?#]|$)/;

/** Kind of one token: `email`, `url`, `iban`, `file`, `path`, `id`, or '' for none. */
function tokenKind(token) {
  if (token.length < 3 || token.length > LIMITS.token) return '';
  if (/^[^\s@<>"'(),;:]{1,64}@[^\s@<>"'(),;:]+\.[a-z]{2,}$/i.test(token)) return 'email';
  if (/^[a-z][a-z0-9+.-]{1,20}:\/\/\S+$/i.test(token) || /^www\.[^\s.]\S*$/i.test(token)) return 'url';
  if (/^[A-Z]{2}\d{2}[A-Z0-9]{9,30}$/i.test(token) && (token.match(/\d/g) || []).length >= 8) return 'iban';
  if (/^[\w-]+(?:\.[\w-]+)+/.test(token) && TLD.test(token.toLowerCase())) return 'url';
  if (/^(?:~|\.{1,2})?\/[\w.-]+(?:\/[\w.-]*)*$/.test(token) || /^[A-Za-z]:\\[^\s]+$/.test(token)) return 'path';
  if (/^[\w-]+(?:\.[\w-]+)*\.[a-z][a-z0-9]{1,4}$/i.test(token)) return 'file';
  if (/^\+?\d[\d-]{5,}\d$/.test(token) || (/\d/.test(token) && /[A-Za-z]/.test(token) && /^[\w-]{6,}$/.test(token))) return 'id';
  return '';
}

/** Typed values of a text, in order: [{kind, value}] with `value` normalised; URLs without scheme, `www.` and final `/`. */
function extractValues(text) {
  const out = [];
  const tokens = foldText(text).slice(0, LIMITS.text).match(/[^\s<>"`|{}()[\],;]+/g) || [];
  for (let i = 0; i < tokens.length; i++) {
    if (!/[@./\\\d]/.test(tokens[i])) continue;
    let token = tokens[i].replace(/^['*_#=:]+|['*_.,:!?]+$/g, '');
    if (token.includes("='")) token = token.slice(token.indexOf("='") + 2);
    if (/^[A-Z]{2}\d{2}$/.test(token)) {                    // an IBAN written in groups
      let joined = token;
      let j = i + 1;
      while (j < tokens.length && joined.length < 34 && /^[A-Z0-9]{1,4}$/.test(tokens[j] || '')) joined += tokens[j++];
      if (tokenKind(joined) === 'iban') { token = joined; i = j - 1; }
    }
    const kind = tokenKind(token);
    if (kind) out.push({ kind, value: kind === 'url' ? canonicalUrl(token) : normalizeText(token) });
  }
  return out;
}

/** A URL in comparable form. */
function canonicalUrl(url) {
  const u = normalizeText(url).replace(/^[a-z][a-z0-9+.-]*:\/\//, '').replace(/^www\./, '');
  return u.endsWith('/') || u.endsWith('.') ? u.replace(/[/.]+$/, '') : u;
}

/** Host of a URL, email or host name. */
function hostOf(value) {
  const v = canonicalUrl(value);
  return v.slice(v.lastIndexOf('@') + 1).split(/[/?#:]/)[0];
}

/** Kinds of secrets a text carries: passwords, keys, codes, card, account and identity numbers. */
function extractSecrets(text) {
  const out = [];
  const t = foldText(text);
  const re = /\b(pass(?:word|code|phrase|port)|secret|api[ _-]?key|private[ _-]?key|token|pin|cvv|otp|security code|verification code|one-time code|(?:social security|ssn|id|card|account|bank account|credit card|license)[ _-]?(?:number|no))\b["']?\s{0,3}(?:is|are|was|=|:|-|#)?\s{0,3}["']?([\w+/=.-]{3,})/gi;
  for (let m = re.exec(t); m !== null; m = re.exec(t)) if (/\d/.test(m[2]) || m[2].length >= 12) out.push({ kind: m[1].toLowerCase(), value: normalizeText(m[2].replace(/\.+$/, '')) });
  const card = /\b(?:\d[ -]?){13,19}\b/g;
  for (let m = card.exec(t); m !== null; m = card.exec(t)) out.push({ kind: 'card', value: m[0].replace(/\D/g, '') });
  return out;
}

// ---------------------------------------------------------------- structured output

/** Reads JSON or a Python literal; undefined where the text is neither. Linear, depth-limited. */
function parseLiteral(text) {
  const s = String(text);
  let i = 0;
  const FAIL = {};
  const atoms = /[\w.+-]*/y;
  const space = () => { while (i < s.length && (s[i] === ' ' || /\s/.test(s[i]))) i++; };
  const string = (quote) => {
    const close = s.indexOf(quote, i + 1);
    if (close < 0) throw FAIL;
    const plain = s.slice(i + 1, close);
    if (!plain.includes('\\')) { i = close + 1; return plain; }
    let out = '';
    for (i++; i < s.length; i++) {
      const c = s[i];
      if (c === quote) { i++; return out; }
      if (c !== '\\') { out += c; continue; }
      const e = s[++i];
      const hex = { x: 2, u: 4, U: 8 }[e];
      if (hex) { out += String.fromCodePoint(Math.min(parseInt(s.slice(i + 1, i + 1 + hex), 16) || 63, 0x10ffff)); i += hex; } else out += { n: '\n', t: '\t', r: '\r', b: '', f: '' }[e] ?? e;
    }
    throw FAIL;
  };
  const items = (close, one) => {
    const out = [];
    for (i++, space(); s[i] !== close; space()) {
      if (i >= s.length) throw FAIL;
      out.push(one());
      space();
      if (s[i] === ',') i++; else if (s[i] !== close) throw FAIL;
    }
    i++;
    return out;
  };
  const value = (depth) => {
    if (depth > LIMITS.depth) throw FAIL;
    space();
    const c = s[i];
    if (c === '"' || c === "'") return string(c);
    if (c === '[') return items(']', () => value(depth + 1));
    if (c === '(') return items(')', () => value(depth + 1));
    if (c === '{') {
      const entries = items('}', () => {
        const key = value(depth + 1);
        space();
        if (s[i] !== ':') return [String(key), true];
        i++;
        return [String(key), value(depth + 1)];
      });
      const out = Object.create(null);
      for (const [k, v] of entries) out[k] = v;
      return out;
    }
    atoms.lastIndex = i;
    const atom = atoms.exec(s)[0];
    i += atom.length;
    if (/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(atom)) return Number(atom);
    if (/^(?:true|false|null|none|nan)$/i.test(atom)) return { true: true, false: false }[atom.toLowerCase()] ?? null;
    throw FAIL;
  };
  try {
    const out = value(0);
    space();
    return i === s.length ? out : undefined;
  } catch (e) {
    return undefined;
  }
}

/** Leaves of a value: [{path, key, record, text}]; `record` numbers the items of an outer list. */
function walkLeaves(value, visit, path = '', key = '', record = 0, depth = 0) {
  if (value === null || value === undefined || depth > LIMITS.depth) return;
  if (Array.isArray(value)) value.forEach((v, i) => walkLeaves(v, visit, `${path}[${i}]`, key, depth === 0 ? i : record, depth + 1));
  else if (typeof value === 'object') for (const k of Object.keys(value)) walkLeaves(value[k], visit, path ? `${path}.${k}` : k, k, record, depth + 1);
  else visit({ path, key, record, text: String(value), raw: value });
}

/** Leaves of an argument object. */
function argumentLeaves(args) {
  const out = [];
  walkLeaves(args, (leaf) => { if (out.length < LIMITS.leaves) out.push(leaf); });
  return out;
}

/** A copy of `value` in which the leaf at `path` (as `argumentLeaves` prints it) is replaced. */
function replaceLeaf(value, path, leaf, at = '') {
  if (at === path) return leaf;
  if (Array.isArray(value)) return value.map((v, i) => replaceLeaf(v, path, leaf, `${at}[${i}]`));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, replaceLeaf(v, path, leaf, at ? `${at}.${k}` : k)]));
}

/** Arguments without the sentences that hold a claim's value; undefined if little would be left of the text. */
function redactClaim(args, claim) {
  const leaf = argumentLeaves(args).find((l) => l.path === claim.path);
  if (leaf === undefined || typeof leaf.raw !== 'string') return args;
  const parts = sentences(leaf.text.replace(/\\n/g, '\n'));
  const kept = parts.filter((s) => !(claim.kind === 'date' ? extractDates(s).some((d) => sameDate(d, claim.value)) : normalizeText(s).includes(claim.value)));
  if (kept.length === parts.length) return args;
  const text = kept.join(' ');
  return text.length < 60 || text.length < leaf.text.length / 3 ? undefined : replaceLeaf(args, claim.path, text);
}

/** White space in front of a line. */
function indentOf(line) {
  let n = 0;
  while (line[n] === ' ') n++;
  return line[n] > ' ' && line[n] <= '~' ? n : line.length - line.trimStart().length;
}

/** Key and value of a trimmed line `key: value`; undefined for other lines. `odd`: it may hold line ends of other kinds than `\n`. */
function yamlEntry(line, odd) {
  if (odd || line[0] === "'" || line[0] === '"') {
    const m = /^(?:'([^']{1,80})'|"([^"]{1,80})"|([^\s'"[{:][^:\n]{0,60}?)):(?:\s+(.*))?$/.exec(line);
    return m === null ? undefined : { key: m[1] || m[2] || m[3], value: m[4] ?? '' };
  }
  const colon = line.indexOf(':');
  if (colon < 1 || colon > 61 || line[0] === '[' || line[0] === '{') return undefined;
  const value = line.slice(colon + 1);
  return value === '' || value[0] === ' ' || /^\s/.test(value) ? { key: line.slice(0, colon), value: value.trimStart() } : undefined;
}

/** Leaves of YAML as tools print it: block maps and lists, plain, quoted and literal scalars, folded lines. */
function yamlLeaves(text) {
  const out = [];
  const given = String(text);
  const lines = given.split('\n');
  const odd = ['\r', '\u2028', '\u2029'].some((end) => given.includes(end));
  let record = 0;
  let i = 0;
  const add = (key, raw) => {
    if (raw !== '' && raw !== '[]' && raw !== '{}' && raw !== 'null' && out.length < LIMITS.leaves) out.push({ path: key, key, record, text: raw });
  };
  /** Whether a plain scalar ends with its first line. */
  const short = (first, indent) => {
    const c = first[0];
    if (c === "'" || c === '"' || c === '|' || c === '>' || first.includes('\u0001')) return false;
    if (i >= lines.length) return true;
    const next = lines[i];
    return indentOf(next) <= indent && next.trim() !== '';
  };
  const scalar = (first, indent, key) => {
    if (short(first, indent)) { add(key, first); return; }
    let raw = first;
    const quote = first[0] === "'" || first[0] === '"' ? first[0] : '';
    const literal = first.length <= 2 && /^[|>][+-]?$/.test(first);
    const parts = [literal ? '' : first];
    let quotes = 0;                                         // unescaped quote characters so far; even = closed
    const count = (t) => { quotes += (quote === '"' && t.includes('\\') ? t.replace(/\\[^]/g, '') : t).split(quote).length - 1; };
    if (quote) count(first);
    while (i < lines.length) {
      if (quote && quotes % 2 === 0) break;
      const line = lines[i];
      const blank = line.trim() === '';
      if (!quote && !blank && indentOf(line) <= indent) break;
      if (!quote && blank && i + 1 >= lines.length) break;
      if (quote) count(line);
      parts.push(line.trim());
      i++;
    }
    raw = parts.join('\n').trim();
    if (quote) raw = raw.slice(1, raw.endsWith(quote) && raw.length > 1 ? -1 : undefined);
    if (quote === '"') raw = raw.replace(/\\\n\s*\\?/g, '').replace(/\\n/g, '\u0001').replace(/\\(["\\/ ])/g, '$1').replace(/\\t/g, '\t').replace(/\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})/g, (_, a, b) => String.fromCharCode(parseInt(a || b, 16)));
    if (quote === "'") raw = raw.replace(/''/g, "'");
    if (!literal && raw.includes('\n')) raw = raw.replace(/\n(\n*)/g, (_, more) => (more ? more : ' '));
    if (raw.includes('\u0001')) raw = raw.replace(/\u0001/g, '\n');
    add(key, raw);
  };
  let key = '';
  while (i < lines.length) {
    const line = lines[i++];
    let rest = line.trim();
    if (rest === '') continue;
    if (i > 1 && line.startsWith('- ')) record++;
    let indent = indentOf(line);
    let item = false;
    while (rest.startsWith('- ')) { indent += 2; rest = rest.slice(2).trimStart(); item = true; }
    if (rest === '-') continue;
    const entry = yamlEntry(rest, odd);
    if (entry === undefined) scalar(rest, item ? indent - 1 : indent, key);
    else {
      key = entry.key;
      if (entry.value !== '') scalar(entry.value, indent, key);
    }
  }
  return out;
}

/** Whether a text looks like the YAML a tool prints (not prose with a colon somewhere). */
function looksLikeYaml(text) {
  const first = String(text).trimStart().split('\n', 1)[0];
  return /^(?:- )?[A-Za-z_][\w ]{0,30}:(?: |$)/.test(first) && first.length < 400 ? /^(?:- )?[a-z_]\w*:(?: |$)/.test(first) : /^- /.test(first);
}

const HTML_TAGS = new Set('a abbr article aside b blockquote body br button caption code dd details div dl dt em fieldset figure footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input label legend li link main meta nav ol option p pre script section select small span strong style sub summary sup svg table tbody td textarea tfoot th thead title tr u ul video'.split(' '));
const INLINE_TAGS = new Set('a abbr b code em i label small span strong sub sup u'.split(' '));

/** HTML as text: a line for each block, link targets behind their text. Other text is left alone, tags of no HTML too. */
function htmlText(text) {
  if (!text.includes('</') || !/<\/(?:p|div|html|body|section|ul|ol|table|form|h\d|article|main)>/i.test(text)) return text;
  return text.replace(/<(\/?)([A-Za-z][A-Za-z0-9]{0,15})([^<>]{0,2000})>/g, (all, slash, tag, rest) => {
    const name = tag.toLowerCase();
    if (!HTML_TAGS.has(name)) return all;
    const target = /\b(?:href|src|action|alt|title|placeholder|aria-label)\s*=\s*["']([^"']{1,500})["']/i.exec(rest);
    const shown = target !== null && slash === '' ? ` ${target[1]} ` : '';
    return INLINE_TAGS.has(name) ? shown : `\n${shown}\n`;
  }).replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&quot;/g, '"').replace(/&#0?39;|&apos;/g, "'").replace(/&nbsp;/g, ' ').replace(/&amp;/g, '&').split('\n').map((line) => line.trim()).filter(Boolean).join('\n');
}

/** Leaves of any tool output. Text without structure is one leaf with an empty key. */
function resultLeaves(content) {
  const text = stripInvisible(content).slice(0, LIMITS.text);
  const parsed = /^\s*[[{(]/.test(text) ? parseLiteral(text) : undefined;
  if (parsed !== undefined && typeof parsed === 'object' && parsed !== null) return argumentLeaves(parsed);
  if (looksLikeYaml(text)) return yamlLeaves(text);
  return text.trim() === '' ? [] : [{ path: '', key: '', record: 0, text: htmlText(text) }];
}
