//! Cache, concurrency, dropped futures, pinned versions.

use std::path::Path;

use evosafe_sandbox::{Classifier, Sandbox, SandboxOptions};
use evosafe_types::{CallDecision, TextDecision};
use serde_json::json;

use crate::support::{bundle, call, context, harness, sandbox};

/// Asks for whatever could depend on addresses, seeds or time.
const PROBE: &str = r#"
export function onFinalAnswer(text) {
  const objects = Array.from({ length: 50 }, (_, i) => ({ i }));
  const shuffled = [...objects].sort((a, b) => (a.i * 7919) % 53 - (b.i * 7919) % 53);
  const weak = new WeakMap(objects.map((o) => [o, o.i]));
  log(Reflect.ownKeys(globalThis).map(String));
  log([...new Map(shuffled.map((o) => [o, weak.get(o)])).values()]);
  log([0.1 + 0.2, Math.sin(1e9), Math.exp(1.5), Math.pow(2.5, 3.7), (123.456).toFixed(2), 1e21 + 1, 0 / 0]);
  log(["é", "z", "a", "Z"].sort().concat(["é", "z", "a"].sort((a, b) => a.localeCompare(b))));
  log([new Date("2024-03-31T02:30:00").toString(), new Date(0).toLocaleString(), Date.parse("1 Jan 2024")]);
  log([String(Symbol("x")), (() => 1).toString(), new Error("e").stack, typeof globalThis]);
  return replace(JSON.stringify(Object.getOwnPropertyNames(Math)));
}"#;

const COUNTER: &str =
    "let n = 0; export function onFinalAnswer() { n += 1; return replace(String(n)); }";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_cache_is_rebuilt_in_silence() {
    sandbox();
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("provider");
    let dir = tempfile::tempdir().expect("temporary folder");
    let newest = std::fs::read_dir(kept)
        .expect("written by the shared sandbox")
        .map(|entry| entry.expect("readable"))
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("provider-"))
        .max_by_key(|entry| entry.metadata().and_then(|m| m.modified()).expect("a time"))
        .expect("one file");
    let file = dir.path().join(newest.file_name());
    let mut bytes = std::fs::read(newest.path()).expect("readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    std::fs::write(&file, &bytes).expect("writable");
    let options = SandboxOptions { cache_dir: Some(dir.path().to_owned()) };
    let rebuilt = Sandbox::new(&options).expect("rebuilt");
    // Components differ in their bytes from build to build; answers must not.
    let mut answers = Vec::new();
    for sandbox in [sandbox(), &rebuilt] {
        let harness = sandbox.prepare(&bundle(Some(PROBE))).expect("valid");
        let mut run = harness.start(&context(), Classifier::Absent).await;
        answers.push((run.final_answer("x").await, run.finish()));
    }
    assert!(answers[0].1.faults.is_empty(), "{:?}", answers[0]);
    assert_eq!(answers[0], answers[1]);
    assert_ne!(std::fs::read(&file).expect("readable"), bytes, "the damaged file was replaced");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trajectories_run_side_by_side_and_alike() {
    let code = "const seen = []; export function onPreToolCall(call) { seen.push(call.arguments.i); return block(seen.join()); }";
    let harness = harness(code);
    let tasks: Vec<_> = (0..64)
        .map(|task| {
            let harness = harness.clone();
            tokio::spawn(async move {
                let mut run = harness.start(&context(), Classifier::Absent).await;
                let mut last = CallDecision::Allow;
                for i in 0..5 {
                    last = run.pre_tool_call(&call(json!({"i": task * 10 + i}))).await;
                    tokio::task::yield_now().await;
                }
                (task, last)
            })
        })
        .collect();
    for task in tasks {
        let (task, last) = task.await.expect("no panic");
        let expected: Vec<String> = (0..5).map(|i| (task * 10 + i).to_string()).collect();
        assert_eq!(last, CallDecision::Block { reason: expected.join(",") });
    }
}

#[tokio::test]
async fn more_trajectories_than_slots_wait_for_one_to_end() {
    let harness = harness(COUNTER);
    let mut alive = Vec::new();
    for _ in 0..1024 {
        alive.push(harness.start(&context(), Classifier::Absent).await);
    }
    let waiting = tokio::spawn({
        let harness = harness.clone();
        async move { harness.start(&context(), Classifier::Absent).await.final_answer("").await }
    });
    tokio::task::yield_now().await;
    drop(alive);
    let answer = waiting.await.expect("no panic");
    assert_eq!(answer, TextDecision::Replace { text: "1".to_owned() });
}

#[tokio::test]
async fn a_dropped_hook_call_poisons_the_trajectory() {
    let code = "export function onPreToolCall(call) { try { classify('q', 't'); } catch {} return allow(); }";
    let forever = |_: String, _: String| -> evosafe_sandbox::ClassifyFuture {
        Box::pin(std::future::pending())
    };
    let classifier = Classifier::Answer(std::sync::Arc::new(forever));
    let mut run = harness(code).start(&context(), classifier).await;
    let nothing = call(json!({}));
    let short = std::time::Duration::from_millis(20);
    assert!(tokio::time::timeout(short, run.pre_tool_call(&nothing)).await.is_err());
    assert!(matches!(run.pre_tool_call(&nothing).await, CallDecision::Block { .. }));
    assert_eq!(run.finish().faults[0].kind, "poisoned");
}

#[tokio::test]
async fn dates_are_utc_and_fixed() {
    let code = "export function onFinalAnswer(text) {\n  const d = new Date(text);\n  return replace([d.toISOString(), d.getTimezoneOffset(), d.getHours(), Date.UTC(2024, 0, 1), new Date(2024, 0, 1).toString(), d instanceof Date].join());\n}";
    let mut run = harness(code).start(&context(), Classifier::Absent).await;
    let text = "2024-05-15T10:30:00.000Z,0,10,1704067200000,Mon Jan 01 2024 00:00:00 GMT+0000,true";
    let answer = run.final_answer("2024-05-15T10:30:00").await;
    assert_eq!(answer, TextDecision::Replace { text: text.to_owned() });
}

#[tokio::test]
async fn freezing_does_not_get_in_the_way() {
    let code = r#"
class Refusal extends Error { constructor(m) { super(m); this.name = "Refusal"; this.message = m + "!"; } }
export function onFinalAnswer(text) {
  const counts = {};
  for (const word of ["toString", "constructor", "a", "a"]) counts[word] = (Object.hasOwn(counts, word) ? counts[word] : 0) + 1;
  const o = Object.create(null); o.hasOwnProperty = 1;
  const e = new Refusal("x");
  const plain = {}; plain.valueOf = () => 7;
  return replace([JSON.stringify(counts), e.name, e.message, e instanceof Error, plain + 1, `${e}`].join("|"));
}"#;
    let mut run = harness(code).start(&context(), Classifier::Absent).await;
    let text = r#"{"toString":1,"constructor":1,"a":2}|Refusal|x!|true|8|Refusal: x!"#;
    assert_eq!(run.final_answer("").await, TextDecision::Replace { text: text.to_owned() });
}
