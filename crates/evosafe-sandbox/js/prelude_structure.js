// Second part of the prelude: what tools return, read as structure, and arguments as leaves.

// ---------------------------------------------------------------- structured output

/** Reads JSON or a Python literal; undefined where the text is neither. Linear, depth-limited. */
function parseLiteral(text) {
  const s = String(text);
  let i = 0;
  const FAIL = {};
  const atoms = /[\w.+-]*/y;
  const space = () => { while (i < s.length && (s[i] === ' ' || /\s/.test(s[i]))) i++; };
  let slash = -1;                                           // the next backslash, once it was looked for
  const string = (quote) => {
    let out = '';
    let close = -1;
    for (let from = i + 1; ;) {
      if (close < from) close = s.indexOf(quote, from);
      if (close < 0) throw FAIL;
      if (slash < from) slash = s.indexOf('\\', from) < 0 ? s.length : s.indexOf('\\', from);
      if (slash > close) { i = close + 1; return out + s.slice(from, close); }
      const e = s[slash + 1];
      const hex = e === 'x' ? 2 : e === 'u' ? 4 : e === 'U' ? 8 : 0;
      out += s.slice(from, slash);
      if (hex > 0) out += String.fromCodePoint(Math.min(parseInt(s.slice(slash + 2, slash + 2 + hex), 16) || 63, 0x10ffff));
      else out += e === 'n' ? '\n' : e === 't' ? '\t' : e === 'r' ? '\r' : e === 'b' || e === 'f' ? '' : e;
      from = slash + 2 + hex;
    }
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

/** Lines of a flow scalar as one text: a line end is a space, and of several in a row the first is dropped. */
function folded(text) {
  let out = '';
  let ends = 0;
  for (const line of text.split('\n')) {
    if (line !== '') {
      out += (ends < 2 ? ' ' : '\n'.repeat(ends - 1)).slice(ends === 0 ? 1 : 0) + line;
      ends = 0;
    }
    ends++;
  }
  return ends < 2 ? out : out + (ends === 2 ? ' ' : '\n'.repeat(ends - 2));
}

/** Leaves of YAML as tools print it: block maps and lists, plain, quoted and literal scalars, folded lines. `odd`: it may hold line ends of other kinds, or \u0001. */
function yamlLeaves(text, odd = true) {
  const out = [];
  const lines = String(text).split('\n');
  let record = 0;
  let i = 0;
  const add = (key, raw) => {
    if ((raw.length > 4 || (raw !== '' && raw !== '[]' && raw !== '{}' && raw !== 'null')) && out.length < LIMITS.leaves) out.push({ path: key, key, record, text: raw });
  };
  /** Whether a scalar is plain and ends with its first line. */
  const short = (first, indent) => {
    const c = first[0];
    if (c === "'" || c === '"' || c === '|' || c === '>' || (odd && first.includes('\u0001'))) return false;
    if (i >= lines.length) return true;
    const next = indentOf(lines[i]);
    return next <= indent && next < lines[i].length;
  };
  const scalar = (first, indent, key) => {
    if (short(first, indent)) { add(key, first); return; }
    let raw = first;
    const quote = first[0] === "'" || first[0] === '"' ? first[0] : '';
    const literal = first.length <= 2 && /^[|>][+-]?$/.test(first);
    const parts = [literal ? '' : first];
    let quotes = 0;                                         // unescaped quote characters so far; even = closed
    const count = (t) => { if (t.includes(quote)) quotes += (quote === '"' && t.includes('\\') ? t.replace(/\\[^]/g, '') : t).split(quote).length - 1; };
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
    if (quote === '"' && raw.includes('\\')) raw = raw.replace(/\\\n\s*\\?/g, '').replace(/\\n/g, '\u0001').replace(/\\(["\\/ ])/g, '$1').replace(/\\t/g, '\t').replace(/\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})/g, (_, a, b) => String.fromCharCode(parseInt(a || b, 16)));
    if (quote === "'") raw = raw.replaceAll("''", "'");
    if (!literal) raw = folded(raw);
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
    let value;
    const c = rest[0];
    if (odd || c === "'" || c === '"') {
      const m = /^(?:'([^']{1,80})'|"([^"]{1,80})"|([^\s'"[{:][^:\n]{0,60}?)):(?:\s+(.*))?$/.exec(rest);
      if (m !== null) { key = m[1] || m[2] || m[3]; value = m[4] ?? ''; }
    } else if (c !== '[' && c !== '{') {
      const colon = rest.indexOf(':');
      const after = rest[colon + 1];
      if (colon > 0 && colon <= 61 && (after === undefined || after === ' ' || /\s/.test(after))) { key = rest.slice(0, colon); value = rest.slice(colon + 1).trimStart(); }
    }
    if (value === undefined) scalar(rest, item ? indent - 1 : indent, key);
    else if (value !== '') scalar(value, indent, key);
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
  const given = String(content);
  const [odd] = whichHave([given], '(?s)[^\\x00\\x02-\\x0c\\x0e-\\x7f].*');
  const text = (odd ? withoutInvisible(given) : given).slice(0, LIMITS.text);
  const parsed = /^\s*[[{(]/.test(text) ? parseLiteral(text) : undefined;
  if (parsed !== undefined && typeof parsed === 'object' && parsed !== null) return argumentLeaves(parsed);
  if (looksLikeYaml(text)) return yamlLeaves(text, odd);
  return text.trim() === '' ? [] : [{ path: '', key: '', record: 0, text: htmlText(text) }];
}
