//! Checking an archive from end to end. Nothing is changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use evosafe_types::{CandidateId, EvidenceKey};
use git2::Oid;
use serde::Serialize;

use crate::archive::Archive;
use crate::error::{ArchiveError, Result};
use crate::events::{self, EventFile};
use crate::flush::evidence_total;
use crate::format::{self, Document, StoredResult, StoredRun};
use crate::index::Index;
use crate::journal::{self, Flaw, Segment};
use crate::layout::{self, CANDIDATES, EVENTS_REF, EVIDENCE_REF, RESULTS, RUNS};
use crate::lock::WriterLock;
use crate::store::{candidate_of, reference};

/// Recomputes a candidate's id from its files; the archive does not know how. The error
/// is why they are no bundle.
pub type IdOf<'a> =
    &'a dyn Fn(&BTreeMap<String, Vec<u8>>) -> std::result::Result<CandidateId, String>;

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The reference, file or key.
    pub place: String,
    /// What is wrong there.
    pub what: String,
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FsckReport {
    /// Candidates in git.
    pub candidates: u64,
    /// Results in git.
    pub results: u64,
    /// Runs in git.
    pub runs: u64,
    /// Pieces of evidence in git.
    pub evidence: u64,
    /// Events, in git and in files.
    pub events: u64,
    /// Records in the journal.
    pub journal: u64,
    /// What is wrong. Empty means sound.
    pub problems: Vec<Problem>,
    /// What could not be checked, or is worth knowing, without being wrong.
    pub notices: Vec<String>,
}

impl FsckReport {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    fn problem(&mut self, place: impl Into<String>, what: impl Into<String>) {
        self.problems.push(Problem { place: place.into(), what: what.into() });
    }

    /// Keeps the value, or notes why there is none.
    fn note<T>(&mut self, place: &str, result: Result<T>) -> Option<T> {
        result.map_err(|e| self.problem(place, e.to_string())).ok()
    }
}

impl fmt::Display for FsckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} candidates, {} results, {} runs, evidence of {} episodes, {} events; {} records \
             in the journal",
            self.candidates, self.results, self.runs, self.evidence, self.events, self.journal
        )?;
        for notice in &self.notices {
            writeln!(f, "note: {notice}")?;
        }
        for problem in &self.problems {
            writeln!(f, "problem: {}: {}", problem.place, problem.what)?;
        }
        match self.problems.len() {
            0 => write!(f, "sound"),
            1 => write!(f, "1 problem"),
            n => write!(f, "{n} problems"),
        }
    }
}

impl Archive {
    /// Checks everything: each candidate's files give its id and its commit names its
    /// parents; chains are whole; all documents can be read and are of known versions;
    /// evidence stands under its own key and can be decoded; the index agrees with git;
    /// the journal and the event files are intact.
    ///
    /// # Errors
    /// If there is no archive, or it is of a newer version. All that is found inside is in
    /// the report.
    pub fn fsck(path: &Path, id_of: IdOf<'_>) -> Result<FsckReport> {
        // Not `open_read`: a damaged journal is to be reported, not to be an error.
        drop(Self::open_marked(path)?);
        let mut report = FsckReport::default();
        check_journal(path, &mut report);
        let archive = Self::open_marked(path)?;
        let known = archive.check_candidates(id_of, &mut report);
        archive.check_chains(&mut report);
        archive.check_evidence(&known, &mut report);
        archive.check_events(&mut report);
        archive.check_index(&mut report);
        Ok(report)
    }

    fn check_candidates(&self, id_of: IdOf<'_>, report: &mut FsckReport) -> BTreeSet<CandidateId> {
        let mut known = BTreeSet::new();
        let names = report.note(CANDIDATES, self.store.names(CANDIDATES)).unwrap_or_default();
        for name in names {
            let place = format!("{CANDIDATES}{name}");
            let Ok(id) = name.parse::<CandidateId>() else {
                report.problem(place, "its name is no candidate id");
                continue;
            };
            report.candidates += 1;
            match report.note(&place, self.store.files(&id)).flatten().map(|files| id_of(&files)) {
                Some(Ok(found)) if found == id => {}
                Some(Ok(found)) => {
                    report.problem(&place, format!("its files are those of {found}"))
                }
                Some(Err(why)) => report.problem(&place, format!("its files are no bundle: {why}")),
                None => {}
            }
            let named = self.store.with(&format!("read {place}"), |repo| {
                let Some(oid) = reference(repo, &place)? else { return Ok(None) };
                let commit = repo.find_commit(oid)?;
                Ok(candidate_of(&String::from_utf8_lossy(commit.message_bytes())))
            });
            if let Some(named) = report.note(&place, named)
                && named.as_ref() != Some(&id)
            {
                report.problem(&place, "its commit does not name it");
            }
            for parent in report.note(&place, self.store.parents(&id)).flatten().unwrap_or_default()
            {
                let there = self.store.reference(&layout::candidate_ref(&parent));
                if report.note(&place, there).is_some_and(|oid| oid.is_none()) {
                    report.problem(&place, format!("its parent {parent} has no reference"));
                }
            }
            known.insert(id);
        }
        known
    }

