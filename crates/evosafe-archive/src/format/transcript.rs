//! A transcript as stored.

use evosafe_types::{
    AnswerRecord, CallDecision, CallRecord, ClassifyRecord, HarnessFault, JsonMap, TextDecision,
    ToolCall, ToolResult, Transcript, Turn,
};
use serde::{Deserialize, Serialize};

use super::Document;
use super::mirror::{StoredEnd, StoredHook};

/// Declares a stored struct whose fields convert one to one.
macro_rules! stored {
    ($stored:ident = $domain:ident { $($(#[$meta:meta])* $field:ident : $ty:ty => $how:tt),+ $(,)? }) => {
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        struct $stored { $($(#[$meta])* $field: $ty,)+ }

        impl From<$domain> for $stored {
            fn from(value: $domain) -> Self {
                let $domain { $($field,)+ } = value;
                Self { $($field: stored!(@$how $field),)+ }
            }
        }

        impl From<$stored> for $domain {
            fn from(value: $stored) -> Self {
                let $stored { $($field,)+ } = value;
                Self { $($field: stored!(@$how $field),)+ }
            }
        }
    };
    (@same $value:ident) => { $value };
    (@into $value:ident) => { $value.into() };
    (@some $value:ident) => { $value.map(Into::into) };
    (@list $value:ident) => { $value.into_iter().map(Into::into).collect() };
}

stored!(StoredCall = ToolCall {
    id: String => same,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<String> => same,
    tool: String => same,
    arguments: JsonMap => same,
});

stored!(StoredToolResult = ToolResult {
    content: String => same,
    is_error: bool => same,
});

stored!(StoredClassify = ClassifyRecord {
    question: String => same,
    untrusted: String => same,
    answer: Result<String, String> => same,
});

stored!(StoredHarnessFault = HarnessFault {
    hook: StoredHook => into,
    kind: String => same,
    message: String => same,
});

stored!(StoredCallRecord = CallRecord {
    proposed: StoredCall => into,
    decision: StoredCallDecision => into,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    executed: Option<StoredCall> => some,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<StoredToolResult> => some,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    post: Option<StoredTextDecision> => some,
    delivered: StoredToolResult => into,
});

stored!(StoredTurn = Turn {
    text: String => same,
    calls: Vec<StoredCallRecord> => list,
});

stored!(StoredAnswer = AnswerRecord {
    proposed: String => same,
    decision: StoredTextDecision => into,
    delivered: String => same,
});

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum StoredCallDecision {
    Allow,
    Rewrite { arguments: JsonMap },
    Redirect { call: StoredCall },
    Block { reason: String },
}

impl From<CallDecision> for StoredCallDecision {
    fn from(decision: CallDecision) -> Self {
        match decision {
            CallDecision::Allow => Self::Allow,
            CallDecision::Rewrite { arguments } => Self::Rewrite { arguments },
            CallDecision::Redirect { call } => Self::Redirect { call: call.into() },
            CallDecision::Block { reason } => Self::Block { reason },
        }
    }
}

impl From<StoredCallDecision> for CallDecision {
    fn from(stored: StoredCallDecision) -> Self {
        match stored {
            StoredCallDecision::Allow => Self::Allow,
            StoredCallDecision::Rewrite { arguments } => Self::Rewrite { arguments },
            StoredCallDecision::Redirect { call } => Self::Redirect { call: call.into() },
            StoredCallDecision::Block { reason } => Self::Block { reason },
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum StoredTextDecision {
    Keep,
    Replace { text: String },
    Block { reason: String },
}

impl From<TextDecision> for StoredTextDecision {
    fn from(decision: TextDecision) -> Self {
        match decision {
            TextDecision::Keep => Self::Keep,
            TextDecision::Replace { text } => Self::Replace { text },
            TextDecision::Block { reason } => Self::Block { reason },
        }
    }
}

impl From<StoredTextDecision> for TextDecision {
    fn from(stored: StoredTextDecision) -> Self {
        match stored {
            StoredTextDecision::Keep => Self::Keep,
            StoredTextDecision::Replace { text } => Self::Replace { text },
            StoredTextDecision::Block { reason } => Self::Block { reason },
        }
    }
}

/// A transcript, with its version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredTranscript {
    version: u32,
    instruction: String,
    base_prompt: String,
    system_prompt: String,
    hidden_tools: Vec<String>,
    turns: Vec<StoredTurn>,
    answer: Option<StoredAnswer>,
    classify: Vec<StoredClassify>,
    faults: Vec<StoredHarnessFault>,
    end: StoredEnd,
}

impl Document for StoredTranscript {
    const WHAT: &'static str = "transcript";
    const VERSION: u32 = 1;
    fn version(&self) -> u32 {
        self.version
    }
}

impl From<Transcript> for StoredTranscript {
    fn from(t: Transcript) -> Self {
        Self {
            version: Self::VERSION,
            instruction: t.instruction,
            base_prompt: t.base_prompt,
            system_prompt: t.system_prompt,
            hidden_tools: t.hidden_tools,
            turns: t.turns.into_iter().map(Into::into).collect(),
            answer: t.answer.map(Into::into),
            classify: t.classify.into_iter().map(Into::into).collect(),
            faults: t.faults.into_iter().map(Into::into).collect(),
            end: t.end.into(),
        }
    }
}

impl From<StoredTranscript> for Transcript {
    fn from(t: StoredTranscript) -> Self {
        Self {
            instruction: t.instruction,
            base_prompt: t.base_prompt,
            system_prompt: t.system_prompt,
            hidden_tools: t.hidden_tools,
            turns: t.turns.into_iter().map(Into::into).collect(),
            answer: t.answer.map(Into::into),
            classify: t.classify.into_iter().map(Into::into).collect(),
            faults: t.faults.into_iter().map(Into::into).collect(),
            end: t.end.into(),
        }
    }
}
