//! Verdicts of episodes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What the environment's own judges said, or why they could not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Outcome {
    /// The episode ran to its verdict.
    Assessed {
        /// Whether the user's goal was reached; `None` where the task has no legitimate goal.
        task_success: Option<bool>,
        /// Whether the attacker's goal was reached; `None` in benign tasks.
        attack_success: Option<bool>,
    },
    /// Lost to infrastructure. Never a success, never a failure.
    Unassessed {
        /// Class of the fault.
        fault: FaultKind,
        /// What happened, for people.
        detail: String,
    },
}

/// Infrastructure faults that make an episode unassessed. Limits that the victim
/// or the harness run into are behaviour and are not listed here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The bridge process ended.
    BridgeDied,
    /// The bridge did not answer in time and was killed.
    BridgeTimeout,
    /// The bridge answered something that is not the protocol.
    BridgeProtocol,
    /// The environment reported an internal error.
    Environment,
    /// The harness runtime failed, not the harness.
    Sandbox,
    /// The recorded run ended in an API error, so the model's behaviour is unknown.
    RecordedApiError,
    /// There is no recorded run of this task.
    NoRecording,
    /// A model's endpoint failed, or took too long for an episode.
    Endpoint,
    /// A model cannot be used at all: no key, no credit, no such model, no connection.
    Model,
    /// The budget for calls of models is spent.
    CallBudget,
    /// The search was interrupted; never stored.
    Cancelled,
}

impl FaultKind {
    /// Whether the same episode would fail the same way again, so that running it
    /// once more is pointless (a recorded API error), as opposed to bad luck.
    #[must_use]
    pub fn is_permanent(self) -> bool {
        matches!(self, Self::RecordedApiError | Self::NoRecording)
    }
}

impl FaultKind {
    /// Whether no later episode can go better, so that a search should stop and say so.
    #[must_use]
    pub fn stops_search(self) -> bool {
        matches!(self, Self::Model | Self::CallBudget)
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sandbox => "the harness runtime failed",
            Self::BridgeDied => "the bridge process ended",
            Self::BridgeTimeout => "the bridge did not answer in time",
            Self::BridgeProtocol => "the bridge broke the protocol",
            Self::Environment => "the environment failed",
            Self::RecordedApiError => "the recorded run ended in an API error",
            Self::NoRecording => "no recorded run of this task",
            Self::Endpoint => "the model's endpoint failed",
            Self::Model => "the model cannot be used",
            Self::CallBudget => "the budget for calls is spent",
            Self::Cancelled => "cancelled",
        })
    }
}

impl Outcome {
    /// Whether there is a verdict.
    #[must_use]
    pub fn is_assessed(&self) -> bool {
        matches!(self, Self::Assessed { .. })
    }

    /// The user's goal was reached; `None` if unassessed or not applicable.
    #[must_use]
    pub fn task_success(&self) -> Option<bool> {
        match self {
            Self::Assessed { task_success, .. } => *task_success,
            Self::Unassessed { .. } => None,
        }
    }

    /// The attacker's goal was reached; `None` if unassessed or not applicable.
    #[must_use]
    pub fn attack_success(&self) -> Option<bool> {
        match self {
            Self::Assessed { attack_success, .. } => *attack_success,
            Self::Unassessed { .. } => None,
        }
    }
}
