//! What is in the journal and not yet in git, in memory but for the bulk.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use evosafe_types::{CandidateId, EvidenceKey, Outcome, RunId};

use crate::error::Result;
use crate::format::{self, CandidateRecord, StoredResult, StoredRun};
use crate::journal::{Flaw, Kind, Location, Segment};
use crate::store::understood;

/// Evidence that waits for a flush.
#[derive(Debug, Clone)]
pub struct PendingEvidence {
    pub outcome: Outcome,
    pub paid_by: RunId,
    pub at: Location,
}

/// A candidate that waits for a flush.
#[derive(Debug, Clone)]
pub struct PendingCandidate {
    pub parents: Vec<CandidateId>,
    pub at: Location,
}

/// All that waits for a flush.
#[derive(Debug, Default)]
pub struct Overlay {
    pub evidence: HashMap<EvidenceKey, PendingEvidence>,
    pub candidates: HashMap<CandidateId, PendingCandidate>,
    /// In the order they came, with the segment they are in.
    pub results: HashMap<CandidateId, Vec<(u64, StoredResult)>>,
    pub runs: HashMap<RunId, Vec<(u64, StoredRun)>>,
}

impl Overlay {
    /// Takes in a record of the journal.
    pub fn add(&mut self, root: &Path, kind: Kind, at: Location, payload: &[u8]) -> Result<()> {
        let known = |e| understood(root, "the journal", e);
        match kind {
            Kind::Evidence => {
                let header = format::decode_header(payload).map_err(known)?;
                let outcome = header.outcome();
                self.add_evidence(header.key, outcome, header.paid_by, at);
            }
            Kind::Candidate => {
                let record = CandidateRecord::decode(payload).map_err(known)?;
                let pending = PendingCandidate { parents: record.parents, at };
                self.candidates.entry(record.id).or_insert(pending);
            }
            Kind::Result => {
                let result: StoredResult = format::decode(payload).map_err(known)?;
                let list = self.results.entry(result.candidate.clone()).or_default();
                list.push((at.segment(), result));
            }
            Kind::Run => {
                let run: StoredRun = format::decode(payload).map_err(known)?;
                self.runs.entry(run.run.clone()).or_default().push((at.segment(), run));
            }
        }
        Ok(())
    }

    /// Takes in evidence. Of two with one key the earlier in the journal counts, which is
    /// also what a flush and a recovery find.
    pub fn add_evidence(
        &mut self,
        key: EvidenceKey,
        outcome: Outcome,
        paid_by: RunId,
        at: Location,
    ) {
        let pending = PendingEvidence { outcome, paid_by, at };
        match self.evidence.get_mut(&key) {
            Some(there) if there.at.is_before(&pending.at) => {}
            Some(there) => *there = pending,
            None => {
                self.evidence.insert(key, pending);
            }
        }
    }

    /// Reads a segment in.
    pub fn read(&mut self, root: &Path, segment: &Arc<Segment>) -> Result<Vec<Flaw>> {
        segment.scan(root, &mut |kind, at, payload| self.add(root, kind, at, payload))
    }

    /// Forgets what segments up to this one held: it is in git now.
    pub fn forget(&mut self, up_to: u64) {
        self.evidence.retain(|_, e| e.at.segment() > up_to);
        self.candidates.retain(|_, c| c.at.segment() > up_to);
        for list in self.results.values_mut() {
            list.retain(|(segment, _)| *segment > up_to);
        }
        self.results.retain(|_, list| !list.is_empty());
        for list in self.runs.values_mut() {
            list.retain(|(segment, _)| *segment > up_to);
        }
        self.runs.retain(|_, list| !list.is_empty());
    }
}
