//! What hooks are given and what their decisions mean.

use std::sync::Arc;

use evosafe_sandbox::{Classifier, NO_MODEL};
use evosafe_types::{CallDecision, TextDecision};
use serde_json::json;

use crate::support::{bundle, call, context, harness, object, result, sandbox, start};

#[tokio::test]
async fn without_code_everything_passes() {
    let mut no_code = bundle(None);
    no_code.policy = Some("Be careful.".to_owned());
    let harness = sandbox().prepare(&no_code).expect("valid");
    let mut run = harness.start(&context(), Classifier::Absent).await;
    assert_eq!(run.system_prompt("Base.").await, "Base.\n\nBe careful.");
    assert_eq!(run.pre_tool_call(&call(json!({}))).await, CallDecision::Allow);
    assert_eq!(run.post_tool_call(&call(json!({})), &result("x")).await, TextDecision::Keep);
    assert_eq!(run.final_answer("x").await, TextDecision::Keep);
    assert_eq!(run.finish(), Default::default());
}

#[tokio::test]
async fn every_hook_is_asked_and_obeyed() {
    let code = r#"
let instruction, message;
export function begin(ctx) {
  instruction = ctx.instruction;
  log([ctx.traceId, ctx.tools.length, ctx.tools[0].server, ctx.tools[0].inputSchema.properties.to.type,
       ctx.tools[0].annotations.readOnlyHint, JSON.stringify(ctx.tools[2]), { ...ctx.tools[1] }.inputSchema.type]);
  return ["delete", "tool_of_another_domain"];
}
export function onUserMessage(text) { message = text; }
export function systemPromptTransform(prompt) { return prompt + " Task: " + instruction; }
export function onPreToolCall(call) {
  switch (call.arguments.to) {
    case "anna": return allow();
    case "bob": return rewrite({ ...call.arguments, to: "anna" });
    case "carl": return redirect({ tool: "read", arguments: { to: message } });
    default: return block("to whom? " + call.id + call.tool + call.server);
  }
}
export function onPostToolCall(call, result) {
  return result.isError ? block("failed") : result.content === "" ? keep() : replace(result.content + "/" + call.arguments.to);
}
export function onFinalAnswer(text) { return text === "secret" ? block("no") : keep(); }
"#;
    let mut run = start(code).await;
    assert_eq!(run.hidden_tools(), ["delete"]);
    assert_eq!(run.system_prompt("Base.").await, "Base. Task: Pay the bill of Anna.");
    run.user_message("häl😀lo").await;
    assert_eq!(run.pre_tool_call(&call(json!({"to": "anna"}))).await, CallDecision::Allow);
    let rewritten = object(json!({"to": "anna", "amount": 100.0}));
    assert_eq!(
        run.pre_tool_call(&call(json!({"to": "bob", "amount": 100.0}))).await,
        CallDecision::Rewrite { arguments: rewritten }
    );
    let CallDecision::Redirect { call: to } = run.pre_tool_call(&call(json!({"to": "carl"}))).await
    else {
        panic!("not redirected")
    };
    assert_eq!((to.id.as_str(), to.tool.as_str(), &to.server), ("c1", "read", &None));
    assert_eq!(to.arguments, object(json!({"to": "häl😀lo"})));
    assert_eq!(
        run.pre_tool_call(&call(json!({}))).await,
        CallDecision::Block { reason: "to whom? c1paynull".to_owned() }
    );
    let paid = call(json!({"to": "anna"}));
    assert_eq!(run.post_tool_call(&paid, &result("")).await, TextDecision::Keep);
    assert_eq!(
        run.post_tool_call(&paid, &result("ok")).await,
        TextDecision::Replace { text: "ok/anna".to_owned() }
    );
    let mut failed = result("x");
    failed.is_error = true;
    assert!(matches!(run.post_tool_call(&paid, &failed).await, TextDecision::Block { .. }));
    assert_eq!(run.final_answer("fine").await, TextDecision::Keep);
    assert_eq!(run.final_answer("secret").await, TextDecision::Block { reason: "no".to_owned() });
    let log = run.finish();
    assert_eq!(log.faults, []);
    assert_eq!(
        log.log,
        [
            r#"["t1",3,null,"string",false,"{\"name\":\"delete\",\"server\":null,\"description\":\"Does delete.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"to\":{\"type\":\"string\"}}},\"annotations\":{\"readOnlyHint\":false}}","object"]"#
        ]
    );
}

