// The shared provider: one QuickJS for every JavaScript candidate. Evaluated once, when the
// component is built; what it leaves behind is the snapshot that each trajectory starts from.
// The same file makes a component of one candidate: then `CANDIDATE` holds its module, and
// the import of `diagnostics` is replaced, on its line, by a report through the log.
//
// The host puts in front of this file:
//   GLOBALS    names of standard globals that candidates may use
//   CANDIDATE  the wrapped module of the one candidate, or null in the shared provider
//   prelude()  the body of prelude*.js; returns its top-level names, which become globals too
//
// All intrinsics are frozen before a candidate is loaded, so the glue below may use them
// without keeping copies: a candidate cannot change what it calls.

import host from "evosafe:harness/host@1.0.0";
import diagnostics from "evosafe:harness/diagnostics@1.0.0";

const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, freeze } = Object;
const { ownKeys } = Reflect;
const isArray = Array.isArray;

/** Indirect eval: sees globals only. The one way to turn text into code; used by `load`. */
const evaluate = globalThis.eval;

// ---------------------------------------------------------------- what candidates may call

/** Text that survives the canonical ABI: lone surrogates become U+FFFD, offsets stay. */
function wellFormed(text) {
  return text.isWellFormed() ? text : text.toWellFormed();
}

function needString(value, what) {
  if (typeof value !== "string") throw new TypeError(`${what} must be a string`);
  return wellFormed(value);
}

function regexFindAll(pattern, text) {
  if (pattern instanceof RegExp) {
    const flags = (pattern.ignoreCase ? "i" : "") + (pattern.multiline ? "m" : "") + (pattern.dotAll ? "s" : "");
    pattern = flags === "" ? pattern.source : `(?${flags})${pattern.source}`;
  }
  return host.regexFindAll(
    needString(pattern, "regexFindAll: the pattern"),
    needString(text, "regexFindAll: the text"),
  );
}

function classify(question, text) {
  return host.classify(
    needString(question, "classify: the question"),
    needString(text, "classify: the text"),
  );
}

/** Begins a line of the log that reports a fault; never one that a candidate wrote. */
const FAULT_LINE = "evosafe:fault ";

function log(message) {
  let text;
  if (typeof message === "string") text = message;
  else if (message instanceof Error) text = `${message.name}: ${message.message}`;
  else text = JSON.stringify(message) ?? String(message);
  host.log(wellFormed(text.startsWith(FAULT_LINE) ? ` ${text}` : text));
}

// ---------------------------------------------------------------- hardening

function unavailable(name, why) {
  const deny = { [name]() { throw new TypeError(`${name} is not available in the sandbox: ${why}`); } }[name];
  return deny;
}

/** `new Date(value)` and friends work; what would read the clock throws. */
function tameDate() {
  const Real = Date;
  const noClock = "there is no clock";
  function SafeDate(...args) {
    if (new.target === undefined) throw new TypeError(`Date() is not available in the sandbox: ${noClock}`);
    if (args.length === 0) throw new TypeError(`new Date() without arguments is not available in the sandbox: ${noClock}`);
    return Reflect.construct(Real, args, new.target);
  }
  defineProperty(SafeDate, "name", { value: "Date" });
  SafeDate.prototype = Real.prototype;
  defineProperty(Real.prototype, "constructor", { value: SafeDate, writable: true, configurable: true });
  SafeDate.UTC = Real.UTC;
  SafeDate.parse = Real.parse;
  SafeDate.now = unavailable("now", noClock);
  defineProperty(globalThis, "Date", { value: SafeDate, writable: true, configurable: true });
}

/** No text becomes code after `load`: the constructors of all four kinds of function throw. */
function tameFunctionConstructors() {
  const kinds = [function () {}, function* () {}, async function () {}, async function* () {}];
  for (const kind of kinds) {
    const prototype = getPrototypeOf(kind);
    const Denied = unavailable("Function", "code cannot be made from text");
    defineProperty(Denied, "prototype", { value: prototype });
    defineProperty(prototype, "constructor", { value: Denied });
    if (kind === kinds[0]) defineProperty(globalThis, "Function", { value: Denied, writable: true, configurable: true });
  }
  defineProperty(globalThis, "eval", { value: unavailable("eval", "code cannot be made from text"), writable: true, configurable: true });
}

