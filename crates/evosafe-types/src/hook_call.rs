//! Hook calls and their answers as data: what is fed to a harness outside a search, and
//! what recorded episodes are run again as.

use serde::{Deserialize, Serialize};

use crate::{CallDecision, Hook, RunContext, TextDecision, ToolCall, ToolResult};

/// One call of a hook.
#[derive(Debug, Clone, PartialEq)]
pub enum HookCall {
    /// Starts a trajectory.
    Begin {
        /// What the harness is told of the run.
        context: RunContext,
        /// Answers to its classifier questions, in order; `None` where no model is.
        classify: Option<Vec<ClassifyAnswer>>,
    },
    /// `system-prompt-transform`; the policy is appended first.
    SystemPrompt {
        /// The prompt before the harness.
        prompt: String,
    },
    /// `on-user-message`
    UserMessage {
        /// What the user says.
        text: String,
    },
    /// `on-pre-tool-call`
    PreToolCall {
        /// The proposed call.
        call: ToolCall,
    },
    /// `on-post-tool-call`
    PostToolCall {
        /// The executed call.
        call: ToolCall,
        /// What the tool answered.
        result: ToolResult,
    },
    /// `on-final-answer`
    FinalAnswer {
        /// The answer.
        text: String,
    },
}

impl HookCall {
    /// The hook that is called.
    #[must_use]
    pub fn hook(&self) -> Hook {
        match self {
            Self::Begin { .. } => Hook::Begin,
            Self::SystemPrompt { .. } => Hook::SystemPrompt,
            Self::UserMessage { .. } => Hook::UserMessage,
            Self::PreToolCall { .. } => Hook::PreToolCall,
            Self::PostToolCall { .. } => Hook::PostToolCall,
            Self::FinalAnswer { .. } => Hook::FinalAnswer,
        }
    }
}

/// A classifier's answer that is given again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassifyAnswer {
    /// The question it answers; `None` takes any.
    pub question: Option<String>,
    /// The text it was asked about; `None` takes any.
    pub untrusted: Option<String>,
    /// The answer, or why there is none.
    pub answer: Result<String, String>,
}

/// What a hook answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum HookAnswer {
    /// Of `begin`.
    Hidden {
        /// Tools to hide, in the order of the tool list.
        hide: Vec<String>,
    },
    /// Of `system-prompt-transform`.
    Prompt {
        /// The prompt to use.
        prompt: String,
    },
    /// Of `on-pre-tool-call`.
    Call(CallDecision),
    /// Of `on-post-tool-call` and `on-final-answer`.
    Text(TextDecision),
    /// Of `on-user-message`.
    Nothing {},
}

impl Hook {
    /// Name in stored and printed data, e.g. `pre-tool-call`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::UserMessage => "user-message",
            Self::SystemPrompt => "system-prompt",
            Self::PreToolCall => "pre-tool-call",
            Self::PostToolCall => "post-tool-call",
            Self::FinalAnswer => "final-answer",
        }
    }
}
