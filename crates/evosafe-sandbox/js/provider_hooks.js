// Second part of the provider: the hooks of the contract, and the hardening that ends it.

let hooks = { __proto__: null };

/** The one candidate's module, until the first hook evaluates it; null in the shared provider. */
let pending = null;

/** A hook that keeps state failed: every answer is closed. The host sees to it as well. */
let poisoned = false;

function adopt(module) {
  const exported = module();
  for (const name of ownKeys(exported)) {
    if (typeof exported[name] !== "function") {
      throw new Malformed(`export \`${name}\` is ${typeName(exported[name])}, not a function`);
    }
  }
  hooks = exported;
  return true;
}

/** Whether hooks may be asked. */
function ready(hook) {
  if (pending !== null) {
    const module = pending;
    pending = null;
    poisoned = !guard(false, () => adopt(module));
    return !poisoned;
  }
  if (poisoned) diagnostics.fault("poisoned", `${hook} was not run: an earlier fault`, "");
  return !poisoned;
}

/** `guard` for the hooks that tell a harness what it needs to judge calls by. */
function guardState(otherwise, body) {
  let done = false;
  const answer = guard(otherwise, () => {
    const value = body();
    done = true;
    return value;
  });
  poisoned = !done;
  return answer;
}

export function load(source) {
  return guard(false, () => adopt(evaluate(source)));
}

export function begin(ctx) {
  if (!ready("begin")) return [];
  const hook = hooks.begin;
  if (hook === undefined) return [];
  return guardState([], () => {
    for (const tool of ctx.tools) {
      lazyJson(tool, "inputSchema");
      lazyJson(tool, "annotations");
    }
    return hiddenTools(hook(ctx));
  });
}

export function onUserMessage(text) {
  if (!ready("onUserMessage")) return;
  const hook = hooks.onUserMessage;
  if (hook === undefined) return;
  guardState(undefined, () => { hook(text); });
}

export function systemPromptTransform(prompt) {
  if (!ready("systemPromptTransform")) return prompt;
  const hook = hooks.systemPromptTransform;
  if (hook === undefined) return prompt;
  return guardState(prompt, () => field("systemPromptTransform", "the result", "prompt", hook(prompt)));
}

export function onPreToolCall(call) {
  if (!ready("onPreToolCall")) return CALL_CLOSED;
  const hook = hooks.onPreToolCall;
  if (hook === undefined) return ALLOW;
  return guard(CALL_CLOSED, () => {
    const id = call.id;
    return callDecision({ id }, hook(openCall(call)));
  });
}

export function onPostToolCall(call, result) {
  if (!ready("onPostToolCall")) return RESULT_CLOSED;
  const hook = hooks.onPostToolCall;
  if (hook === undefined) return KEEP;
  return guard(RESULT_CLOSED, () => textDecision("onPostToolCall", hook(openCall(call), result)));
}

export function onFinalAnswer(text) {
  if (!ready("onFinalAnswer")) return ANSWER_CLOSED;
  const hook = hooks.onFinalAnswer;
  if (hook === undefined) return KEEP;
  return guard(ANSWER_CLOSED, () => textDecision("onFinalAnswer", hook(text)));
}

harden();
// Parsed when the component is built, evaluated in each trajectory.
if (CANDIDATE !== null) pending = evaluate(CANDIDATE);