    fn check_chains(&self, report: &mut FsckReport) {
        for name in report.note(RESULTS, self.store.names(RESULTS)).unwrap_or_default() {
            let place = format!("{RESULTS}{name}");
            let records: Vec<StoredResult> = self.check_chain(&place, report);
            report.results += records.len() as u64;
            if records.iter().any(|record| record.candidate.as_str() != name) {
                report.problem(&place, "a record is about another candidate");
            }
            // Asked anew, not of the list made before: a live writer adds both meanwhile.
            let candidate = self.store.reference(&format!("{CANDIDATES}{name}"));
            if report.note(&place, candidate).is_some_and(|oid| oid.is_none()) {
                report.problem(&place, "the candidate is not archived");
            }
        }
        for name in report.note(RUNS, self.store.names(RUNS)).unwrap_or_default() {
            let place = format!("{RUNS}{name}");
            let records: Vec<StoredRun> = self.check_chain(&place, report);
            report.runs += 1;
            if records.iter().any(|record| record.run.as_str() != name) {
                report.problem(&place, "a record is of another run");
            }
        }
    }

    fn check_chain<T: Document>(&self, place: &str, report: &mut FsckReport) -> Vec<T> {
        let chain = report.note(place, self.store.chain(place)).unwrap_or_default();
        let mut records = Vec::new();
        for (commit, blob) in chain {
            let record = self
                .store
                .blob(blob)
                .and_then(|bytes| self.store.understood(place, format::decode(&bytes)));
            records.extend(report.note(&format!("{place} at {commit}"), record));
        }
        records
    }

    fn check_evidence(&self, known: &BTreeSet<CandidateId>, report: &mut FsckReport) {
        // One head for all, as a live writer may move it meanwhile.
        let Some(head) = report.note(EVIDENCE_REF, self.store.reference(EVIDENCE_REF)) else {
            return;
        };
        let entries = report.note(EVIDENCE_REF, self.evidence_blobs(head)).unwrap_or_default();
        let mut strangers = 0;
        for (key, blob) in &entries {
            report.evidence += 1;
            let place = format!("evidence {key}");
            let decoded = self
                .store
                .blob(*blob)
                .and_then(|bytes| self.store.understood(&place, format::decode_evidence(&bytes)));
            let Some((evidence, _)) = report.note(&place, decoded) else { continue };
            if evidence.key != *key {
                report.problem(&place, format!("it carries the key {}", evidence.key));
            }
            strangers += u64::from(!known.contains(&evidence.candidate));
        }
        if strangers > 0 {
            report.notices.push(format!(
                "{strangers} pieces of evidence are of candidates that are not archived (yet)"
            ));
        }
        self.check_evidence_chain(head, entries.len() as u64, report);
    }

    /// Every commit of the chain exists and tells a total that only grows, up to `count`.
    fn check_evidence_chain(&self, head: Option<Oid>, count: u64, report: &mut FsckReport) {
        let totals = self.store.with("read the evidence chain", |repo| {
            let (mut totals, mut next) = (Vec::new(), head);
            while let Some(oid) = next {
                totals.push(evidence_total(repo, oid)?);
                next = repo.find_commit(oid)?.parent_ids().next();
            }
            Ok(totals)
        });
        let Some(totals) = report.note(EVIDENCE_REF, totals) else { return };
        if totals.first().copied().unwrap_or(0) != count {
            let told = totals.first().copied().unwrap_or(0);
            report.problem(EVIDENCE_REF, format!("it tells of {told} pieces, there are {count}"));
        }
        if totals.windows(2).any(|pair| pair[0] <= pair[1]) {
            report.problem(EVIDENCE_REF, "its totals do not grow");
        }
    }

