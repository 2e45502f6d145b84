//! Who makes a call, and what for.

use evosafe_types::{CandidateId, ContentHash, Stage, TaskId};
use serde::{Deserialize, Serialize};

/// Whose call it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The model under attack.
    Victim,
    /// A harness asks the victim a quarantined question.
    Classify,
    /// A judge of an environment.
    Judge,
    /// Writes and repairs harnesses.
    Designer,
    /// Reviews them.
    Criticizer,
    /// Turns failures into notes.
    Analyzer,
}

/// The two ledgers (design section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// What the search itself thinks with.
    Outer,
    /// What episodes cost.
    Inner,
}

impl Role {
    /// The ledger it belongs to.
    #[must_use]
    pub fn level(self) -> Level {
        match self {
            Self::Victim | Self::Classify | Self::Judge => Level::Inner,
            Self::Designer | Self::Criticizer | Self::Analyzer => Level::Outer,
        }
    }

    /// Lowercase name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Victim => "victim",
            Self::Classify => "classify",
            Self::Judge => "judge",
            Self::Designer => "designer",
            Self::Criticizer => "criticizer",
            Self::Analyzer => "analyzer",
        }
    }
}

impl Level {
    /// Lowercase name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Outer => "outer",
            Self::Inner => "inner",
        }
    }
}

/// What a call is for. Role, candidate, task, component, rollout and turn identify it
/// when a search is resumed or replayed; phase and stage are for the tables only, so
/// that an episode asked for by another stage finds its replies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTag {
    /// Whose call it is.
    pub role: Role,
    /// Part of the run it falls into, e.g. `seeds`, `search`, `evaluate`.
    pub phase: String,
    /// The harness it is about.
    pub candidate: Option<CandidateId>,
    /// Stage of the cascade.
    pub stage: Option<Stage>,
    /// The task it is about.
    pub task: Option<TaskId>,
    /// Part of the role, e.g. `repair`, or a semantic step of the harness.
    pub component: Option<String>,
    /// Rollout of the task, or attempt of an outer role.
    pub rollout: u32,
    /// Place in its conversation.
    pub turn: u32,
}

impl CallTag {
    /// A tag with nothing but role and phase.
    #[must_use]
    pub fn new(role: Role, phase: impl Into<String>) -> Self {
        Self {
            role,
            phase: phase.into(),
            candidate: None,
            stage: None,
            task: None,
            component: None,
            rollout: 0,
            turn: 0,
        }
    }

    /// What identifies the call: a hash of the identifying fields and the request.
    pub(crate) fn key(&self, request: &ContentHash) -> ContentHash {
        let place = format!("{}/{}", self.rollout, self.turn);
        // Absent and empty must differ.
        let or = |text: Option<&str>| text.map_or_else(String::new, |t| format!("={t}"));
        ContentHash::of(&[
            request.as_str().as_bytes(),
            self.role.as_str().as_bytes(),
            or(self.candidate.as_ref().map(CandidateId::as_str)).as_bytes(),
            or(self.task.as_ref().map(TaskId::as_str)).as_bytes(),
            or(self.component.as_deref()).as_bytes(),
            place.as_bytes(),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_identifies_a_call_is_in_its_key_and_nothing_else() {
        let request = ContentHash::of(&[b"r"]);
        let base = CallTag::new(Role::Victim, "search");
        let key = base.key(&request);
        let same = CallTag { phase: "seeds".into(), stage: Some(Stage::Wide), ..base.clone() };
        assert_eq!(same.key(&request), key);
        let others = [
            CallTag { role: Role::Classify, ..base.clone() },
            CallTag { candidate: Some(CandidateId::of(&[b"c"])), ..base.clone() },
            CallTag { task: Some(TaskId::new("t")), ..base.clone() },
            CallTag { component: Some(String::new()), ..base.clone() },
            CallTag { rollout: 1, ..base.clone() },
            CallTag { turn: 1, ..base.clone() },
        ];
        for other in others {
            assert_ne!(other.key(&request), key, "{other:?}");
        }
        assert_ne!(base.key(&ContentHash::of(&[b"s"])), key);
    }
}