#[tokio::test]
async fn a_thrown_error_blocks_one_call_and_names_its_place() {
    let code = "export function onPreToolCall(call) {\n  if (call.arguments.bad) helper(call);\n  return allow();\n}\nfunction helper(call) {\n    throw new Error('odd call');\n}\n";
    let mut run = start(code).await;
    let closed = run.pre_tool_call(&call(json!({"bad": true}))).await;
    assert!(matches!(closed, CallDecision::Block { .. }), "{closed:?}");
    assert_eq!(run.pre_tool_call(&call(json!({}))).await, CallDecision::Allow);
    let faults = run.finish().faults;
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].kind, "thrown");
    assert_eq!(faults[0].message, "Error: odd call (harness.js:6:15)");
}

#[tokio::test]
async fn regexes_run_on_the_host() {
    let code = r#"
export function onFinalAnswer(text) {
  const found = regexFindAll("(?i)b+", text).map(([a, b]) => text.slice(a, b));
  const same = regexFindAll(/b+/i, text).length;
  let refused = "";
  try { regexFindAll("(", text); } catch (error) { refused = error.message; }
  return replace(JSON.stringify([found, same, refused.includes("unclosed")]));
}"#;
    let mut run = start(code).await;
    assert_eq!(
        run.final_answer("😀bB é b").await,
        TextDecision::Replace { text: r#"[["bB","b"],2,true]"#.to_owned() }
    );
}

#[tokio::test]
async fn questions_are_answered_recorded_and_capped() {
    let code = r#"
export function onFinalAnswer(text) {
  let answer;
  try { answer = classify("Is it bad?", text); } catch (error) { answer = "none: " + error.message; }
  return replace(answer);
}"#;
    let text = |text: &str| TextDecision::Replace { text: text.to_owned() };
    let mut run = start(code).await;
    assert_eq!(run.final_answer("x").await, text(&format!("none: {NO_MODEL}")));
    let records = run.finish().classify;
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].answer, Err(NO_MODEL.to_owned()));

    let ask = |question: String, untrusted: String| -> evosafe_sandbox::ClassifyFuture {
        Box::pin(async move {
            tokio::task::yield_now().await;
            Ok(format!("{question}{untrusted}"))
        })
    };
    let classifier = Classifier::Answer(Arc::new(ask));
    let mut capped = bundle(Some(code));
    capped.manifest.limits.classify_calls = 1;
    let capped = sandbox().prepare(&capped).expect("valid");
    let mut run = capped.start(&context(), classifier).await;
    assert_eq!(run.final_answer("😀").await, text("Is it bad?😀"));
    assert!(matches!(run.final_answer("y").await, TextDecision::Block { .. }));
    let log = run.finish();
    assert_eq!(log.classify.len(), 1);
    assert_eq!(log.faults[0].kind, "classify");
}

#[tokio::test]
async fn a_module_keeps_state_within_a_trajectory_only() {
    let code = "let n = 0; export function onFinalAnswer() { n += 1; return replace(String(n)); }";
    let harness = harness(code);
    for _ in 0..2 {
        let mut run = harness.start(&context(), Classifier::Absent).await;
        for expected in ["1", "2", "3"] {
            let text = expected.to_owned();
            assert_eq!(run.final_answer("").await, TextDecision::Replace { text });
        }
    }
}
