//! Evidence: an episode's transcript and outcome, keyed by content.

use serde::{Deserialize, Serialize};

use crate::{
    CandidateId, ContentHash, EvidenceKey, Family, Outcome, TaskId, Transcript, Usage, Usd,
};

/// Everything an episode depends on (design section 5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceInputs<'a> {
    /// The harness.
    pub candidate: &'a CandidateId,
    /// Version of the JavaScript provider, prelude and contract.
    pub runtime: &'a ContentHash,
    /// The victim and its parameters.
    pub victim: &'a str,
    /// The environment: id, version, options, content of its task suite.
    pub environment: &'a ContentHash,
    /// The task.
    pub task: &'a TaskId,
    /// Rollout seed.
    pub seed: u64,
    /// Version of the agent loop and its limits.
    pub agent_loop: &'a str,
}

impl EvidenceInputs<'_> {
    /// The key under which the episode is stored.
    #[must_use]
    pub fn key(&self) -> EvidenceKey {
        EvidenceKey::of(&[
            self.candidate.as_str().as_bytes(),
            self.runtime.as_str().as_bytes(),
            self.victim.as_bytes(),
            self.environment.as_str().as_bytes(),
            self.task.as_str().as_bytes(),
            &self.seed.to_le_bytes(),
            self.agent_loop.as_bytes(),
        ])
    }
}

/// What an episode cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeCost {
    /// Turns asked of the victim.
    pub victim_turns: u32,
    /// Tool calls executed.
    pub tool_calls: u32,
    /// Tokens of a live victim's turns. Answers of its classifier are shared by all who ask the
    /// same, and in the ledger only.
    #[serde(default)]
    pub tokens: Usage,
    /// What those cost; `None` without a live victim or a price.
    #[serde(default)]
    pub usd: Option<Usd>,
}

/// An episode's transcript and outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Key of its inputs.
    pub key: EvidenceKey,
    /// The harness.
    pub candidate: CandidateId,
    /// The victim, as in the key.
    pub victim: String,
    /// The environment, as in the key.
    pub environment: ContentHash,
    /// The task.
    pub task: TaskId,
    /// Family of the task.
    pub family: Family,
    /// Risk category of the task.
    pub category: String,
    /// Rollout seed.
    pub seed: u64,
    /// The verdict.
    pub outcome: Outcome,
    /// What happened.
    pub transcript: Transcript,
    /// What it cost.
    pub cost: EpisodeCost,
}
