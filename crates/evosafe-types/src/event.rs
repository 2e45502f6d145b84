//! Events: the one stream that feeds progress, `--json`, reports and resume.

use serde::{Deserialize, Serialize};

use crate::{CandidateId, ContentHash, RunId, Score};

/// Stages of the cascade (design section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Stage 0: builds, hooks answer, limits hold.
    Static,
    /// Stage 1: a short prefix without harness faults.
    Smoke,
    /// Stage 2: the confidence gate.
    Gate,
    /// Stage 3: the search score.
    Search,
    /// Stage 4: the wide score, finalists only.
    Wide,
}

impl Stage {
    /// Lowercase name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Smoke => "smoke",
            Self::Gate => "gate",
            Self::Search => "search",
            Self::Wide => "wide",
        }
    }
}

/// How a stage ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "lowercase")]
pub enum StageOutcome {
    /// Go on.
    Passed {
        /// Score on the stage's prefix; absent in stage 0.
        score: Option<Score>,
        /// Upper bound of the score difference to H0, points; only in the gate.
        upper_bound: Option<f64>,
    },
    /// Stop here.
    Stopped {
        /// Score on the stage's prefix; absent in stage 0.
        score: Option<Score>,
        /// Upper bound of the score difference to H0, points; only in the gate.
        upper_bound: Option<f64>,
        /// Why.
        reason: String,
    },
}

/// Why a proposal never reached the cascade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DropReason {
    /// It answers like a candidate that is already archived.
    Duplicate,
    /// The Criticizer still flags it after all repairs.
    Criticizer,
}

/// Something that happened. Times are stamped by the archive, outside every id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A search began or was resumed.
    SearchStarted {
        /// The search.
        run: RunId,
        /// Name of the specification.
        spec: String,
        /// The victim.
        victim: String,
        /// Run seed.
        seed: u64,
        /// Episodes of this search found in the archive.
        episodes_found: u64,
    },
    /// A candidate entered the archive.
    Proposed {
        /// The candidate.
        candidate: CandidateId,
        /// Name for people.
        name: String,
        /// The edit.
        edit: String,
    },
    /// A proposal was dropped before any episode was spent.
    Dropped {
        /// The proposal.
        candidate: CandidateId,
        /// The edit.
        edit: String,
        /// Why.
        reason: DropReason,
    },
    /// A stage began.
    StageStarted {
        /// The candidate.
        candidate: CandidateId,
        /// The stage.
        stage: Stage,
        /// Episodes it needs in all.
        episodes: u64,
    },
    /// An episode ended and is durable.
    EpisodeFinished {
        /// The candidate.
        candidate: CandidateId,
        /// Whether it was taken from the archive.
        reused: bool,
        /// Whether it has a verdict.
        assessed: bool,
        /// Milliseconds it took; 0 if reused.
        millis: u64,
    },
    /// A stage ended.
    StageFinished {
        /// The candidate.
        candidate: CandidateId,
        /// The stage.
        stage: Stage,
        /// How.
        outcome: StageOutcome,
    },
    /// The best candidate by search score changed.
    NewBest {
        /// The candidate.
        candidate: CandidateId,
        /// Its search score, points.
        points: f64,
    },
    /// The train corpus of a search grew by variants of attacks: from here on scores are those of
    /// another version of it.
    CorpusGrew {
        /// The search.
        run: RunId,
        /// The version, from 1; 0 is what the specification says.
        version: u32,
        /// Hash of all its tasks.
        corpus: ContentHash,
        /// Variants that are new.
        added: u32,
        /// Variants in all.
        variants: u32,
    },
    /// Held-out tasks were opened (design section 8, invariant 5).
    HeldOutOpened {
        /// The candidate that was evaluated.
        candidate: CandidateId,
        /// Tasks in the split.
        tasks: u64,
        /// The victim.
        victim: String,
    },
    /// Something the user should know: a bridge restarted, an index was rebuilt, a file was skipped.
    Warning {
        /// What.
        message: String,
    },
    /// The search ended.
    SearchFinished {
        /// The search.
        run: RunId,
        /// The winner.
        best: CandidateId,
        /// Why it ended.
        reason: String,
    },
}
