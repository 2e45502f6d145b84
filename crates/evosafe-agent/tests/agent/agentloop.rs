//! The order of hooks and calls, refusals, limits, faults, and what the judge is told.

use std::sync::Arc;

use evosafe_agent::{Agent, EpisodeResult, Purpose, Victim};
use evosafe_types::{
    CallDecision, EpisodeEnd, Family, FaultKind, Hook, JsonMap, Outcome, REFUSAL_PREFIX,
    TextDecision,
};
use serde_json::json;

use crate::support::{
    bundle, call, finance, first, harness, no_defence, prepared, replayed, run, task, turn,
};

/// Writes down which hook it is asked in.
const DIARY: &str = r#"
let lines = [];
export function onPreToolCall(call) { lines.push("pre " + call.arguments.n); return allow(); }
export function onPostToolCall(call, result) { lines.push("post " + call.arguments.n); return keep(); }
export function onFinalAnswer(text) { return replace(lines.join(", ")); }
"#;

fn answer(result: &EpisodeResult) -> &str {
    &result.transcript.answer.as_ref().expect("an answer").delivered
}

#[tokio::test]
async fn all_pre_hooks_then_all_calls_then_all_post_hooks() {
    let calls =
        |from: u32| turn(&[call("none", json!({"n": from})), call("none", json!({"n": from + 1}))]);
    let result = run(&harness(DIARY), &[calls(1), calls(3)], "Done.", 16).await;
    assert_eq!(answer(&result), "pre 1, pre 2, post 1, post 2, pre 3, pre 4, post 3, post 4");
    assert_eq!(result.cost.victim_turns, 3);
    assert_eq!(result.cost.tool_calls, 4);
    assert_eq!(result.transcript.end, EpisodeEnd::Answered);
}

#[tokio::test]
async fn a_burst_cannot_slip_past_a_counter() {
    let code = "let n = 0; export function onPreToolCall() { n += 1; return n > 1 ? block('one only') : allow(); }";
    let burst = turn(&[call("a", json!({})), call("b", json!({})), call("c", json!({}))]);
    let result = run(&harness(code), &[burst], "Done.", 16).await;
    assert_eq!(result.cost.tool_calls, 1);
    assert_eq!(result.transcript.blocked(), 2);
    let refused = &result.transcript.turns[0].calls[1];
    assert_eq!(refused.delivered.content, format!("{REFUSAL_PREFIX}one only"));
    assert!(refused.delivered.is_error);
    assert_eq!((&refused.executed, &refused.result, &refused.post), (&None, &None, &None));
}

#[tokio::test]
async fn hidden_tools_cannot_be_called() {
    let code = "export function begin() { return ['get_balance']; }";
    let environment = finance().await;
    let task = first(&environment, Family::Benign);
    let tools: Vec<&str> =
        environment.toolset(&task.suite).into_iter().flatten().map(|t| t.name.as_str()).collect();
    let hidden = tools.first().expect("the domain has tools");
    let code = code.replace("get_balance", hidden);
    let result = run(&harness(&code), &[turn(&[call(hidden, json!({}))])], "Done.", 16).await;
    assert_eq!(result.transcript.hidden_tools, [*hidden]);
    assert_eq!(result.cost.tool_calls, 0);
    assert!(result.transcript.turns[0].calls[0].delivered.content.starts_with(REFUSAL_PREFIX));
}

#[tokio::test]
async fn rewritten_and_redirected_calls_are_executed_as_changed() {
    let code = r#"
export function onPreToolCall(call) {
  if (call.tool === "first") return rewrite({ n: 7 });
  return redirect({ tool: call.arguments.to, arguments: { n: 8 } });
}
"#;
    let environment = finance().await;
    let suite = first(&environment, Family::Benign).suite;
    let to = environment.toolset(&suite).expect("tools")[0].name.clone();
    let calls = turn(&[call("first", json!({"n": 1})), call("second", json!({"to": to}))]);
    let result = run(&harness(code), &[calls], "Done.", 16).await;
    let [first, second] = result.transcript.turns[0].calls.as_slice() else { panic!("two calls") };
    assert_eq!(first.proposed.arguments["n"], 1);
    let executed = first.executed.as_ref().expect("it was executed");
    assert_eq!((executed.tool.as_str(), &executed.arguments["n"]), ("first", &json!(7)));
    assert!(matches!(second.decision, CallDecision::Redirect { .. }));
    let executed = second.executed.as_ref().expect("it was executed");
    assert_eq!((&executed.tool, &executed.arguments["n"]), (&to, &json!(8)));
    assert_eq!(result.cost.tool_calls, 2);
}

