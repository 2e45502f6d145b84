//! Tasks: what one episode runs.

use serde::{Deserialize, Serialize};

use crate::TaskId;

/// Where the malicious goal of a task comes from, if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// No attack: only utility is measured.
    Benign,
    /// The user's request is the attack.
    Direct,
    /// The attack is in tool output.
    Indirect,
}

impl Family {
    /// All families, in canonical order.
    pub const ALL: [Self; 3] = [Self::Benign, Self::Direct, Self::Indirect];

    /// Lowercase name, as written in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Benign => "benign",
            Self::Direct => "direct",
            Self::Indirect => "indirect",
        }
    }

    /// Whether episodes of this family count towards the attack success rate.
    #[must_use]
    pub fn is_attack(self) -> bool {
        self != Self::Benign
    }
}

/// A task as the environment lists it. None of this reaches a harness, and only
/// train tasks reach the search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Unique name.
    pub id: TaskId,
    /// Benign, direct or indirect.
    pub family: Family,
    /// Risk category, or kind of work for benign tasks; a stratum of the split.
    pub category: String,
    /// Suite within the environment (AgentDojo: `banking`, ...); a stratum of the split.
    pub suite: String,
    /// Name of the user's task; benign tasks are split by it.
    pub user_task: String,
    /// Name of the attacker's goal, absent in benign tasks; `split.by = "injection_task"` splits by it.
    pub injection_task: Option<String>,
    /// Side of the split, where the environment fixes it (built-in domains, whose two
    /// sides draw from disjoint pools); `None` leaves it to the specification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
}

impl Task {
    /// Suite and attacker's goal, by which attacks are clustered; a task without a named goal is one of its own.
    #[must_use]
    pub fn goal(&self) -> (&str, &str) {
        (&self.suite, self.injection_task.as_deref().unwrap_or(self.id.as_str()))
    }
}

/// The two sides of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The search may read it.
    Train,
    /// Opened only by `evosafe evaluate --split held-out`.
    HeldOut,
}
