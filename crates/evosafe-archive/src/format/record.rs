//! Small documents: the archive marker, results and runs.

use evosafe_types::{CandidateId, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Document;

/// What makes a repository an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    version: u32,
    /// Always `evosafe-archive`.
    pub format: String,
}

impl Marker {
    /// The marker of a new archive.
    pub fn new() -> Self {
        Self { version: Self::VERSION, format: "evosafe-archive".to_owned() }
    }
}

impl Document for Marker {
    const WHAT: &'static str = "archive marker";
    const VERSION: u32 = 1;
    fn version(&self) -> u32 {
        self.version
    }
}

/// What a result is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultKind {
    /// How a stage of the cascade ended.
    Stage,
    /// What the Criticizer said.
    Verdict,
    /// What the Analyzer noted for the next edit.
    Note,
    /// An evaluation on a split, held-out included.
    Evaluation,
    /// Whether it may win, after the wide stage.
    Promotion,
    /// Whether its compiled form answers as it did.
    Build,
    /// What an attempt of a model as Designer came to, and cost: beside the candidate it handed
    /// in, or beside no defence where it failed.
    Attempt,
    /// How the Designer's predictions of what it would change fared.
    Prediction,
    /// How it did on the variants of attacks that the search's corpus grew by; beside no defence
    /// also what they are.
    Corpus,
}

impl ResultKind {
    /// Lowercase name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stage => "stage",
            Self::Verdict => "verdict",
            Self::Note => "note",
            Self::Evaluation => "evaluation",
            Self::Promotion => "promotion",
            Self::Build => "build",
            Self::Attempt => "attempt",
            Self::Prediction => "prediction",
            Self::Corpus => "corpus",
        }
    }
}

/// Something learnt about a candidate after it was archived.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultRecord {
    /// What it is about.
    pub kind: ResultKind,
    /// The run that learnt it; `None` outside a run.
    pub run: Option<RunId>,
    /// What was learnt. Its shape belongs to whoever wrote it. Must not hold timings,
    /// or the same search gives other object ids.
    pub body: Value,
}

/// A result as stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredResult {
    version: u32,
    /// The candidate.
    pub candidate: CandidateId,
    kind: ResultKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunId>,
    body: Value,
}

impl StoredResult {
    /// Wraps a record for storage.
    pub fn new(candidate: &CandidateId, record: &ResultRecord) -> Self {
        // As with events: a result is of the version that has its kind.
        let version = if record.kind == ResultKind::Corpus { 2 } else { 1 };
        Self {
            version,
            candidate: candidate.clone(),
            kind: record.kind,
            run: record.run.clone(),
            body: record.body.clone(),
        }
    }

    /// Unwraps.
    pub fn into_record(self) -> ResultRecord {
        ResultRecord { kind: self.kind, run: self.run, body: self.body }
    }

    /// Subject of its commit, e.g. `result 0a1b2c3d4e5f: stage gate`.
    pub fn subject(&self) -> String {
        let stage = self.body.get("stage").and_then(Value::as_str).unwrap_or_default();
        let text = format!("result {}: {} {stage}", self.candidate.short(), self.kind.as_str());
        text.trim_end().to_owned()
    }
}

impl Document for StoredResult {
    const WHAT: &'static str = "result";
    const VERSION: u32 = 2;
    fn version(&self) -> u32 {
        self.version
    }
}

/// A run as stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredRun {
    version: u32,
    /// The run.
    pub run: RunId,
    /// Place among the runs of the archive, from 0, in the order they were first put.
    pub sequence: u64,
    /// What the search says of itself.
    pub record: Value,
}

impl StoredRun {
    /// Wraps a record for storage.
    pub fn new(run: &RunId, sequence: u64, record: &Value) -> Self {
        Self { version: Self::VERSION, run: run.clone(), sequence, record: record.clone() }
    }

    /// The candidate that the run names as its best so far, by the convention that its
    /// record has a field `best` with a candidate id.
    pub fn best(&self) -> Option<CandidateId> {
        self.record.get("best")?.as_str()?.parse().ok()
    }
}

impl Document for StoredRun {
    const WHAT: &'static str = "run";
    const VERSION: u32 = 1;
    fn version(&self) -> u32 {
        self.version
    }
}
