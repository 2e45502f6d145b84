//! Names of files and references. The bare repository is the archive's root, so
//! that `git -C ARCHIVE log` finds it; what is ours alone lies in `evosafe/`.

use std::path::{Path, PathBuf};

use evosafe_types::{CandidateId, EvidenceKey, RunId};

/// The blob that makes a repository an archive and carries its version.
pub const FORMAT_REF: &str = "refs/evosafe/format";
/// Head of the evidence chain.
pub const EVIDENCE_REF: &str = "refs/evosafe/evidence";
/// Head of the chain of event segments.
pub const EVENTS_REF: &str = "refs/evosafe/events";
/// The `best` of the run recorded last; `HEAD` once there is one.
pub const BEST_REF: &str = "refs/heads/best";
/// The candidate archived last; `HEAD` until a run names its best.
pub const LATEST_REF: &str = "refs/heads/latest";
/// Folder of candidate references.
pub const CANDIDATES: &str = "refs/evosafe/candidates/";
/// Folder of result chains.
pub const RESULTS: &str = "refs/evosafe/results/";
/// Folder of run chains.
pub const RUNS: &str = "refs/evosafe/runs/";

/// Reference of a candidate's commit.
pub fn candidate_ref(id: &CandidateId) -> String {
    format!("{CANDIDATES}{id}")
}

/// Reference of a candidate's chain of results.
pub fn results_ref(id: &CandidateId) -> String {
    format!("{RESULTS}{id}")
}

/// Reference of a run's chain of records.
pub fn run_ref(id: &RunId) -> String {
    format!("{RUNS}{id}")
}

/// Folder of an archive for what live models were asked and what that cost. It lies beside
/// git and is no part of the archive's history.
#[must_use]
pub fn calls_folder(archive: &Path) -> PathBuf {
    archive.join("evosafe").join("calls")
}

/// Where a key stands in the evidence tree: two folders of two digits, then the key.
/// A leaf holds one entry on average up to 65,536 pieces of evidence, so adding one
/// rewrites three small trees however large the archive is.
pub fn evidence_path(key: &EvidenceKey) -> (&str, &str, &str) {
    let key = key.as_str();
    (&key[0..2], &key[2..4], key)
}

/// Paths of an archive.
#[derive(Debug, Clone)]
pub struct Layout {
    root: PathBuf,
}

impl Layout {
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Everything that is not git's.
    pub fn own(&self) -> PathBuf {
        self.root.join("evosafe")
    }

    pub fn lock(&self) -> PathBuf {
        self.own().join("lock")
    }

    pub fn journal(&self) -> PathBuf {
        self.own().join("journal")
    }

    pub fn events(&self) -> PathBuf {
        self.own().join("events")
    }

    pub fn index(&self) -> PathBuf {
        self.own().join("index")
    }

    /// Settings that we give to libgit2 and plain git does not read.
    pub fn git_settings(&self) -> PathBuf {
        self.own().join("libgit2.config")
    }

    pub fn packs(&self) -> PathBuf {
        self.root.join("objects").join("pack")
    }
}
