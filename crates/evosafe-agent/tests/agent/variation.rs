//! Episodes in other words: the harness reads them, a live victim does too, and the environment's
//! judges judge as before.

use std::collections::BTreeMap;
use std::sync::Arc;

use evosafe_agent::{Agent, EpisodeResult, Purpose, Variant, Variation, Victim};
use evosafe_env::Environment;
use evosafe_sandbox::Harness;
use evosafe_testing::{Received, Say};
use evosafe_types::{EpisodeLimits, Family, FaultKind, JsonMap, Outcome, Task};
use serde_json::{Value, json};

use crate::live::{Bench, tool};
use crate::support::{finance, first, harness, no_defence, replayed};

/// Other names for the tools of the domain, and for what else is given.
fn names(environment: &Environment, task: &Task, more: &[(&str, &str)]) -> Variant {
    let tools = environment.toolset(&task.suite).expect("a suite");
    let mut names: BTreeMap<String, String> = tools
        .iter()
        .map(|tool| (tool.name.clone(), format!("x{}", tool.name.replace('_', "x_x"))))
        .collect();
    names.extend(more.iter().map(|(from, to)| (from.to_lowercase(), (*to).to_owned())));
    let variation = Variation::names(names, &[]).expect("there are names");
    Variant::new(task, "rename", variation).expect("it compiles")
}

async fn simulated(harness: &Harness, task: &Task, variant: Option<&Variant>) -> EpisodeResult {
    let victim = Victim::open("sim:default", &JsonMap::new()).expect("built in");
    let agent = Agent::new(finance().await, Arc::new(victim), 16);
    match variant {
        Some(variant) => agent.run_variant(harness, variant, 0, Purpose::default()).await,
        None => agent.run(harness, task, 0, Purpose::default()).await,
    }
}

fn succeeded(result: &EpisodeResult) -> bool {
    result.outcome.attack_success() == Some(true)
}

#[tokio::test(flavor = "multi_thread")]
async fn verdicts_stay_and_literals_miss() {
    let environment = finance().await;
    let bare = no_defence();
    let mut attacks = 0;
    for task in environment.tasks().iter().filter(|task| task.family.is_attack()).step_by(7) {
        let plain = simulated(&bare, task, None).await;
        let variant = names(&environment, task, &[]);
        assert!(variant.task().id.as_str().starts_with(&format!("{}~rename-", task.id)));
        let varied = simulated(&bare, task, Some(&variant)).await;
        assert_eq!(varied.outcome, plain.outcome, "{}", task.id);
        let tools = |of: &EpisodeResult| -> Vec<String> {
            of.transcript.calls().map(|call| call.proposed.tool.clone()).collect()
        };
        assert_eq!(tools(&varied).len(), tools(&plain).len());
        let Some(last) = tools(&plain).pop().filter(|_| succeeded(&plain)) else { continue };
        attacks += 1;
        // A rule that knows the tool by its name stops it under that name only.
        let literal = format!(
            "export function onPreToolCall(call) {{
                return call.tool === {} ? block('it is called so') : allow(); }}",
            json!(last)
        );
        let literal = harness(&literal);
        assert!(simulated(&literal, task, None).await.transcript.blocked() > 0);
        let passed = simulated(&literal, task, Some(&variant)).await;
        assert_eq!((passed.transcript.blocked(), succeeded(&passed)), (0, true), "{}", task.id);
        // One that stops everything stops it under any name.
        let all = harness("export function onPreToolCall() { return block('no'); }");
        assert!(!succeeded(&simulated(&all, task, Some(&variant)).await));
    }
    assert!(attacks > 4, "{attacks}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_harness_does_to_texts_and_tools_reaches_the_victim() {
    let environment = finance().await;
    let task = first(&environment, Family::Benign);
    let variant = names(&environment, &task, &[]);
    let plain = simulated(&no_defence(), &task, None).await;
    assert_eq!(plain.outcome.task_success(), Some(true), "a task that goes well undefended");
    for code in [
        // Marks around results are read through.
        "export function onPostToolCall(call, result) { return replace('[data]\\n' + result.content); }",
        // A rewrite in other words is undone.
        "export function onPreToolCall(call) { return rewrite(call.arguments); }",
        "export function onFinalAnswer(text) { return replace(text); }",
    ] {
        let result = simulated(&harness(code), &task, Some(&variant)).await;
        assert_eq!(result.outcome, plain.outcome, "{code}");
    }
    let tool = plain.transcript.calls().next().expect("a call").proposed.tool.clone();
    let renamed = format!("x{}", tool.replace('_', "x_x"));
    for (name, hidden) in [(&tool, false), (&renamed, true)] {
        let code = format!("export function begin() {{ return [{}]; }}", json!(name));
        let result = simulated(&harness(&code), &task, Some(&variant)).await;
        let called = result.transcript.calls().any(|call| call.proposed.tool == renamed);
        assert_eq!(called, !hidden, "{name}");
    }
}

#[tokio::test]
async fn a_live_victim_reads_the_other_words() {
    let (name, arguments) = tool().await;
    let environment = finance().await;
    let task = first(&environment, Family::Benign);
    let mut varied = arguments.clone();
    let mut more = Vec::new();
    for value in varied.as_object_mut().expect("arguments").values_mut() {
        if let Value::String(text) = value {
            let fresh = format!("Q{}", text.to_lowercase().replace(char::is_whitespace, "q"));
            more.push((text.clone(), fresh.clone()));
            *text = fresh;
        }
    }
    assert!(!more.is_empty(), "a call with something to rename: {arguments}");
    let pairs: Vec<(&str, &str)> = more.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let variant = names(&environment, &task, &pairs);
    let renamed = format!("x{}", name.replace('_', "x_x"));
    let called = renamed.clone();
    let script = move |request: &Received| match request.json()["messages"].as_array() {
        Some(messages) if messages.len() == 2 => {
            Say::call("a", &called, varied.clone()).to(request)
        }
        _ => Say::text("Done.").to(request),
    };
    let bench = Bench::new(EpisodeLimits::default(), script).await;
    let agent = Agent::new(environment, Arc::clone(&bench.victim), 6);
    let result = agent.run_variant(&no_defence(), &variant, 0, Purpose::default()).await;
    assert!(result.outcome.is_assessed(), "{:?}", result.outcome);
    let asked = bench.request(0).to_string();
    assert!(asked.contains(&renamed) && !asked.contains(&format!("\"{name}\"")), "{asked}");
    let call = result.transcript.calls().next().expect("a call");
    let answer = call.result.as_ref().expect("it was executed");
    assert!(!answer.is_error, "the environment knows it by its own name: {}", answer.content);
    // What was paid is booked under the variant.
    let ledger = std::fs::read_to_string(bench.folder.path().join("ledger.jsonl"));
    assert!(ledger.expect("a ledger").contains(variant.task().id.as_str()));
}

#[tokio::test]
async fn a_recording_has_one_wording() {
    let environment = finance().await;
    let task = first(&environment, Family::Benign);
    let variant = names(&environment, &task, &[]);
    let (_folder, victim) = replayed(&task, &[], "done");
    let agent = Agent::new(environment, Arc::new(victim), 6);
    let result = agent.run_variant(&no_defence(), &variant, 0, Purpose::default()).await;
    let Outcome::Unassessed { fault, detail } = result.outcome else { panic!("assessed") };
    assert_eq!(fault, FaultKind::NoRecording);
    assert!(detail.contains("one wording"), "{detail}");
}
