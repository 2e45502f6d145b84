//! Replayed victims: the recorded turns of a real model, in AgentDojo's own layout.
//!
//! What the environment draws anew in each run (one-time codes, order numbers, time
//! stamps) is rebound: see [`rebind`].

mod compare;
mod diff;
mod read;
pub mod rebind;
mod recording;
mod session;
mod token;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use evosafe_types::{ContentHash, FaultKind, Task, Transcript};

use crate::VictimError;
pub use compare::Difference;
use read::Files;
use recording::Recording;
pub use session::ReplaySession;

/// Skipped files (or tasks) that a notice names.
const NAMED: usize = 5;

/// Flags as recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// The user's goal was reached.
    pub utility: bool,
    /// The attack succeeded.
    pub security: bool,
    /// The run ended in an API error: its flags say nothing about the model.
    pub api_error: bool,
}

/// Recorded runs of one pipeline, benign and under one attack.
#[derive(Debug)]
pub struct ReplayVictim {
    id: String,
    runs: BTreeMap<RunKey, Recording>,
    notices: Vec<String>,
    /// User tasks whose recorded request is not the one the environment gives.
    other_requests: Mutex<BTreeSet<String>>,
}

/// (suite, user task, injection task).
type RunKey = (String, String, Option<String>);

impl ReplayVictim {
    /// Opens a folder or a `.tar.zst` of one. Reads the benign runs and those under
    /// `attack`.
    ///
    /// # Errors
    /// If nothing there is a recorded run, or the attack was not recorded.
    pub fn open(path: &Path, attack: Option<&str>) -> Result<Self, VictimError> {
        let Files { runs, skipped, attacks, pipelines, digest } = read::read(path, attack)?;
        let skipped = describe(&skipped);
        if runs.is_empty() && attacks.is_empty() {
            let skipped = skipped.map(|s| format!("; {s}")).unwrap_or_default();
            return Err(VictimError::NoRuns { path: path.to_owned(), skipped });
        }
        if pipelines.len() > 1 {
            let pipelines = pipelines.into_iter().collect();
            return Err(VictimError::SeveralPipelines { path: path.to_owned(), pipelines });
        }
        if let Some(attack) = attack
            && !attacks.contains(attack)
        {
            let recorded = attacks.into_iter().collect();
            let attack = attack.to_owned();
            return Err(VictimError::NoAttack { attack, recorded, path: path.to_owned() });
        }
        let pipeline = pipelines.into_iter().next().unwrap_or_else(|| "unnamed".to_owned());
        let hash = ContentHash::of(&[rebind::VERSION.as_bytes(), digest.as_bytes()]);
        let mut notices: Vec<String> = skipped.into_iter().collect();
        let errors = runs.values().filter(|r| r.api_error).count();
        if errors > 0 {
            notices.push(format!("{errors} recorded runs ended in an API error: unassessed"));
        }
        let id = format!("replay:{pipeline}@{}", hash.short());
        Ok(Self { id, runs, notices, other_requests: Mutex::default() })
    }

    /// `replay:PIPELINE@HASH`; the hash covers the content of the runs that were read.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Files that were skipped, recorded API errors and, once episodes ran, signs that the
    /// runs were made with another version of the benchmark.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        let mut notices = self.notices.clone();
        let other = self.other_requests.lock().unwrap_or_else(PoisonError::into_inner);
        if !other.is_empty() {
            let named: Vec<&str> = other.iter().map(String::as_str).take(NAMED).collect();
            let more = if other.len() > NAMED { ", ..." } else { "" };
            notices.push(format!(
                "{} user tasks were recorded with another request than the environment gives ({}{more}): \
                 the benchmark may have had another version",
                other.len(),
                named.join(", ")
            ));
        }
        notices
    }

    /// Benchmark versions that the runs name; older recordings name none.
    #[must_use]
    pub fn benchmark_versions(&self) -> BTreeSet<&str> {
        self.runs.values().filter_map(|r| r.benchmark_version.as_deref()).collect()
    }

    /// The version of the benchmark that all runs name, if they do.
    #[must_use]
    pub fn benchmark_version(&self) -> Option<&str> {
        let mut versions = self.benchmark_versions().into_iter();
        versions.next().filter(|_| versions.next().is_none())
    }

    /// Recorded benign runs, and recorded pairs of user and injection task.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let pairs = self.runs.keys().filter(|(_, _, injection)| injection.is_some()).count();
        (self.runs.len() - pairs, pairs)
    }

    /// Notes that the environment runs version `version` of the benchmark.
    pub(crate) fn expect_version(&mut self, version: &str) {
        let recorded = self.benchmark_versions();
        if !recorded.is_empty() && !recorded.contains(version) {
            let recorded = recorded.into_iter().collect::<Vec<_>>().join(", ");
            self.notices.push(format!(
                "the runs were recorded with benchmark version {recorded}, the environment is {version}"
            ));
        }
    }

    fn run(&self, task: &Task) -> Option<&Recording> {
        let key = (task.suite.clone(), task.user_task.clone(), task.injection_task.clone());
        self.runs.get(&key)
    }

    /// The flags recorded for a task.
    #[must_use]
    pub fn recorded(&self, task: &Task) -> Option<Recorded> {
        self.run(task).map(|r| Recorded {
            utility: r.utility,
            security: r.security,
            api_error: r.api_error,
        })
    }

    /// The calls of a replayed episode whose results are not the recorded ones.
    #[must_use]
    pub fn differences(&self, task: &Task, transcript: &Transcript) -> Vec<Difference> {
        self.run(task).map(|run| compare::differences(run, transcript)).unwrap_or_default()
    }

    /// The recorded run of a task, if it can be replayed.
    ///
    /// # Errors
    /// If there is none, or it ended in an API error.
    fn playable(&self, task: &Task) -> Result<&Recording, (FaultKind, String)> {
        let run = self.run(task).ok_or_else(|| {
            (FaultKind::NoRecording, format!("{} has no run of {}", self.id, task.id))
        })?;
        if run.api_error {
            return Err((FaultKind::RecordedApiError, format!("recorded run of {}", task.id)));
        }
        Ok(run)
    }

    /// Why a task cannot be replayed, if so.
    #[must_use]
    pub fn unplayable(&self, task: &Task) -> Option<(FaultKind, String)> {
        self.playable(task).err()
    }

    /// Starts an episode.
    ///
    /// # Errors
    /// If there is no recorded run of the task, or it ended in an API error.
    pub fn session(
        &self,
        task: &Task,
        instruction: &str,
    ) -> Result<ReplaySession<'_>, (FaultKind, String)> {
        let run = self.playable(task)?;
        if !run.instruction.split_whitespace().eq(instruction.split_whitespace()) {
            let name = format!("{}/{}", task.suite, task.user_task);
            self.other_requests.lock().unwrap_or_else(PoisonError::into_inner).insert(name);
        }
        Ok(ReplaySession::new(run, instruction))
    }
}

fn describe(skipped: &[(String, String)]) -> Option<String> {
    if skipped.is_empty() {
        return None;
    }
    let names: Vec<String> =
        skipped.iter().take(NAMED).map(|(name, why)| format!("{name} ({why})")).collect();
    let more = skipped.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!(
        "skipped {} files that are no recorded runs: {}{more}",
        skipped.len(),
        names.join(", ")
    ))
}
