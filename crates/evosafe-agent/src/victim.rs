//! The victims: the frozen model under attack, in its kinds.

use std::path::Path;
use std::sync::Arc;

use evosafe_env::Environment;
use evosafe_sandbox::Classifier;
use evosafe_types::{
    EpisodeCost, FaultKind, JsonMap, REPLAY_CAVEAT, SIMULATED_CAVEAT, Task, ToolResult,
};

use crate::VictimError;
use crate::live::{LiveSession, LiveVictim, LostCalls, Purpose};
use crate::replay::{Recorded, ReplaySession, ReplayVictim};
use crate::simulated::{Opening, SimulatedSession, SimulatedVictim, VictimMove};

/// What became of a call, as the victim's session is told.
#[derive(Debug, Clone)]
pub struct Observation<'a> {
    /// What the victim is shown.
    pub delivered: &'a ToolResult,
    /// What the environment answered, if the call was executed exactly as proposed.
    pub live: Option<&'a ToolResult>,
}

/// A victim.
#[derive(Debug)]
pub enum Victim {
    /// Recorded runs of a real model.
    Replay(ReplayVictim),
    /// A seeded behaviour profile.
    Simulated(SimulatedVictim),
    /// A model behind an API.
    Live(LiveVictim),
}

impl Victim {
    /// Opens `replay:PATH`, `sim:NAME` or `sim:PATH.toml`; live victims need a client and are
    /// made with [`LiveVictim::new`]. The environment's options say which attack is
    /// run.
    ///
    /// # Errors
    /// If there is no such victim, or nothing usable was recorded.
    pub fn open(locator: &str, options: &JsonMap) -> Result<Self, VictimError> {
        match locator.split_once(':') {
            Some(("replay", path)) if !path.is_empty() => {
                let attack = options.get("attack").and_then(|a| a.as_str());
                let mut victim = ReplayVictim::open(Path::new(path), attack)?;
                if let Some(version) = options.get("version").and_then(|v| v.as_str()) {
                    victim.expect_version(version);
                }
                Ok(Self::Replay(victim))
            }
            Some(("sim", name)) => Ok(Self::Simulated(SimulatedVictim::open(name)?)),
            _ => Err(VictimError::Unknown(locator.to_owned())),
        }
    }

    /// Kind, name and content: the same for the same recordings wherever they lie.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Replay(victim) => victim.id(),
            Self::Simulated(victim) => victim.id(),
            Self::Live(victim) => victim.id(),
        }
    }

    /// Whether turns are recorded, so that only actions can be enforced.
    #[must_use]
    pub fn is_replay(&self) -> bool {
        matches!(self, Self::Replay(_))
    }

    /// Whether a model is asked, and paid, for every turn.
    #[must_use]
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Live(_))
    }

    /// What must be said beside every number made with this victim.
    #[must_use]
    pub fn caveats(&self) -> &'static [&'static str] {
        match self {
            Self::Replay(_) => &[REPLAY_CAVEAT],
            Self::Simulated(_) => &[SIMULATED_CAVEAT],
            Self::Live(_) => &[],
        }
    }

    /// What was skipped or looks odd.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        match self {
            Self::Replay(victim) => victim.notices(),
            Self::Simulated(_) | Self::Live(_) => Vec::new(),
        }
    }

    /// The flags that were recorded for a task.
    #[must_use]
    pub fn recorded(&self, task: &Task) -> Option<Recorded> {
        match self {
            Self::Replay(victim) => victim.recorded(task),
            Self::Simulated(_) | Self::Live(_) => None,
        }
    }

    /// The quarantined classifier of an episode. What a live victim loses of it to
    /// infrastructure is noted in `lost`.
    #[must_use]
    pub fn classifier(&self, purpose: Purpose<'_>, lost: &LostCalls) -> Classifier {
        match self {
            Self::Live(victim) => victim.classifier(purpose, lost),
            _ => self.free_classifier(),
        }
    }

    /// The classifier of what must cost nothing (rehearsals, probes): none for a live victim.
    #[must_use]
    pub fn free_classifier(&self) -> Classifier {
        match self {
            Self::Replay(_) | Self::Live(_) => Classifier::Absent,
            Self::Simulated(victim) => {
                let victim = victim.clone();
                Classifier::Answer(Arc::new(move |question, untrusted| {
                    let answer = victim.classify(&question, &untrusted);
                    Box::pin(async move { Ok(answer) })
                }))
            }
        }
    }

    /// Why this victim can never run the task, if so: known before the episode is opened.
    #[must_use]
    pub fn unplayable(&self, task: &Task) -> Option<(FaultKind, String)> {
        match self {
            Self::Replay(victim) => victim.unplayable(task),
            Self::Simulated(_) | Self::Live(_) => None,
        }
    }

    /// Starts an episode.
    ///
    /// # Errors
    /// If this victim cannot run the task; the episode is unassessed.
    pub fn session<'a>(
        &'a self,
        environment: &Environment,
        task: &Task,
        opening: &Opening<'_>,
        purpose: Purpose<'_>,
    ) -> Result<Session<'a>, (FaultKind, String)> {
        match self {
            Self::Replay(victim) => victim.session(task, opening.instruction).map(Session::Replay),
            Self::Simulated(victim) => {
                let script = environment.script(&task.id).ok_or_else(|| {
                    let why = "simulated victims work in built-in domains only".to_owned();
                    (FaultKind::Environment, why)
                })?;
                Ok(Session::Simulated(Box::new(victim.session(script, opening))))
            }
            Self::Live(victim) => Ok(Session::Live(Box::new(victim.session(opening, purpose)))),
        }
    }
}

/// A victim in an episode.
#[derive(Debug)]
pub enum Session<'a> {
    /// Emits recorded turns.
    Replay(ReplaySession<'a>),
    /// Follows its profile.
    Simulated(Box<SimulatedSession>),
    /// Asks the model.
    Live(Box<LiveSession<'a>>),
}

impl Session<'_> {
    /// The next move, given what became of the calls of the last one, in order.
    pub async fn next(&mut self, observations: &[Observation<'_>]) -> VictimMove {
        match self {
            Self::Replay(session) => session.next(observations),
            Self::Simulated(session) => {
                let delivered: Vec<ToolResult> =
                    observations.iter().map(|o| o.delivered.clone()).collect();
                session.next(&delivered)
            }
            Self::Live(session) => session.next(observations).await,
        }
    }

    /// Says that the episode came to its verdict: one without is run again.
    pub fn finish(&mut self) {
        if let Self::Live(session) = self {
            session.finish();
        }
    }

    /// Enters what the victim's calls cost so far.
    pub fn add_cost(&self, cost: &mut EpisodeCost) {
        if let Self::Live(session) = self {
            let EpisodeCost { tokens, usd, .. } = session.cost();
            (cost.tokens, cost.usd) = (tokens, usd);
        }
    }
}
