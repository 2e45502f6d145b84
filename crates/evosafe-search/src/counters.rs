//! What a process has done so far.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

use evosafe_types::EvidenceKey;

/// Counters of one process, for the summary.
#[derive(Debug, Default)]
pub struct Counters {
    /// Episodes run here.
    pub run: AtomicU64,
    /// Episodes that an earlier process or search ran, taken from the archive.
    pub reused: AtomicU64,
    /// Episodes without a verdict.
    pub unassessed: AtomicU64,
    /// Episodes counted.
    seen: Mutex<HashSet<EvidenceKey>>,
}

impl Counters {
    /// Whether an episode was not counted before.
    pub(crate) fn first(&self, key: &EvidenceKey) -> bool {
        self.seen.lock().is_ok_and(|mut seen| seen.insert(key.clone()))
    }
}