function removeGlobals() {
  const keep = new Set([...GLOBALS, "Function", "eval"]);
  for (const key of ownKeys(globalThis)) {
    if (typeof key === "string" && keep.has(key)) continue;
    if (key === Symbol.toStringTag) continue;
    if (!delete globalThis[key]) throw new Error(`cannot remove global ${String(key)}`);
  }
  for (const key of ["prepareStackTrace", "stackTraceLimit", "captureStackTrace"]) delete Error[key];
  defineProperty(Math, "random", { value: unavailable("random", "there is no randomness") });
}

/**
 * A frozen prototype makes `object.name = ...` throw where the prototype holds `name`. Turning
 * its data properties into accessors keeps such assignments working on other objects.
 */
function allowOverrides(prototype) {
  for (const key of ownKeys(prototype)) {
    const found = getOwnPropertyDescriptor(prototype, key);
    if (!found.configurable || !("value" in found)) continue;
    const value = found.value;
    defineProperty(prototype, key, {
      get() { return value; },
      set(other) {
        if (this === prototype) throw new TypeError(`${String(key)} is frozen in the sandbox`);
        defineProperty(this, key, { value: other, writable: true, enumerable: true, configurable: true });
      },
      enumerable: found.enumerable,
      configurable: false,
    });
  }
}

