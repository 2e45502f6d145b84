// The policy that speed is measured with: provenance of values, five patterns, state.

const PATTERNS = [
  "(?i)ignore (all |any )?(previous|earlier|prior) (instructions|letters|messages)",
  "(?i)(you must|you should|please) (now |first )?(send|transfer|forward|delete|book)",
  "(?i)\\b(system|developer|admin(istrator)?) (message|note|instruction)s?\\b",
  "(?i)\\b(before|after) (you )?(can )?(solve|continue|finish)",
  "(?i)[a-z0-9._%+-]+@[a-z0-9.-]+\\.[a-z]{2,}",
];

const seen = new Map();
const effects = new Set();
let request = "";
let exposed = false;

export function begin(ctx) {
  request = ctx.instruction.toLowerCase();
  for (const tool of ctx.tools) {
    if (/^(send|pay|delete|create|update|tool)/.test(tool.name)) effects.add(tool.name);
  }
  return [];
}

function leaves(value, into) {
  if (typeof value === "string") into.push(value.toLowerCase());
  else if (typeof value === "number") into.push(String(value));
  else if (value !== null && typeof value === "object") for (const key of Object.keys(value)) leaves(value[key], into);
  return into;
}

export function onPreToolCall(call) {
  if (!effects.has(call.tool) || !exposed) return allow();
  for (const value of leaves(call.arguments, [])) {
    for (const pattern of PATTERNS) {
      if (regexFindAll(pattern, value).length > 3) return block("the arguments read like instructions");
    }
    if (value.length > 5 && seen.get(value) === "directive" && !request.includes(value)) {
      return block(`${value} comes from text that gives orders`);
    }
  }
  return allow();
}

export function onPostToolCall(call, result) {
  const text = result.content;
  const directives = [];
  for (const pattern of PATTERNS.slice(0, 4)) directives.push(...regexFindAll(pattern, text));
  if (directives.length > 0) exposed = true;
  for (const [start, end] of regexFindAll(PATTERNS[4], text)) {
    const near = directives.some(([from]) => Math.abs(from - start) < 300);
    seen.set(text.slice(start, end).toLowerCase(), near ? "directive" : "data");
  }
  return keep();
}

export function onFinalAnswer(text) {
  return keep();
}
