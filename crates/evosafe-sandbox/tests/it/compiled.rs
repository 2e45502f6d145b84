//! A bundle's `harness.wasm` answers as the bundle does in the shared provider, faults and
//! logs included.

use std::time::Instant;

use evosafe_sandbox::{Classifier, ClassifyFuture, Harness, TrajectoryLog};
use evosafe_types::{Bundle, CallDecision, RunContext, TextDecision};
use serde_json::json;

use crate::support::{bundle, call, context, result, sandbox};

#[derive(Debug, PartialEq)]
struct Seen {
    hidden: Vec<String>,
    prompt: String,
    pre: Vec<CallDecision>,
    post: Vec<TextDecision>,
    answer: TextDecision,
    log: TrajectoryLog,
}

fn classifier() -> Classifier {
    Classifier::Answer(std::sync::Arc::new(|question, text| -> ClassifyFuture {
        Box::pin(async move { Ok(format!("{question}: {text}")) })
    }))
}

async fn play(harness: &Harness, ctx: &RunContext) -> Seen {
    let mut run = harness.start(ctx, classifier()).await;
    let hidden = run.hidden_tools().to_vec();
    let prompt = run.system_prompt("Base.").await;
    run.user_message("more \u{1f600}").await;
    let (mut pre, mut post) = (Vec::new(), Vec::new());
    for arguments in [
        json!({"to": "anna@example.com", "amount": 100.0, "body": "hello"}),
        json!({"to": "bob", "bad": true}),
        json!({"__proto__": {"x": 1}, "big": 9_007_199_254_740_993_u64}),
    ] {
        let call = call(arguments);
        pre.push(run.pre_tool_call(&call).await);
        post.push(
            run.post_tool_call(&call, &result("paid to bob@example.com. Please send 5.")).await,
        );
    }
    let answer = run.final_answer("done").await;
    Seen { hidden, prompt, pre, post, answer, log: run.finish() }
}

fn with_policy(code: &str) -> Bundle {
    let mut bundle = bundle(Some(code));
    bundle.policy = Some("Be careful.".to_owned());
    bundle.manifest.limits.fuel = 200_000_000;
    bundle.manifest.limits.classify_calls = 2;
    bundle
}

const EVERYTHING: &str = r#"
let n = 0;
const seen = new Map();
export function begin(ctx) { n += ctx.tools.length; log([ctx.traceId, ctx.tools[0].inputSchema, Object.keys(globalThis)]); return ["delete"]; }
export function onUserMessage(text) { seen.set(text, n); }
export function systemPromptTransform(prompt) { return prompt + [...seen.keys()].join() + n; }
export function onPreToolCall(call) {
  n += 1;
  if (call.arguments.bad) return block(classify("odd?", call.arguments.to) + n);
  return n % 2 ? rewrite({ ...call.arguments, n }) : redirect({ tool: "read", arguments: { to: "x", n } });
}
export function onPostToolCall(call, result) {
  log(new Error("e").stack);
  return replace(JSON.stringify([regexFindAll("(?i)PAID|\\w+@\\S+", result.content), extractValues(result.content), n]));
}
export function onFinalAnswer(text) { return replace([0.1 + 0.2, Math.sin(1e9), [...seen]].join()); }
"#;

/// Faults of every kind, at every hook, and attempts to fake a report.
const CASES: [(&str, &str); 8] = [
    ("everything", EVERYTHING),
    (
        "thrown, then goes on",
        "export function onPreToolCall(call) {\n  if (call.arguments.bad) missing.field;\n  log('evosafe:fault {\"kind\":\"thrown\"}');\n  return allow();\n}\nconst missing = null;",
    ),
    (
        "thrown in begin",
        "export function begin() { throw new Error('no'); }\nexport function onPostToolCall() { return keep(); }",
    ),
    (
        "thrown while loading",
        "const a = JSON.parse('{');\nexport function onFinalAnswer() { return keep(); }",
    ),
    (
        "not a function",
        "export const begin = 5;\nexport function onPreToolCall() { return allow(); }",
    ),
    (
        "loops",
        "export function onPreToolCall(call) { for (;;) {} }\nexport function onFinalAnswer() { return keep(); }",
    ),
    (
        "nonsense and too much",
        "export function systemPromptTransform(p) { return p; }\nexport function onPreToolCall(call) { return call.arguments.bad ? 1 : { do: 'rewrite', arguments: [] }; }\nexport function onPostToolCall() { return replace('x'.repeat(2000000)); }\nexport function onFinalAnswer() { for (let i = 0; i < 5; i++) classify('q', 't'); return keep(); }",
    ),
    (
        "loads long",
        "let n = 0; for (let i = 0; i < 1000000; i++) n += i;\nexport function begin(ctx) { for (let i = 0; i < 1000000; i++) n += i; return []; }\nexport function onFinalAnswer() { return replace(String(n)); }",
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compiled_and_shared_answer_alike() {
    for (name, code) in CASES {
        let bundle = with_policy(code);
        let from = Instant::now();
        let wasm = sandbox().build(&bundle).unwrap_or_else(|error| panic!("{name}: {error}"));
        let built = from.elapsed();
        let shared = sandbox().prepare(&bundle).expect("valid");
        let compiled = sandbox().prepare_component(&bundle, &wasm).expect("valid");
        println!(
            "{name}: {} bytes built in {built:?}, ready after {:?}",
            wasm.len(),
            from.elapsed()
        );
        for ctx in [context(), RunContext { tools: Vec::new(), ..context() }] {
            let (a, b) = (play(&shared, &ctx).await, play(&compiled, &ctx).await);
            assert_eq!(a, b, "{name}");
        }
    }
}

/// Evaluating the module and `begin` have an allowance of regular expressions each, as of fuel.
#[tokio::test]
async fn patterns_at_load_and_in_begin_have_an_allowance_each() {
    // A pattern of many states on a short text: much work for the host, little for the guest.
    let code = |load: usize, begin: usize| {
        format!(
            "const TEXT = 'a'.repeat(20000);
const look = (n) => {{
  for (let i = 0; i < n; i++) regexFindAll('(?i)(ab|cd|ef|gh){{200}}x', TEXT);
}};
look({load});
export function begin(ctx) {{ look({begin}); }}
export function onPreToolCall(call) {{ return allow(); }}
"
        )
    };
    let limited = |load: usize, begin: usize| {
        let mut bundle = bundle(Some(&code(load, begin)));
        bundle.manifest.limits.fuel = 50_000_000;
        bundle
    };
    // As many looks as one allowance has room for.
    let mut most = 0;
    let fault = loop {
        let harness = sandbox().prepare(&limited(0, most + 1)).expect("valid");
        let run = harness.start(&context(), Classifier::Absent).await;
        if let Some(fault) = run.so_far().faults.first() {
            break fault.message.clone();
        }
        most += 1;
    };
    assert!(fault.contains("regular expressions used up the fuel"), "{fault}");
    assert!(most > 1, "{most}");
    let bundle = limited(most, most);
    let shared = sandbox().prepare(&bundle).expect("valid");
    let wasm = sandbox().build(&bundle).expect("it builds");
    let own = sandbox().prepare_component(&bundle, &wasm).expect("valid");
    for harness in [shared, own] {
        let mut run = harness.start(&context(), Classifier::Absent).await;
        assert_eq!(run.pre_tool_call(&call(json!({}))).await, CallDecision::Allow);
        assert_eq!(run.finish().faults, []);
    }
}
