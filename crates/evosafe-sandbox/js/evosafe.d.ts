// What a harness in JavaScript is given and can use: contract evosafe:harness 1.0.0.
// docs/harness-abi.md explains it. Tests compare this file with the WIT and with the prelude.
//
// In an editor: /// <reference path="evosafe.d.ts" /> or a jsconfig.json beside harness.js.
// The language is strict ECMAScript 2024 without: clock (Date.now, new Date()), Math.random,
// eval, Function, Promise, timers, console, WebAssembly, WeakRef, network, files, imports.

// ---------------------------------------------------------------- what hooks receive

/** JSON as parsed. Integers beyond 2^53 are rounded. */
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A tool offered to the model. */
interface Tool {
  name: string;
  server: string | null;
  description: string;
  /** JSON Schema of the arguments. */
  inputSchema: { [key: string]: Json };
  /** MCP hints (`readOnlyHint`, `destructiveHint`, ...); often empty. */
  annotations: { [key: string]: Json };
}

/** All that a harness is told of a run. */
interface RunContext {
  /** Opaque. */
  traceId: string;
  /** The user's request; empty where it comes later, through `onUserMessage`. */
  instruction: string;
  tools: Tool[];
}

/** A call that the model proposes. */
interface ToolCall {
  id: string;
  server: string | null;
  tool: string;
  arguments: { [key: string]: Json };
}

/** What a tool answered. */
interface ToolResult {
  content: string;
  isError: boolean;
}

// ---------------------------------------------------------------- what hooks return

interface Allow { readonly do: "allow" }
interface Rewrite { readonly do: "rewrite"; readonly arguments: object }
interface Redirect { readonly do: "redirect"; readonly call: RedirectedCall }
interface Block { readonly do: "block"; readonly reason: string }
interface Keep { readonly do: "keep" }
interface Replace { readonly do: "replace"; readonly text: string }

/** The call to execute instead; its tool must be on offer. */
interface RedirectedCall { tool: string; arguments: object; server?: string | null; id?: string }

type CallDecision = Allow | Rewrite | Redirect | Block;
type TextDecision = Keep | Replace | Block;

/** Execute as proposed. */
declare function allow(): Allow;
/** Execute with these arguments: the whole object, not a patch. */
declare function rewrite(args: object): Rewrite;
/** Execute another call. */
declare function redirect(call: RedirectedCall): Redirect;
/** Do not execute, or withhold; the reason is read by the model (or the user). */
declare function block(reason: string): Block;
/** Deliver as it is. */
declare function keep(): Keep;
/** Deliver this text. */
declare function replace(text: string): Replace;

// ---------------------------------------------------------------- the hooks

/** What `harness.js` may export; every hook is optional, none may be async. */
interface Hooks {
  /** Once, first. Names of tools to hide, or nothing. */
  begin?(ctx: RunContext): string[] | null | undefined | void;
  /** Each later turn of the user. */
  onUserMessage?(text: string): void;
  /** Once, before the first turn; `POLICY.md` is in the prompt already. */
  systemPromptTransform?(prompt: string): string;
  /** Before each proposed call. */
  onPreToolCall?(call: ToolCall): CallDecision;
  /** After each executed call. */
  onPostToolCall?(call: ToolCall, result: ToolResult): TextDecision;
  /** Before the user sees the answer. */
  onFinalAnswer?(text: string): TextDecision;
}

// ---------------------------------------------------------------- from the host

/** The model's answer about untrusted text, in quarantine. Throws where no model is there. */
declare function classify(question: string, text: string): string;
/** All matches as UTF-16 ranges, ends exclusive. Rust syntax, linear time. Throws on a bad pattern. */
declare function regexFindAll(pattern: string | RegExp, text: string): [number, number][];
/** A line in the trajectory's record. */
declare function log(message: unknown): void;

// ---------------------------------------------------------------- from the prelude: text

/** Without zero-width, bidirectional and tag characters. */
declare function stripInvisible(text: string): string;
/** NFKC, nothing invisible, look-alike letters as Latin ones; case and spacing stay. */
declare function foldText(text: string): string;
/** `foldText`, lower case, single spaces: the form in which values are compared. */
declare function normalizeText(text: string): string;
/** Lower-case words. */
declare function words(text: string): string[];
/** Whether a whole token occurs in a text; both normalised. */
declare function containsToken(haystack: string, needle: string): boolean;
declare function sentences(text: string): string[];