function isObject(value) {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function freezeAll(roots) {
  const seen = new Set();
  const queue = [...roots];
  while (queue.length > 0) {
    const object = queue.pop();
    if (!isObject(object) || seen.has(object)) continue;
    seen.add(object);
    if (!ArrayBuffer.isView(object)) freeze(object);
    queue.push(getPrototypeOf(object));
    for (const key of ownKeys(object)) {
      const found = getOwnPropertyDescriptor(object, key);
      if ("value" in found) queue.push(found.value);
      else queue.push(found.get, found.set);
    }
  }
}

function hiddenIntrinsics() {
  const iterators = [[][Symbol.iterator](), new Map().entries(), new Set().values(), ""[Symbol.iterator](), "".matchAll(/x/g)];
  const generator = (function* () {})();
  const asyncGenerator = (async function* () {})();
  return [...iterators, generator, asyncGenerator, async function () {}, async function* () {}, function* () {}].map(getPrototypeOf)
    .concat([getPrototypeOf(getPrototypeOf(asyncGenerator))]);
}

function install(name, value) {
  defineProperty(globalThis, name, { value, writable: false, enumerable: false, configurable: false });
}

function harden() {
  const hidden = hiddenIntrinsics();
  tameDate();
  tameFunctionConstructors();
  removeGlobals();
  install("regexFindAll", regexFindAll);
  install("classify", classify);
  install("log", log);
  const helpers = prelude();
  for (const name of Object.keys(helpers)) install(name, helpers[name]);
  const errors = [Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError, AggregateError];
  for (const kind of errors) allowOverrides(kind.prototype);
  allowOverrides(Object.prototype);
  freezeAll([globalThis, ...hidden]);
}

// ---------------------------------------------------------------- faults

class Malformed {
  constructor(message) { this.message = message; }
}

function describe(error) {
  if (typeof error === "string") return error;
  if (error instanceof Error) return `${error.name}: ${error.message}`;
  return `thrown value: ${JSON.stringify(error) ?? String(error)}`;
}

function report(error) {
  let kind = "thrown";
  let message = "a value that cannot be described";
  let stack = "";
  try {
    if (error instanceof Malformed) kind = "malformed";
    message = String(kind === "malformed" ? error.message : describe(error));
    if (error instanceof Error && typeof error.stack === "string") stack = error.stack;
  } catch {
    // Describing ran candidate code (a getter, a toString) that threw again.
  }
  diagnostics.fault(kind, wellFormed(message.slice(0, 1000)), wellFormed(stack.slice(0, 4000)));
}

/** Runs `body`; whatever it throws is reported, and `otherwise` is answered in its place. */
function guard(otherwise, body) {
  try {
    return body();
  } catch (error) {
    report(error);
    return otherwise;
  }
}

// ---------------------------------------------------------------- decisions

const ALLOW = { tag: "allow" };
const KEEP = { tag: "keep" };
// What the host answers too, which voids the answer of a hook that reported a fault.
const closed = (why) => ({ tag: "block", val: why });
const CALL_CLOSED = closed("the safety harness failed while checking this call");
const RESULT_CLOSED = closed("the result is withheld: the safety harness failed while checking it");
const ANSWER_CLOSED = closed("the answer is withheld: the safety harness failed while checking it");

function typeName(value) {
  if (value === null) return "null";
  if (isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : typeof value;
}

function decisionKind(hook, decision, kinds) {
  if (typeof decision !== "object" || decision === null) {
    throw new Malformed(`${hook} returned ${typeName(decision)}, not a decision (${kinds})`);
  }
  if (typeof decision.then === "function") throw new Malformed(`${hook} returned a promise: hooks are synchronous`);
  return decision.do;
}

function field(hook, kind, name, value) {
  if (typeof value !== "string") throw new Malformed(`${hook}: ${kind} needs a string \`${name}\`, not ${typeName(value)}`);
  return wellFormed(value);
}

/** Arguments as JSON. Lone surrogates are mended: JSON.stringify would escape them. */
function argumentsJson(hook, kind, value) {
  if (typeof value !== "object" || value === null || isArray(value)) {
    throw new Malformed(`${hook}: ${kind} needs an object of arguments, not ${typeName(value)}`);
  }
  let text = JSON.stringify(value);
  if (typeof text === "string" && text.includes("\\ud")) {
    text = JSON.stringify(value, (_, item) => (typeof item === "string" ? wellFormed(item) : item));
  }
  if (typeof text !== "string") throw new Malformed(`${hook}: ${kind} has arguments that are not JSON`);
  return text;
}

function callDecision(call, decision) {
  const hook = "onPreToolCall";
  switch (decisionKind(hook, decision, "allow, rewrite, redirect or block")) {
    case "allow": return ALLOW;
    case "rewrite": return { tag: "rewrite", val: argumentsJson(hook, "rewrite", decision.arguments) };
    case "redirect": {
      const to = decision.call;
      if (typeof to !== "object" || to === null) throw new Malformed(`${hook}: redirect needs a call, not ${typeName(to)}`);
      const { id = call.id, server = null, tool, arguments: args } = to;
      return {
        tag: "redirect",
        val: {
          id: field(hook, "redirect", "call.id", id),
          server: server === null ? null : field(hook, "redirect", "call.server", server),
          tool: field(hook, "redirect", "call.tool", tool),
          arguments: argumentsJson(hook, "redirect", args),
        },
      };
    }
    case "block": return { tag: "block", val: field(hook, "block", "reason", decision.reason) };
    default: throw new Malformed(`${hook} returned an unknown decision: \`do\` must be allow, rewrite, redirect or block`);
  }
}

function textDecision(hook, decision) {
  switch (decisionKind(hook, decision, "keep, replace or block")) {
    case "keep": return KEEP;
    case "replace": return { tag: "replace", val: field(hook, "replace", "text", decision.text) };
    case "block": return { tag: "block", val: field(hook, "block", "reason", decision.reason) };
    default: throw new Malformed(`${hook} returned an unknown decision: \`do\` must be keep, replace or block`);
  }
}

function hiddenTools(names) {
  if (names === undefined || names === null) return [];
  if (!isArray(names)) throw new Malformed(`begin returned ${typeName(names)}, not a list of tool names`);
  const result = [];
  for (let i = 0; i < names.length; i++) result.push(field("begin", "the list of tools to hide", String(i), names[i]));
  return result;
}

// ---------------------------------------------------------------- values handed in

/** JSON that is parsed when it is first looked at: schemas are long and mostly unread. */
function lazyJson(object, key) {
  const text = object[key];
  let value;
  let parsed = false;
  defineProperty(object, key, {
    get() {
      if (!parsed) {
        value = JSON.parse(text);
        parsed = true;
      }
      return value;
    },
    set(other) {
      value = other;
      parsed = true;
    },
    enumerable: true,
    configurable: true,
  });
}

function openCall(call) {
  call.arguments = JSON.parse(call.arguments);
  return call;
}
