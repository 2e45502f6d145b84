//! Harnesses that are components: one written by hand runs, and what is wrong with others
//! is said.

use evosafe_sandbox::{Classifier, TrajectoryLog};
use evosafe_types::{Bundle, CallDecision, Language, TextDecision, ToolCall};
use serde_json::json;

use crate::support::{bundle, call, context, result, sandbox};

const GATE: &str = include_str!("../components/gate.wat");

fn component(wasm: &[u8]) -> Bundle {
    let mut bundle = bundle(None);
    bundle.manifest.language = Language::Component;
    bundle.component = Some(wasm.into());
    bundle.manifest.limits.fuel = 10_000_000;
    bundle.manifest.limits.memory_mib = 8;
    bundle
}

/// The hand-written component with changes to its text.
fn gate(changes: &[(&str, &str)]) -> Bundle {
    let mut text = GATE.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "the component has no `{from}`");
        text = text.replace(from, to);
    }
    component(&wat::parse_str(&text).unwrap_or_else(|error| panic!("{changes:?}: {error}")))
}

fn other(tool: &str) -> ToolCall {
    ToolCall { tool: tool.to_owned(), ..call(json!({"to": "anna"})) }
}

fn refusal(bundle: &Bundle) -> String {
    match sandbox().prepare(bundle) {
        Ok(_) => panic!("it was not refused"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn one_written_by_hand_runs() {
    let bundle = gate(&[]);
    let harness = sandbox().prepare(&bundle).expect("it fits the contract");
    assert_eq!(harness.hooks().len(), 6);
    for _ in 0..2 {
        let mut run = harness.start(&context(), Classifier::Absent).await;
        assert_eq!(run.hidden_tools(), [] as [String; 0]);
        let long = "Base. \u{1f600}".repeat(20_000);
        assert_eq!(run.system_prompt(&long).await, long, "texts beyond a page of memory");
        run.user_message("more").await;
        let blocked = CallDecision::Block { reason: "payments need a person".to_owned() };
        assert_eq!(run.pre_tool_call(&other("pay")).await, blocked);
        assert_eq!(run.pre_tool_call(&other("delete")).await, CallDecision::Allow);
        // It said that it failed: its `allow` does not count.
        let closed = run.pre_tool_call(&other("read")).await;
        assert!(matches!(closed, CallDecision::Block { .. }), "{closed:?}");
        assert_eq!(run.post_tool_call(&other("pay"), &result("x")).await, TextDecision::Keep);
        let answer = run.final_answer("done").await;
        assert_eq!(answer, TextDecision::Replace { text: "checked by hand".to_owned() });
        let TrajectoryLog { faults, log, classify } = run.finish();
        assert_eq!((log.len(), classify.len()), (3, 0), "{log:?}");
        let told: Vec<_> = faults.iter().map(|f| (f.kind.as_str(), f.message.as_str())).collect();
        assert_eq!(told, [("malformed", "reads are beyond me")]);
    }
    let report = sandbox().check(&bundle).await;
    assert!(report.passed(), "{:#?}", report.findings);
    // The component is the code: it decides the id, and `build` hands it back.
    assert_ne!(bundle.id(), gate(&[("payments need", "Payments need")]).id());
    assert_ne!(bundle.behaviour(), gate(&[("payments need", "Payments need")]).behaviour());
    assert_eq!(sandbox().build(&bundle).expect("built"), bundle.component.as_deref().expect("set"));
}

#[tokio::test]
async fn what_it_does_wrong_is_contained() {
    let begins = "(func (export \"begin\") (param i32 i32 i32 i32 i32 i32) (result i32)";
    let finals = "(call $answer (i32.const 1) (i32.const 1200) (i32.const 15))";
    // (what to put in, at which hook it shows, kind of the fault)
    let cases = [
        (begins, format!("{begins} (loop $l (br $l))"), "begin", "fuel"),
        (begins, format!("{begins} unreachable"), "begin", "trap"),
        (
            finals,
            "(call $answer (i32.const 9) (i32.const 0) (i32.const 0))".to_owned(),
            "final",
            "malformed",
        ),
        (
            finals,
            "(call $answer (i32.const 1) (i32.const -8) (i32.const 99))".to_owned(),
            "final",
            "malformed",
        ),
        (
            finals,
            "(call $answer (i32.const 1) (i32.const 0) (i32.const 60000000))".to_owned(),
            "final",
            "malformed",
        ),
        (finals, format!("(drop (memory.grow (i32.const 1000))) {finals}"), "final", "memory"),
        (
            "(memory (export \"memory\") 1)",
            "(memory (export \"memory\") 1000)".to_owned(),
            "begin",
            "memory",
        ),
    ];
    for (from, to, at, kind) in cases {
        let harness = sandbox().prepare(&gate(&[(from, &to)])).expect("it fits the contract");
        let mut seen = Vec::new();
        for _ in 0..2 {
            let mut run = harness.start(&context(), Classifier::Absent).await;
            let before = run.pre_tool_call(&other("delete")).await;
            assert_eq!(before == CallDecision::Allow, at == "final", "{to}: {before:?}");
            let answer = run.final_answer("done").await;
            assert!(matches!(answer, TextDecision::Block { .. }), "{to}: {answer:?}");
            let after = run.pre_tool_call(&other("delete")).await;
            assert!(matches!(after, CallDecision::Block { .. }), "{to}: {after:?}");
            seen.push(run.finish());
        }
        assert_eq!(seen[0], seen[1], "{to}");
        assert_eq!(seen[0].faults[0].kind, kind, "{to}: {:?}", seen[0].faults);
    }
}

#[test]
fn what_does_not_fit_the_contract_is_said() {
    let hidden = |hook: &str| {
        let export = format!("(func (export \"{hook}\") (param \"t");
        let renamed = format!("(func (export \"my-{hook}\") (param \"t");
        (export, renamed)
    };
    let halves = [hidden("on-user-message"), hidden("on-final-answer")];
    let halves: Vec<(&str, &str)> =
        halves.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    let message = refusal(&gate(&halves));
    assert_eq!(
        message,
        "harness.wasm: does not export `on-user-message`, `on-final-answer`: a component exports every hook"
    );
    let message = refusal(&gate(&[("@1.0.0", "@2.1.0")]));
    for interface in ["types", "host"] {
        let says = format!(
            "imports `evosafe:harness/{interface}@2.1.0`: it is built for another version of the contract; this program runs evosafe:harness/* 1.x"
        );
        assert!(message.contains(&says), "{message}");
    }
    // A later minor version of the same major one runs, if it asks for nothing new.
    assert!(sandbox().prepare(&gate(&[("@1.0.0", "@1.0.7")])).is_ok());
    let clock = "(component\n  (import \"wasi:clocks/monotonic-clock@0.2.0\" (instance (export \"now\" (func (result u64)))))";
    let message = refusal(&gate(&[("(component\n", clock)]));
    assert!(
        message.contains(
            "imports `wasi:clocks/monotonic-clock@0.2.0`, which the sandbox does not have"
        ),
        "{message}"
    );
    let message = refusal(&gate(&[(
        "(export \"log\" (func (param \"message\" string)))",
        "(export \"log\" (func (param \"message\" string)))\n(export \"now\" (func (result u64)))",
    )]));
    assert!(message.contains("does not fit the contract") && message.contains("now"), "{message}");
    let message = refusal(&gate(&[(
        "(func (export \"begin\") (param \"ctx\" $run-context) (result (list string))",
        "(func (export \"begin\") (param \"ctx\" $run-context) (result string)",
    )]));
    assert_eq!(message, "harness.wasm: exports `begin` with another type than the contract has");
}

#[test]
fn what_is_no_component_is_said() {
    let module = wat::parse_str("(module (func (export \"begin\")))").expect("valid");
    let whole = gate(&[]).component.expect("set");
    for bytes in
        [&b""[..], b"\0asm", b"export function begin() {}", &module, &whole[..whole.len() / 2]]
    {
        let message = refusal(&component(bytes));
        assert!(message.starts_with("harness.wasm: is not a WebAssembly component"), "{message}");
    }
    let mut none = component(b"");
    none.component = None;
    assert!(refusal(&none).contains("harness.wasm: missing"));
}
