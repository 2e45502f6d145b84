//! One call after another to a model: what is tried again, what is waited for, and whose
//! fault it is in the end.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use evosafe_llm::{CallTag, ChatReply, ChatRequest, Client, LlmError, Role};
use evosafe_types::{ContentHash, FaultKind};
use tokio::sync::OnceCell;

use super::Say;

/// Times a call is made that fails with all its attempts.
const CALLS: u32 = 3;

/// Times that an open circuit is waited out; if calls still fail then, the search stops.
const PAUSES: u32 = 3;

/// Shortest wait while another call tries whether the endpoint works again.
const PAUSE: Duration = Duration::from_millis(100);

/// An answer of the classifier, or why the model gave none.
pub(super) type Answer = Result<String, String>;

/// A model with what this process knows of it.
pub(super) struct Line {
    pub client: Client,
    phase: String,
    say: Say,
    /// Failures in a row at the pause that was last spoken of.
    said: AtomicU32,
    /// Whether it ever answered.
    answered: AtomicBool,
    /// Answers of the classifier by question and text.
    pub answers: Mutex<HashMap<ContentHash, Arc<OnceCell<Answer>>>>,
}

/// Why there is no reply.
pub(super) enum Failed {
    /// The model's behaviour.
    Behaviour(LlmError),
    /// Infrastructure.
    Lost(FaultKind, String),
}

impl Line {
    pub fn new(client: Client, phase: &str, say: Say) -> Self {
        Self {
            client,
            phase: phase.to_owned(),
            say,
            said: AtomicU32::new(0),
            answered: AtomicBool::new(false),
            answers: Mutex::default(),
        }
    }

    /// A tag with role and phase.
    pub fn tag(&self, role: Role) -> CallTag {
        CallTag::new(role, self.phase.as_str())
    }

    /// Asks the model, and waits out pauses of its endpoint.
    pub async fn ask(&self, request: &ChatRequest, tag: &CallTag) -> Result<ChatReply, Failed> {
        let (mut made, mut pauses) = (0, 0);
        loop {
            let error = match self.client.chat(request, tag).await {
                Ok(reply) => {
                    self.answered.store(true, Ordering::Relaxed);
                    return Ok(reply);
                }
                Err(error) => error,
            };
            let fault = match &error {
                error if !error.is_infrastructure() => {
                    return Err(Failed::Behaviour(error.clone()));
                }
                LlmError::CircuitOpen { failures, retry_in, .. } => {
                    // No time left to wait: another call is trying.
                    pauses += u32::from(!retry_in.is_zero());
                    if pauses <= PAUSES {
                        self.pause(*failures, &error).await;
                        continue;
                    }
                    FaultKind::Model
                }
                LlmError::Budget(_) => FaultKind::CallBudget,
                error if error.is_permanent() => FaultKind::Model,
                // The parameters that the specification sets are not this model's.
                LlmError::BadRequest { .. } if !self.answered.load(Ordering::Relaxed) => {
                    FaultKind::Model
                }
                LlmError::BadRequest { .. } => FaultKind::Endpoint,
                _ => {
                    made += 1;
                    // A call after a pause is one that tries for all.
                    if made < CALLS + pauses {
                        continue;
                    }
                    FaultKind::Endpoint
                }
            };
            return Err(Failed::Lost(fault, error.to_string()));
        }
    }

    async fn pause(&self, failures: u32, why: &LlmError) {
        if self.said.swap(failures, Ordering::Relaxed) != failures {
            (self.say)(&why.to_string());
        }
        self.client.endpoint().ready().await;
        tokio::time::sleep(PAUSE).await;
    }
}