// ---------------------------------------------------------------- from the prelude: values

type TokenKind = "email" | "url" | "iban" | "file" | "path" | "id";

/** Typed values in a text, in order, `value` normalised. */
declare function extractValues(text: string): { kind: TokenKind; value: string }[];
/** Dates as `YYYY-MM-DD`, the year `*` where none is given. */
declare function extractDates(text: string): string[];
/** Whether two such dates can be the same day. */
declare function sameDate(a: string, b: string): boolean;
/** Numbers that can be amounts. */
declare function extractAmounts(text: string): number[];
/** Passwords, keys, codes, card and account numbers. */
declare function extractSecrets(text: string): { kind: string; value: string }[];
/** Kind of one token; empty for none. */
declare function tokenKind(token: string): TokenKind | "";
/** Without scheme, `www.` and final `/`. */
declare function canonicalUrl(url: string): string;
/** Host of a URL, address or host name. */
declare function hostOf(value: string): string;

// ---------------------------------------------------------------- from the prelude: structure

interface Leaf {
  /** `a.b[0]`; empty for the text itself. */
  path: string;
  key: string;
  /** Place in the outermost list. */
  record: number;
  text: string;
  /** Absent where the text has no types (YAML, prose). */
  raw?: boolean | number | string;
}

declare function argumentLeaves(args: object): Leaf[];
/** Leaves of tool output: JSON, Python literals, YAML, HTML, prose. */
declare function resultLeaves(content: string): Leaf[];
/** A copy in which one leaf is replaced; `at` is the path of `value` itself. */
declare function replaceLeaf<T>(value: T, path: string, leaf: unknown, at?: string): T;
/** JSON or a Python literal; undefined where the text is neither. */
declare function parseLiteral(text: string): Json | undefined;
/** HTML as lines of text. */
declare function htmlText(text: string): string;

// ---------------------------------------------------------------- from the prelude: meaning

type EffectClass = "send" | "pay" | "create" | "delete" | "update" | "share" | "reserve" | "execute";

interface ToolEffect {
  /** Whether it only reads. */
  read: boolean;
  classes: Set<EffectClass>;
  /** Words of its name and description that stand for secrets and rights. */
  sensitive: string[];
  /** Its results come from outside (`openWorldHint`). */
  outside: boolean;
  destructive: boolean;
}

/** What a tool does, by name, description and annotations. */
declare function toolEffect(tool: Partial<Tool>): ToolEffect;
/** What a text asks for. */
declare function requestedClasses(text: string): Set<EffectClass>;
/** 0 tells nobody to act, 1 an order to whoever reads, 2 addressed to an assistant. */
declare function directiveStrength(sentence: string): 0 | 1 | 2;
declare function isImperative(sentence: string, w?: string[]): boolean;

// ---------------------------------------------------------------- from the prelude: composition

/** State that the mechanisms of one composition share; see `prelude_session.js`. */
declare class Session {
  constructor(ctx: Partial<RunContext>);
  /** All that the user said. */
  request: string;
  /** Something was read that gives an assistant orders. */
  readonly exposed: boolean;
  addUserText(text: string): void;
  effectOf(call: ToolCall): ToolEffect;
  userSaid(value: unknown, kind?: string): boolean;
  mentions(text: string): boolean;
}

/** One value in a call's arguments. */
interface Claim {
  path: string;
  key: string;
  kind: string;
  value: string | number;
  /** The value is the whole argument, not a part of it. */
  whole: boolean;
}

/** Part that a claim plays in its call. */
declare function argumentRole(claim: Claim): "recipient" | "permission" | "amount" | "date" | "object" | "content";
/** Names of the tools on offer that a sentence asks its reader to use. */
declare function toolsMeant(session: Session, sentence: string): string[];
/** The first JSON value or Python literal in a model's answer; undefined if it holds none. */
declare function answerJson(answer: string): unknown;

type Mechanism<P = object> = (params: P, session: Session) => Hooks & {
  /** Hears what was decided, inside the same hook. */
  onDecision?(call: ToolCall, decision: CallDecision): void;
};

/** Joins mechanisms: [mechanism, parameters, name of the rule]. */
declare function compose(parts: [Mechanism<any>, object?, string?][]): Required<Hooks>;