    fn check_events(&self, report: &mut FsckReport) {
        let mut places = BTreeSet::new();
        let files = events::read_files(&self.layout);
        for file in report.note("event files", files).unwrap_or_default() {
            let EventFile { path, lines, torn, damaged, .. } = file;
            places.extend(lines.into_keys());
            if damaged > 0 {
                report.problem(path.display().to_string(), format!("{damaged} damaged lines"));
            }
            if torn > 0 {
                report.notices.push(format!(
                    "{} ends in half an event; the next writer cuts it off",
                    path.display()
                ));
            }
        }
        for (commit, blob) in
            report.note(EVENTS_REF, self.store.chain(EVENTS_REF)).unwrap_or_default()
        {
            let lines =
                self.store.blob(blob).and_then(|bytes| events::parse_segment(&self.store, &bytes));
            for line in report.note(&format!("{EVENTS_REF} at {commit}"), lines).unwrap_or_default()
            {
                places.insert(line.n);
            }
        }
        report.events = places.len() as u64;
        if let Some(last) = places.last()
            && last + 1 != report.events
        {
            // Lost with a damaged file once, and nothing can bring them back.
            let missing = last + 1 - report.events;
            report.notices.push(format!("{missing} events are missing from the stream"));
        }
    }

    fn check_index(&self, report: &mut FsckReport) {
        let path = self.layout.index();
        let place = path.display().to_string();
        if !path.exists() {
            report.notices.push("there is no index yet; the next writer builds it".to_owned());
            return;
        }
        let _lock = match WriterLock::take(&self.layout) {
            Ok(lock) => lock,
            Err(e @ (ArchiveError::Locked { .. } | ArchiveError::NotWritable { .. })) => {
                report.notices.push(format!("the index was not checked: {e}"));
                return;
            }
            Err(e) => return report.problem(place, e.to_string()),
        };
        let found = Index::look(&path).and_then(|index| Ok((index.stamp()?, index.entries()?)));
        let (stamp, indexed) = match found {
            Ok(found) => found,
            Err(detail) => {
                return report
                    .problem(place, format!("{detail}; `evosafe archive reindex` mends it"));
            }
        };
        let Some(head) = report.note(EVIDENCE_REF, self.store.reference(EVIDENCE_REF)) else {
            return;
        };
        if stamp != head {
            report.notices.push("the index is behind git; the next writer brings it up".to_owned());
            return;
        }
        let wrong = self.disagreements(head, &indexed.into_iter().collect());
        if let Some(wrong @ 1..) = report.note(&place, wrong) {
            report.problem(
                place,
                format!(
                    "{wrong} entries do not agree with git; `evosafe archive reindex` mends it"
                ),
            );
        }
    }

    fn disagreements(
        &self,
        head: Option<Oid>,
        indexed: &BTreeMap<EvidenceKey, crate::index::Indexed>,
    ) -> Result<u64> {
        let entries = self.evidence_blobs(head)?;
        let mut agreeing = 0;
        for (key, blob) in &entries {
            let bytes = self.store.blob(*blob)?;
            let header = self.store.understood(EVIDENCE_REF, format::decode_header(&bytes))?;
            agreeing += u64::from(indexed.get(key).is_some_and(|there| {
                there.blob == *blob
                    && there.outcome == header.outcome()
                    && there.paid_by == header.paid_by
            }));
        }
        Ok((entries.len().max(indexed.len()) as u64) - agreeing)
    }
}

fn check_journal(path: &Path, report: &mut FsckReport) {
    let layout = layout::Layout::new(path);
    let listed = journal::list(&layout.journal());
    for (number, file) in report.note("journal", listed).unwrap_or_default() {
        let place = file.display().to_string();
        let Some(segment) = report.note(&place, Segment::open(number, &file)).flatten() else {
            continue;
        };
        let mut overlay = crate::overlay::Overlay::default();
        let mut records = 0;
        let scanned = segment.scan(path, &mut |kind, at, payload| {
            records += 1;
            overlay.add(path, kind, at, payload)
        });
        report.journal += records;
        for flaw in report.note(&place, scanned).unwrap_or_default() {
            match flaw {
                Flaw::Torn { bytes, .. } => report.notices.push(format!(
                    "{place} ends in {bytes} bytes of an unfinished record; the next writer cuts them off"
                )),
                Flaw::Damaged { from, bytes } => {
                    report.problem(&place, format!("{bytes} damaged bytes at offset {from}"));
                }
            }
        }
    }
}
