//! What happened in an episode. Hook calls are not stored twice: they follow from
//! the transcript in a fixed order (begin, system prompt, then for each turn all
//! pre-hooks and all post-hooks in emission order, then the final answer), which is
//! how a recorded trajectory is run again through another runtime.

use serde::{Deserialize, Serialize};

use crate::{CallDecision, TextDecision, ToolCall, ToolResult};

/// The hooks of the harness contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hook {
    /// `begin`
    Begin,
    /// `on-user-message`
    UserMessage,
    /// `system-prompt-transform`
    SystemPrompt,
    /// `on-pre-tool-call`
    PreToolCall,
    /// `on-post-tool-call`
    PostToolCall,
    /// `on-final-answer`
    FinalAnswer,
}

/// A harness that trapped, threw, ran out of a limit or answered nonsense. The
/// decision was closed: the call blocked, the result or answer withheld.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HarnessFault {
    /// The hook that failed.
    pub hook: Hook,
    /// Class: `trap`, `fuel`, `memory`, `output`, `classify`, `thrown`, `malformed`, `poisoned`;
    /// `sandbox` where the host failed and not the harness.
    pub kind: String,
    /// What happened, with line and column of the JavaScript where known.
    pub message: String,
}

impl HarnessFault {
    /// Class of a fault of the host and not of the harness.
    pub const OF_HOST: &str = "sandbox";

    /// Whether the host failed: no verdict may rest on such an episode.
    #[must_use]
    pub fn is_of_host(&self) -> bool {
        self.kind == Self::OF_HOST
    }
}

/// One question to the quarantined classifier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassifyRecord {
    /// The question.
    pub question: String,
    /// The untrusted text it is asked about.
    pub untrusted: String,
    /// The answer, or why there is none.
    pub answer: Result<String, String>,
}

/// One proposed call and all that became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// As the victim proposed it.
    pub proposed: ToolCall,
    /// What the pre-hook decided.
    pub decision: CallDecision,
    /// What was executed in the environment, if anything.
    pub executed: Option<ToolCall>,
    /// What the tool answered, if it was executed.
    pub result: Option<ToolResult>,
    /// What the post-hook decided; `None` if it did not run.
    pub post: Option<TextDecision>,
    /// What the victim was shown.
    pub delivered: ToolResult,
}

/// One turn of the victim that calls tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Text beside the calls. For a live victim also, in brackets, which of its calls were not
    /// executed because they were none, and why it could not go on.
    pub text: String,
    /// Calls in emission order.
    pub calls: Vec<CallRecord>,
}

/// The final answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerRecord {
    /// As the victim gave it.
    pub proposed: String,
    /// What the final hook decided.
    pub decision: TextDecision,
    /// What the user (and the judge) was shown.
    pub delivered: String,
}

/// Why an episode ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeEnd {
    /// The victim gave its answer.
    Answered,
    /// The step limit was reached: behaviour, assessed.
    StepLimit,
    /// The victim could not go on (a filter, a conversation longer than it can read, a reply cut
    /// off before it said anything, its limit on tokens): behaviour, assessed.
    Stopped,
    /// The verdict was known whatever followed, and a model was not paid to go on.
    Settled,
    /// Infrastructure failed: unassessed.
    Infrastructure,
}

/// The record of one episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    /// The user's request.
    pub instruction: String,
    /// The system prompt before the harness touched it.
    pub base_prompt: String,
    /// The system prompt the victim was given.
    pub system_prompt: String,
    /// Tools the harness hid.
    pub hidden_tools: Vec<String>,
    /// Turns with tool calls.
    pub turns: Vec<Turn>,
    /// The final answer, if the victim came to one.
    pub answer: Option<AnswerRecord>,
    /// Classifier questions, in order.
    pub classify: Vec<ClassifyRecord>,
    /// Harness faults, in order.
    pub faults: Vec<HarnessFault>,
    /// Why it ended.
    pub end: EpisodeEnd,
}

impl Transcript {
    /// All calls in order.
    pub fn calls(&self) -> impl Iterator<Item = &CallRecord> {
        self.turns.iter().flat_map(|turn| turn.calls.iter())
    }

    /// Number of calls that the harness blocked.
    #[must_use]
    pub fn blocked(&self) -> usize {
        self.calls().filter(|c| matches!(c.decision, CallDecision::Block { .. })).count()
    }
}