#[tokio::test]
async fn results_and_answers_can_be_replaced_and_withheld() {
    let code = r#"
export function onPostToolCall(call, result) { return call.tool === "a" ? replace("changed") : block("bad"); }
export function onFinalAnswer(text) { return block("not that"); }
"#;
    let calls = turn(&[call("a", json!({})), call("b", json!({}))]);
    let result = run(&harness(code), &[calls], "Secret.", 16).await;
    let [a, b] = result.transcript.turns[0].calls.as_slice() else { panic!("two calls") };
    assert_eq!(a.delivered.content, "changed");
    // No such tool: still an error, whatever the text.
    assert!(a.delivered.is_error);
    assert_eq!(b.delivered.content, format!("{REFUSAL_PREFIX}bad"));
    let answer = result.transcript.answer.expect("an answer");
    assert_eq!(answer.proposed, "Secret.");
    assert_eq!(answer.decision, TextDecision::Block { reason: "not that".to_owned() });
    assert_eq!(answer.delivered, format!("{REFUSAL_PREFIX}not that"));
}

#[tokio::test]
async fn the_policy_is_appended_once_and_the_hook_sees_it() {
    let both = bundle(
        Some("Be careful."),
        Some("export function systemPromptTransform(p) { return p + '!'; }"),
    );
    let result = run(&prepared(&both), &[], "Done.", 16).await;
    let transcript = result.transcript;
    assert_eq!(transcript.system_prompt, format!("{}\n\nBe careful.!", transcript.base_prompt));
}

#[tokio::test]
async fn the_step_limit_is_behaviour() {
    let turns: Vec<_> = (0..5).map(|n| turn(&[call("none", json!({"n": n}))])).collect();
    let result = run(&no_defence(), &turns, "Done.", 3).await;
    assert_eq!(result.transcript.end, EpisodeEnd::StepLimit);
    assert_eq!(result.transcript.answer, None);
    assert_eq!(result.cost.victim_turns, 3);
    // The last model call of the benchmark's loop is not followed by tools.
    assert_eq!(result.cost.tool_calls, 2);
    assert!(result.outcome.is_assessed());
}

#[tokio::test]
async fn a_harness_fault_is_closed_recorded_and_assessed() {
    let code = "export function onPreToolCall(call) { throw new Error('broken'); }";
    let result = run(&harness(code), &[turn(&[call("a", json!({}))])], "Done.", 16).await;
    assert_eq!(result.cost.tool_calls, 0);
    assert!(result.outcome.is_assessed());
    let [fault] = result.transcript.faults.as_slice() else { panic!("one fault") };
    assert_eq!(fault.hook, Hook::PreToolCall);
    assert!(fault.message.contains("broken"), "{}", fault.message);
}

#[tokio::test]
async fn what_cannot_be_run_is_unassessed() {
    let environment = finance().await;
    let here = first(&environment, Family::Benign);
    let (_folder, victim) = replayed(&here, &[], "Done.");
    let agent = Agent::new(Arc::clone(&environment), Arc::new(victim), 16);
    let fault = |result: EpisodeResult| match result.outcome {
        Outcome::Unassessed { fault, .. } => fault,
        Outcome::Assessed { .. } => panic!("assessed"),
    };
    let elsewhere =
        agent.run(&no_defence(), &task("office", "user_task_0", None), 0, Purpose::default()).await;
    assert_eq!(elsewhere.transcript.end, EpisodeEnd::Infrastructure);
    assert_eq!(fault(elsewhere), FaultKind::NoRecording);
    // Recorded, but the environment has no such task.
    let strange = task("office", "user_task_0", None);
    let (_folder, victim) = replayed(&strange, &[], "Done.");
    let agent = Agent::new(environment, Arc::new(victim), 16);
    assert_eq!(
        fault(agent.run(&no_defence(), &strange, 0, Purpose::default()).await),
        FaultKind::Environment
    );
}

#[tokio::test]
async fn what_a_harness_is_told_is_the_same_for_attack_and_benign_tasks() {
    let code = "let seen; export function begin(ctx) { seen = ctx; return []; }
        export function onFinalAnswer() { return replace(JSON.stringify([seen.traceId, Object.keys(seen).sort()])); }";
    let environment = finance().await;
    let mut told = Vec::new();
    for family in Family::ALL {
        let task = first(&environment, family);
        let (_folder, victim) = replayed(&task, &[], "Done.");
        let agent = Agent::new(Arc::clone(&environment), Arc::new(victim), 16);
        told.push(
            answer(&agent.run(&harness(code), &task, 0, Purpose::default()).await).to_owned(),
        );
    }
    assert_eq!(told[0], told[1]);
    assert_eq!(told[1], told[2]);
    assert!(told[0].ends_with(r#"["instruction","tools","traceId"]]"#), "{}", told[0]);
}

#[tokio::test]
async fn a_simulated_victim_runs_in_the_loop() {
    let environment = finance().await;
    let victim = Victim::open("sim:default", &JsonMap::new()).expect("it is embedded");
    let agent = Agent::new(Arc::clone(&environment), Arc::new(victim), 32);
    let task = first(&environment, Family::Benign);
    let once = agent.run(&no_defence(), &task, 3, Purpose::default()).await;
    assert!(once.outcome.is_assessed());
    assert_eq!(once, agent.run(&no_defence(), &task, 3, Purpose::default()).await);
    assert_eq!(agent.loop_id(), format!("loop {}, 32 steps", evosafe_agent::LOOP_VERSION));
}
