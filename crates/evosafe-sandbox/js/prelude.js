// Prelude of every JavaScript harness: pure helpers, no I/O, no state outside `compose`.
//
// A plain script: the provider runs it before the candidate, then freezes its names. The
// host functions `classify(question, text)`, `regexFindAll(pattern, text)` and `log(message)`
// come from the provider, not from here. Everything is deterministic and close to linear in
// its input. What goes beyond LIMITS is not analysed but counts as directed at the assistant.

const LIMITS = Object.freeze({ text: 200000, token: 300, leaves: 20000, depth: 24, sentences: 4000, sentence: 1500, owed: 20000 });

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
  const rows = given.split('\n');
  const marked = whichHave(rows, '(?:[<\\[]|##|----|====|\\*{4})[^\\x00]*');
  for (let k = 0; k < rows.length; k++) {
    const line = rows[k];
    if (!marked[k] || !/[<[]|##|----|====|\*{4}/.test(line)) lines.push(line);
    else lines.push(...line.split(/(?=(?<!#)##|<\/?[A-Za-z][^<>]{0,40}>|\[\/?[A-Z]{3,12}\])|(?<=[A-Za-z]>)|[-=*]{4,}/));
  }
  // Where a sentence may end: the host looks for what the pattern below is tried at.
  const places = placesIn(lines, '[.!?;]["\')\\]]{0,3}[\\s\\x{feff}A-Z]');
  const cut = /[.!?;]["')\]]{0,3}(?:\s+|(?=[A-Z][A-Za-z]*[ :]))/y;
  for (let k = 0; k < lines.length; k++) {
    if (full()) { out.push(lines.slice(k).join('\n')); break; }
    const line = lines[k];
    let from = 0;
    for (const place of places[k]) {
      cut.lastIndex = place;
      const m = cut.exec(line);
      if (m === null) continue;
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

/**
 * In which of some texts a pattern is found: one look by the host at all of them, where one at each by the engine would
 * be most of the work. It stays within a text: \\x00 stands on either side of one, \\A and \\z at the ends.
 */
function whichHave(texts, pattern) {
  return placesIn(texts, pattern).map((places) => places.length > 0);
}

/** Where in each of some texts a pattern is found, as `whichHave` looks for it: places where it begins. */
function placesIn(texts, pattern) {
  const out = texts.map(() => []);
  let hits;
  try {
    hits = regexFindAll(pattern, texts.join('\0\0'));
  } catch (e) {
    // More than the host finds: nothing is left out.
    return texts.map((text) => Array.from({ length: Math.max(text.length, 1) }, (_, place) => place));
  }
  let i = -1;
  let start = 0;                                            // of text i
  let end = -2;
  for (const [from, to] of hits) {
    while (end + 1 < to) {
      start = end + 2;
      end = start + texts[++i].length;
    }
    out[i].push(from - start);
  }
  return out;
}

/** A pattern for one of some words that stands by itself, and what is left of its text. */
const wholeWord = (list) => (list.length === 0 ? '' : `(?:\\A|[^a-z0-9])(?:${list.join('|')})(?:\\z|\\x00|[^a-z0-9\\x00][^\\x00]*)`);

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
