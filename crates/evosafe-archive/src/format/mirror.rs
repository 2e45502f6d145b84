//! Enums without fields, as stored.

/// Declares a stored enum with its spelling, and the conversions both ways. A new
/// variant of the domain type stops the build until it has a spelling.
macro_rules! mirror {
    ($stored:ident = $domain:ty { $($variant:ident = $text:literal),+ $(,)? }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $stored {
            $(#[serde(rename = $text)] $variant,)+
        }

        impl From<$domain> for $stored {
            fn from(value: $domain) -> Self {
                match value { $(<$domain>::$variant => Self::$variant,)+ }
            }
        }

        impl From<$stored> for $domain {
            fn from(value: $stored) -> Self {
                match value { $($stored::$variant => Self::$variant,)+ }
            }
        }
    };
}

mirror!(StoredFamily = evosafe_types::Family {
    Benign = "benign", Direct = "direct", Indirect = "indirect",
});

mirror!(StoredFault = evosafe_types::FaultKind {
    BridgeDied = "bridge_died",
    Sandbox = "sandbox",
    BridgeTimeout = "bridge_timeout",
    BridgeProtocol = "bridge_protocol",
    Environment = "environment",
    RecordedApiError = "recorded_api_error",
    NoRecording = "no_recording",
    Endpoint = "endpoint",
    Model = "model",
    CallBudget = "call_budget",
    Cancelled = "cancelled",
});

mirror!(StoredHook = evosafe_types::Hook {
    Begin = "begin",
    UserMessage = "on-user-message",
    SystemPrompt = "system-prompt-transform",
    PreToolCall = "on-pre-tool-call",
    PostToolCall = "on-post-tool-call",
    FinalAnswer = "on-final-answer",
});

mirror!(StoredEnd = evosafe_types::EpisodeEnd {
    Answered = "answered", StepLimit = "step_limit", Stopped = "stopped",
    Settled = "settled", Infrastructure = "infrastructure",
});

mirror!(StoredStage = evosafe_types::Stage {
    Static = "static", Smoke = "smoke", Gate = "gate", Search = "search", Wide = "wide",
});

mirror!(StoredDrop = evosafe_types::DropReason {
    Duplicate = "duplicate", Criticizer = "criticizer",
});
