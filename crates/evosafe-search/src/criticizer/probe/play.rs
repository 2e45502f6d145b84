//! A recorded session, run through a candidate's hooks.

use std::collections::BTreeMap;

use evosafe_sandbox::{Classifier, Harness};
use evosafe_types::{CallDecision, RunContext, TextDecision};

use super::{Change, Session, Turned};

/// Where a candidate stepped in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Point {
    /// The call of this number was not executed as proposed.
    Call(usize),
    /// The result of this call was withheld.
    Result(usize),
    /// The answer was withheld.
    Answer,
}

/// What was stopped, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stop {
    call: String,
    reason: String,
}

impl Stop {
    pub(super) fn turned(&self, session: &Session, change: Change) -> Turned {
        Turned {
            task: session.task.clone(),
            change,
            call: self.call.clone(),
            reason: self.reason.clone(),
        }
    }
}

/// Everything a candidate stopped in a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Play {
    pub(super) stopped: BTreeMap<Point, Stop>,
}

/// Runs the hooks in the order of the agent loop. Replaced texts are not stops: they may be
/// no more than marks around every result.
pub(super) async fn play(harness: &Harness, session: &Session, classifier: &Classifier) -> Play {
    let transcript = &session.transcript;
    let context = RunContext {
        trace_id: RunContext::TRACE_ID.to_owned(),
        instruction: transcript.instruction.clone(),
        tools: session.tools.clone(),
    };
    let mut trajectory = harness.start(&context, classifier.clone()).await;
    let hidden = trajectory.hidden_tools().to_vec();
    trajectory.system_prompt(&transcript.base_prompt).await;
    let mut stopped = BTreeMap::new();
    let mut number = 0;
    for turn in &transcript.turns {
        let first = number;
        let mut executed = Vec::new();
        for record in &turn.calls {
            let call = &record.proposed;
            let reason = if hidden.contains(&call.tool) {
                Some("the tool is hidden".to_owned())
            } else {
                match trajectory.pre_tool_call(call).await {
                    CallDecision::Allow => None,
                    CallDecision::Block { reason } => Some(reason),
                    CallDecision::Rewrite { .. } => Some("other arguments".to_owned()),
                    CallDecision::Redirect { .. } => Some("another tool".to_owned()),
                }
            };
            executed.push(reason.is_none());
            if let Some(reason) = reason {
                stopped.insert(Point::Call(number), Stop { call: call.tool.clone(), reason });
            }
            number += 1;
        }
        for (at, record) in turn.calls.iter().enumerate() {
            let (true, Some(result)) = (executed[at], &record.result) else { continue };
            let decision = trajectory.post_tool_call(&record.proposed, result).await;
            if let TextDecision::Block { reason } = decision {
                let call = record.proposed.tool.clone();
                stopped.insert(Point::Result(first + at), Stop { call, reason });
            }
        }
    }
    if let Some(answer) = &transcript.answer
        && let TextDecision::Block { reason } = trajectory.final_answer(&answer.proposed).await
    {
        stopped.insert(Point::Answer, Stop { call: "the answer".to_owned(), reason });
    }
    // The trajectory is of no further use; dropping it ends it.
    drop(trajectory);
    Play { stopped }
}
