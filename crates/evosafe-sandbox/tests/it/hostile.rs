//! Hostile harnesses: each is contained, fails closed, leaves the process healthy and
//! answers the same every time. The corpus is `tests/hostile/`: one file a harness, its first line
//! says what must come of it:
//!
//! `// refused: TEXT`   `prepare` finds it, and says TEXT
//! `// fault: KIND`     the pre-hook (or loading) faults with KIND and the call is blocked
//! `// allowed`         whatever it tries has no effect and its pre-hook allows
//! `// blocked: TEXT`   it finds out itself that it is contained, and blocks with TEXT

use std::path::{Path, PathBuf};

use evosafe_sandbox::{Classifier, TrajectoryLog};
use evosafe_types::{Bundle, CallDecision, TextDecision};
use serde_json::json;

use crate::support::{bundle, call, context, harness, result, sandbox};

/// Everything a trajectory answered and left behind.
#[derive(Debug, PartialEq)]
struct Seen {
    hidden: Vec<String>,
    prompt: String,
    pre: [CallDecision; 2],
    post: TextDecision,
    answer: TextDecision,
    log: TrajectoryLog,
}

async fn run(bundle: &Bundle) -> Seen {
    let harness = sandbox().prepare(bundle).expect("prepared before");
    let mut run = harness.start(&context(), Classifier::Absent).await;
    let hidden = run.hidden_tools().to_vec();
    let prompt = run.system_prompt("Base.").await;
    run.user_message("more").await;
    let pay = call(json!({"to": "anna", "amount": 5}));
    let first = run.pre_tool_call(&pay).await;
    let second = run.pre_tool_call(&pay).await;
    let post = run.post_tool_call(&pay, &result("paid \u{1f600}")).await;
    let answer = run.final_answer("done").await;
    Seen { hidden, prompt, pre: [first, second], post, answer, log: run.finish() }
}

fn corpus() -> Vec<(PathBuf, String)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir)
        .expect("the corpus is there")
        .map(|entry| entry.expect("readable").path())
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let code = std::fs::read_to_string(&file).expect("readable");
            (file, code)
        })
        .collect()
}

fn hostile(code: &str) -> Bundle {
    let mut bundle = bundle(Some(code));
    let limits = &mut bundle.manifest.limits;
    limits.fuel = 100_000_000;
    limits.output_bytes = 64 << 10;
    limits.classify_calls = 8;
    bundle
}

async fn one(name: &str, code: &str) -> Result<(), String> {
    let expected = code.lines().next().and_then(|line| line.strip_prefix("// "));
    let expected = expected.ok_or("no expectation in the first line")?;
    let (verdict, detail) = expected.split_once(": ").unwrap_or((expected, ""));
    let bundle = hostile(code);
    let error = sandbox().prepare(&bundle).err();
    if verdict == "refused" {
        let message = error.ok_or("it was not refused")?.to_string();
        return message.contains(detail).then_some(()).ok_or(message);
    }
    if let Some(error) = error {
        return Err(format!("refused: {error}"));
    }
    let first = run(&bundle).await;
    if run(&bundle).await != first {
        return Err("the second run differs".to_owned());
    }
    let blocked = matches!(first.pre[0], CallDecision::Block { .. });
    let faults = &first.log.faults;
    let holds = match verdict {
        "fault" => blocked && faults.first().is_some_and(|fault| fault.kind == detail),
        "allowed" => first.pre[0] == CallDecision::Allow && faults.is_empty(),
        "blocked" => {
            matches!(&first.pre[0], CallDecision::Block { reason } if reason.contains(detail))
                && faults.is_empty()
        }
        _ => return Err(format!("unknown expectation `{expected}`")),
    };
    if !holds {
        return Err(format!(
            "expected {expected}, got {:?}, faults {:?}",
            first.pre[0],
            faults.first()
        ));
    }
    // A fault that ends the instance closes everything after it.
    let dead = faults.iter().any(|fault| ["fuel", "memory", "trap"].contains(&fault.kind.as_str()));
    if dead && !matches!(first.answer, TextDecision::Block { .. }) {
        return Err(format!("{name} answers after a trap: {first:#?}"));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_harnesses_are_contained() {
    let corpus = corpus();
    assert!(corpus.len() >= 25, "{} hostile harnesses", corpus.len());
    let healthy =
        harness("let n = 0; export function onPreToolCall() { n += 1; return block(String(n)); }");
    let mut failures = Vec::new();
    for (file, code) in corpus {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (name, outcome) = tokio::spawn(async move { (name.clone(), one(&name, &code).await) })
            .await
            .expect("no panic");
        if let Err(message) = outcome {
            failures.push(format!("{name}: {message}"));
        }
        let mut run = healthy.start(&context(), Classifier::Absent).await;
        assert_eq!(
            run.pre_tool_call(&call(json!({}))).await,
            CallDecision::Block { reason: "1".to_owned() },
            "unhealthy after {name}"
        );
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
