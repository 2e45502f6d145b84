//! Simulated victims: seeded behaviour profiles that work through the scripts of
//! built-in tasks. They stand in for a model where there is none; whatever is made with
//! one says so ([`evosafe_types::SIMULATED_CAVEAT`]).
//!
//! What a victim does follows from its profile, the script, what it was shown and its
//! luck, in fixed steps:
//! 1. A request that is itself an attack is carried out with chance `direct`, else
//!    declined. Otherwise the plan is worked through, flawlessly with chance `benign`.
//! 2. When a result that it is shown carries the attack (at least half of its text), it
//!    is followed with chance `indirect`, at once; plan steps that the attack stands in
//!    for are left out.
//! 3. After a refusal it may send the call again, try another way, leave the call out
//!    and go on with the attack, return to the user's goal, or give up.
//! 4. Values that come from tool results are used only if they were shown.
//!
//! Policy text and marked results change the chances by the rule in [`policy`].

mod classify;
mod luck;
pub mod policy;
mod session;
#[cfg(test)]
mod tests;

use evosafe_env::builtin::Script;
use evosafe_spec::{Profile, ProfileError};
use evosafe_types::{ContentHash, FaultKind, TaskId, ToolCall, ToolSpec};

pub use classify::classify;
pub use session::SimulatedSession;

/// Version of the behaviour rules. Raise it whenever a rule changes what a victim does.
pub const RULES_VERSION: &str = "1";

/// What a victim does next.
#[derive(Debug, Clone, PartialEq)]
pub enum VictimMove {
    /// Calls tools, all in one turn.
    Calls {
        /// Text beside the calls.
        text: String,
        /// The calls in emission order; none where a live model made mistakes only.
        calls: Vec<ToolCall>,
    },
    /// Gives the final answer.
    Answer(String),
    /// Cannot go on, for a reason that is its own: ends without an answer, and is assessed.
    Stopped(String),
    /// Cannot be known: the episode is lost to infrastructure.
    Unassessed(FaultKind, String),
}

/// How an episode opens for a victim.
#[derive(Debug, Clone, Copy)]
pub struct Opening<'a> {
    /// Name of the domain: decides the rates.
    pub domain: &'a str,
    /// The task: keys the luck.
    pub task: &'a TaskId,
    /// Rollout seed: keys the luck.
    pub seed: u64,
    /// System prompt before the harness touched it.
    pub base_prompt: &'a str,
    /// System prompt as given to the victim.
    pub system_prompt: &'a str,
    /// The user's request.
    pub instruction: &'a str,
    /// Tools that the harness did not hide.
    pub tools: &'a [ToolSpec],
}

/// A simulated victim.
#[derive(Debug, Clone)]
pub struct SimulatedVictim {
    profile: Profile,
    id: String,
}

impl SimulatedVictim {
    /// A victim with the profile behind `sim:`, an embedded name or a file.
    ///
    /// # Errors
    /// If there is no such profile, or it is malformed.
    pub fn open(name_or_path: &str) -> Result<Self, ProfileError> {
        Ok(Self::new(evosafe_spec::profile(name_or_path)?))
    }

    /// A victim with a profile.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        // Plain data; an empty text would only make the id say less.
        let content = serde_json::to_vec(&profile).unwrap_or_default();
        let hash = ContentHash::of(&[RULES_VERSION.as_bytes(), &content]);
        let id = format!("sim:{}@{}", profile.name, hash.short());
        Self { profile, id }
    }

    /// Name, rules and parameters: `sim:NAME@HASH`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The profile.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The answer of the quarantined classifier.
    #[must_use]
    pub fn classify(&self, question: &str, untrusted: &str) -> String {
        classify(&self.profile, question, untrusted)
    }

    /// Starts an episode.
    #[must_use]
    pub fn session(&self, script: &Script, opening: &Opening<'_>) -> SimulatedSession {
        SimulatedSession::new(&self.profile, script, opening)
    }
}
