//! Hook calls fed to a harness one by one, and recorded episodes run again through another
//! runtime: every answer must be the recorded one (design section 3).

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use evosafe_sandbox::{Classifier, ClassifyFuture, Harness, NO_MODEL, Trajectory, TrajectoryLog};
use evosafe_types::{
    CallDecision, ClassifyAnswer, Hook, HookAnswer, HookCall, RunContext, TextDecision, ToolSpec,
    Transcript,
};

/// Starts the trajectory that a `begin` describes: its hidden tools, and the trajectory.
pub async fn begin(
    harness: &Harness,
    context: &RunContext,
    classify: Option<Vec<ClassifyAnswer>>,
) -> (HookAnswer, Trajectory) {
    let trajectory = harness.start(context, classifier(classify)).await;
    (HookAnswer::Hidden { hide: trajectory.hidden_tools().to_vec() }, trajectory)
}

/// Gives a hook call other than `begin` to a trajectory; `None` for `begin`.
pub async fn feed(trajectory: &mut Trajectory, call: &HookCall) -> Option<HookAnswer> {
    Some(match call {
        HookCall::Begin { .. } => return None,
        HookCall::SystemPrompt { prompt } => {
            HookAnswer::Prompt { prompt: trajectory.system_prompt(prompt).await }
        }
        HookCall::UserMessage { text } => {
            trajectory.user_message(text).await;
            HookAnswer::Nothing {}
        }
        HookCall::PreToolCall { call } => HookAnswer::Call(trajectory.pre_tool_call(call).await),
        HookCall::PostToolCall { call, result } => {
            HookAnswer::Text(trajectory.post_tool_call(call, result).await)
        }
        HookCall::FinalAnswer { text } => HookAnswer::Text(trajectory.final_answer(text).await),
    })
}

/// Answers in order; a question that is not the next one is not answered.
fn classifier(answers: Option<Vec<ClassifyAnswer>>) -> Classifier {
    let Some(answers) = answers else { return Classifier::Absent };
    let left = Mutex::new(VecDeque::from(answers));
    Classifier::Answer(Arc::new(move |question, untrusted| -> ClassifyFuture {
        let next = left.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let fits = |expected: &Option<String>, given: &str| {
            expected.as_deref().is_none_or(|expected| expected == given)
        };
        let answer = match next {
            Some(next) if fits(&next.question, &question) && fits(&next.untrusted, &untrusted) => {
                next.answer
            }
            _ => Err(NO_MODEL.to_owned()),
        };
        Box::pin(async move { answer })
    }))
}

/// A hook call that was answered otherwise than it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The hook; of the last call where only what the trajectory left behind differs.
    pub hook: Hook,
    /// Number of the hook call in its trajectory, from 1.
    pub number: u32,
    /// The recorded answer.
    pub recorded: String,
    /// The answer now.
    pub now: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hook, number, recorded, now } = self;
        write!(f, "hook call {number} ({}): recorded {recorded}, now {now}", hook.as_str())
    }
}

impl std::error::Error for Difference {}

/// The hook calls of a recorded episode with the answers they had, in order. `tools` are
/// those of its suite: the transcript does not repeat them.
#[must_use]
pub fn recorded_calls(tools: &[ToolSpec], of: &Transcript) -> Vec<(HookCall, HookAnswer)> {
    let classify = of.classify.iter().map(|record| ClassifyAnswer {
        question: Some(record.question.clone()),
        untrusted: Some(record.untrusted.clone()),
        answer: record.answer.clone(),
    });
    let context = RunContext {
        trace_id: RunContext::TRACE_ID.to_owned(),
        instruction: of.instruction.clone(),
        tools: tools.to_vec(),
    };
    let mut calls = vec![
        (
            HookCall::Begin { context, classify: Some(classify.collect()) },
            HookAnswer::Hidden { hide: of.hidden_tools.clone() },
        ),
        (
            HookCall::SystemPrompt { prompt: of.base_prompt.clone() },
            HookAnswer::Prompt { prompt: of.system_prompt.clone() },
        ),
    ];
    for turn in &of.turns {
        for record in &turn.calls {
            // Calls of hidden tools never reach the harness.
            if !of.hidden_tools.contains(&record.proposed.tool) {
                let call = HookCall::PreToolCall { call: record.proposed.clone() };
                calls.push((call, HookAnswer::Call(record.decision.clone())));
            }
        }
        for record in &turn.calls {
            if let (Some(call), Some(result), Some(post)) =
                (&record.executed, &record.result, &record.post)
            {
                let (call, result) = (call.clone(), result.clone());
                let call = HookCall::PostToolCall { call, result };
                calls.push((call, HookAnswer::Text(post.clone())));
            }
        }
    }
    if let Some(answer) = &of.answer {
        let call = HookCall::FinalAnswer { text: answer.proposed.clone() };
        calls.push((call, HookAnswer::Text(answer.decision.clone())));
    }
    calls
}

/// Runs a recorded episode's hook calls through `harness`. Answers, classifier questions
/// and faults (hook and kind) must be the recorded ones. Returns how many calls there were.
///
/// # Errors
/// The first difference.
pub async fn rerun(
    harness: &Harness,
    tools: &[ToolSpec],
    transcript: &Transcript,
) -> Result<u32, Difference> {
    let mut calls = recorded_calls(tools, transcript).into_iter();
    let Some((HookCall::Begin { context, classify }, recorded)) = calls.next() else {
        return Ok(0);
    };
    let (now, mut trajectory) = begin(harness, &context, classify).await;
    let (mut number, mut hook) = (1, Hook::Begin);
    same(hook, number, &recorded, &now)?;
    for (call, recorded) in calls {
        number += 1;
        hook = call.hook();
        let Some(now) = feed(&mut trajectory, &call).await else { continue };
        same(hook, number, &recorded, &now)?;
    }
    left_behind(transcript, &trajectory.finish()).map_err(|(recorded, now)| Difference {
        hook,
        number,
        recorded,
        now,
    })?;
    Ok(number)
}

fn same(
    hook: Hook,
    number: u32,
    recorded: &HookAnswer,
    now: &HookAnswer,
) -> Result<(), Difference> {
    if recorded == now && bytes(recorded) == bytes(now) {
        return Ok(());
    }
    Err(Difference { hook, number, recorded: shown(recorded), now: shown(now) })
}

/// Equal values may be spelt differently (`1.0` and `1`, the order of keys).
fn bytes(answer: &HookAnswer) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}

fn left_behind(recorded: &Transcript, now: &TrajectoryLog) -> Result<(), (String, String)> {
    if recorded.classify != now.classify {
        let count = |n: usize| format!("{n} classifier questions and their texts");
        return Err((count(recorded.classify.len()), count(now.classify.len())));
    }
    let faults = |all: &[evosafe_types::HarnessFault]| -> Vec<String> {
        all.iter().map(|fault| format!("{} ({})", fault.hook.as_str(), fault.kind)).collect()
    };
    let (then, now) = (faults(&recorded.faults), faults(&now.faults));
    if then != now {
        return Err((format!("faults {then:?}"), format!("faults {now:?}")));
    }
    Ok(())
}

/// An answer, short enough for a message.
fn shown(answer: &HookAnswer) -> String {
    let kind = match answer {
        HookAnswer::Call(CallDecision::Allow) => return "allow".to_owned(),
        HookAnswer::Text(TextDecision::Keep) => return "keep".to_owned(),
        other => bytes(other),
    };
    match kind.char_indices().nth(300) {
        Some((end, _)) => format!("{}... ({} bytes)", &kind[..end], kind.len()),
        None => kind,
    }
}
