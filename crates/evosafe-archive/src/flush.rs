//! From the journal into git. The order of writes is what makes a kill at any moment
//! harmless: objects (in one pack, on disk, counted), references, index, and only then
//! is the journal trimmed. Whatever was done twice after a kill changes nothing.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem;
use std::sync::PoisonError;

use evosafe_types::{CandidateId, EvidenceKey};
use git2::{ErrorCode, Oid};

use crate::archive::Archive;
use crate::error::{ArchiveError, Result};
use crate::events::{self, EventFile};
use crate::format::{self, CandidateRecord, EvidenceHeader, StoredResult, StoredRun};
use crate::index::{Index, Indexed};
use crate::journal::{Flaw, Kind, Location};
use crate::layout::{
    self, BEST_REF, EVENTS_REF, EVIDENCE_REF, LATEST_REF, candidate_ref, results_ref, run_ref,
};
use crate::pack::{self, Staging};
use crate::repack;
use crate::store::{self, CANDIDATE_TRAILER, RECORD_FILE, reference};

/// Bytes of journal that go into one pack at most, so that memory stays flat.
const BATCH_BYTES: usize = 32 << 20;
/// Records that go into one pack at most.
const BATCH_RECORDS: usize = 8_192;
/// Line of an evidence commit's message with the number of pieces up to it.
pub const EVIDENCE_TOTAL: &str = "Evosafe-Evidence: ";

/// New entries of one leaf of the evidence tree.
type Leaves<'k> = Vec<(&'k str, Oid)>;

type Git<T> = std::result::Result<T, git2::Error>;

/// Part of the journal on its way into git.
#[derive(Default)]
struct Batch {
    evidence: BTreeMap<EvidenceKey, (EvidenceHeader, Vec<u8>)>,
    candidates: Vec<CandidateRecord>,
    results: Vec<(StoredResult, Vec<u8>)>,
    runs: Vec<(StoredRun, Vec<u8>)>,
    bytes: usize,
    records: usize,
}

/// What a batch became.
struct Staged {
    /// References to move, in order.
    moves: Vec<(String, Oid)>,
    evidence: Vec<(EvidenceKey, Indexed)>,
}

impl Archive {
    /// Moves all that the journal and the event files hold into git: one pack for up to
    /// 32 MiB, then the references, the index, and last the journal is trimmed. Recording
    /// goes on meanwhile. Nothing is lost if it is killed or fails; the next one goes on.
    ///
    /// # Errors
    /// If git cannot be written; the journal then still has everything.
    pub fn flush(&self) -> Result<()> {
        let writer = self.writer()?;
        let _one = writer.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        let segments = {
            let _all = writer.entering.write().unwrap_or_else(PoisonError::into_inner);
            writer.journal.rotate()?
        };
        let before = writer.events.rotate();
        let mut batch = Batch::default();
        for segment in &segments {
            let flaws = segment.scan(self.path(), &mut |kind, at, payload| {
                batch.add(self, kind, &at, payload)?;
                if batch.bytes >= BATCH_BYTES || batch.records >= BATCH_RECORDS {
                    self.write_batch(mem::take(&mut batch), &[])?;
                }
                Ok(())
            })?;
            if flaws.iter().any(|flaw| matches!(flaw, Flaw::Torn { .. })) {
                let what = segment.path.display().to_string();
                return Err(self.store.damaged(&what, "it ends in half a record"));
            }
        }
        let mut files = events::read_files(&self.layout)?;
        files.retain(|file| file.first() < before);
        self.write_batch(batch, &files)?;
        if let Some(last) = segments.last() {
            self.overlay_mut().forget(last.number);
        }
        writer.journal.trim(&segments)?;
        for file in files {
            std::fs::remove_file(&file.path)
                .map_err(|e| ArchiveError::io("remove", &file.path, e))?;
        }
        // Housekeeping: all is in git already, so its failure is not this call's.
        let merged = repack::merge_small_packs(&self.layout)
            .and_then(|merged| if merged { self.store.reopen(&self.layout) } else { Ok(()) });
        if let Err(e) = merged {
            self.notice(format!("small packs were not merged: {e}"));
        }
        Ok(())
    }

    fn write_batch(&self, batch: Batch, files: &[EventFile]) -> Result<()> {
        let segment = self.events_segment(files)?;
        let failed = |e| ArchiveError::git("write objects", self.path(), e);
        let staged = pack::write(&self.layout, |stage| stage_all(stage, &batch, segment.as_ref()))
            .map_err(failed)?;
        self.store.with("move references", |repo| {
            for (name, oid) in &staged.moves {
                repo.reference(name, *oid, true, "evosafe")?;
            }
            point_head(repo)
        })?;
        let head = self.store.reference(EVIDENCE_REF)?;
        if let (Some(head), false) = (head, staged.evidence.is_empty()) {
            self.with_index(|index: &Index| index.add(&staged.evidence, head));
        }
        Ok(())
    }

    /// The events of `files` that git does not have: name and compressed lines.
    fn events_segment(&self, files: &[EventFile]) -> Result<Option<(String, Vec<u8>)>> {
        let done = events::last_in_git(&self.store)?;
        let lines: BTreeMap<u64, _> =
            files.iter().flat_map(|file| &file.lines).map(|(n, line)| (*n, line)).collect();
        let new: Vec<_> =
            lines.into_iter().filter(|(n, _)| done.is_none_or(|done| *n > done)).collect();
        let (Some(first), Some(last)) = (new.first(), new.last()) else { return Ok(None) };
        let name = events::segment_name(first.0, last.0);
        let mut text = Vec::new();
        for (_, line) in new {
            text.extend(self.store.understood(EVENTS_REF, format::encode_line(line))?);
        }
        let bytes = zstd::bulk::compress(&text, 6)
            .map_err(|e| ArchiveError::io("compress events of", self.path(), e))?;
        Ok(Some((name, bytes)))
    }
}

impl Batch {
    fn add(&mut self, archive: &Archive, kind: Kind, _: &Location, payload: &[u8]) -> Result<()> {
        let known = |e| store::understood(archive.path(), "the journal", e);
        self.bytes += payload.len();
        self.records += 1;
        match kind {
            Kind::Evidence => {
                let header = format::decode_header(payload).map_err(known)?;
                let key = header.key.clone();
                self.evidence.entry(key).or_insert_with(|| (header, payload.to_vec()));
            }
            Kind::Candidate => {
                self.candidates.push(CandidateRecord::decode(payload).map_err(known)?);
            }
            Kind::Result => {
                self.results.push((format::decode(payload).map_err(known)?, payload.to_vec()));
            }
            Kind::Run => {
                self.runs.push((format::decode(payload).map_err(known)?, payload.to_vec()));
            }
        }
        Ok(())
    }
}

fn stage_all(
    stage: &Staging<'_>,
    batch: &Batch,
    events: Option<&(String, Vec<u8>)>,
) -> Git<Staged> {
    let mut staged = Staged { moves: Vec::new(), evidence: Vec::new() };
    let latest = stage_candidates(stage, &batch.candidates, &mut staged)?;
    let results = batch.results.iter().map(|(result, bytes)| {
        (results_ref(&result.candidate), result.subject(), bytes.as_slice())
    });
    stage_chains(stage, results, &mut staged)?;
    let runs = batch.runs.iter().map(|(run, bytes)| {
        (run_ref(&run.run), format!("run {}", run.run.short()), bytes.as_slice())
    });
    stage_chains(stage, runs, &mut staged)?;
    stage_evidence(stage, &batch.evidence, &mut staged)?;
    if let Some((name, bytes)) = events {
        let head = reference(stage.repo, EVENTS_REF)?;
        let blob = stage.blob(bytes)?;
        let range = name.split('.').next().unwrap_or_default();
        let commit = stage.record(head, name, blob, &format!("events {range}"))?;
        staged.moves.push((EVENTS_REF.to_owned(), commit));
    }
    if let Some(latest) = latest {
        staged.moves.push((LATEST_REF.to_owned(), latest));
    }
    if let Some(best) = batch.runs.iter().rev().find_map(|(run, _)| run.best())
        && let Some(commit) = commit_of(stage, &best, &staged)?
    {
        staged.moves.push((BEST_REF.to_owned(), commit));
    }
    Ok(staged)
}

/// The commit of a candidate, staged or in git.
fn commit_of(stage: &Staging<'_>, id: &CandidateId, staged: &Staged) -> Git<Option<Oid>> {
    let name = candidate_ref(id);
    match staged.moves.iter().find(|(moved, _)| *moved == name) {
        Some((_, commit)) => Ok(Some(*commit)),
        None => reference(stage.repo, &name),
    }
}

fn stage_candidates(
    stage: &Staging<'_>,
    candidates: &[CandidateRecord],
    staged: &mut Staged,
) -> Git<Option<Oid>> {
    let mut latest = None;
    for candidate in candidates {
        if let Some(there) = commit_of(stage, &candidate.id, staged)? {
            latest = Some(there);
            continue;
        }
        let mut parents = Vec::new();
        for parent in &candidate.parents {
            parents.push(commit_of(stage, parent, staged)?.ok_or_else(|| {
                git2::Error::from_str(&format!("the parent {parent} has no commit"))
            })?);
        }
        let files: Vec<_> =
            candidate.files.iter().map(|(name, bytes)| (name.as_str(), bytes)).collect();
        let tree = stage_files(stage, &files)?;
        let message =
            format!("{}\n\n{CANDIDATE_TRAILER}{}\n", candidate.message.trim_end(), candidate.id);
        let commit = stage.commit(tree, &parents, &message)?;
        staged.moves.push((candidate_ref(&candidate.id), commit));
        latest = Some(commit);
    }
    Ok(latest)
}

/// A tree of files; names may have folders. `files` is sorted.
fn stage_files(stage: &Staging<'_>, files: &[(&str, &Vec<u8>)]) -> Git<Oid> {
    let mut folders: BTreeMap<&str, Vec<(&str, &Vec<u8>)>> = BTreeMap::new();
    let mut entries = Vec::new();
    for (name, bytes) in files {
        match name.split_once('/') {
            Some((folder, rest)) => folders.entry(folder).or_default().push((rest, bytes)),
            None => entries.push((*name, stage.blob(bytes)?, 0o100_644)),
        }
    }
    for (folder, files) in folders {
        entries.push((folder, stage_files(stage, &files)?, 0o040_000));
    }
    stage.tree(None, entries)
}

/// Adds records to the ends of their chains, leaving out those a chain has already.
fn stage_chains<'b>(
    stage: &Staging<'_>,
    records: impl Iterator<Item = (String, String, &'b [u8])>,
    staged: &mut Staged,
) -> Git<()> {
    let mut chains: HashMap<String, (Option<Oid>, HashSet<Oid>)> = HashMap::new();
    let mut order = Vec::new();
    for (name, subject, bytes) in records {
        if !chains.contains_key(&name) {
            let head = reference(stage.repo, &name)?;
            let known = store::chain(stage.repo, head)?.into_iter().map(|(_, blob)| blob);
            chains.insert(name.clone(), (head, known.collect()));
            order.push(name.clone());
        }
        let (head, known) = chains.get_mut(&name).expect("put in above");
        let blob = stage.blob(bytes)?;
        if known.insert(blob) {
            *head = Some(stage.record(*head, RECORD_FILE, blob, &subject)?);
        }
    }
    for name in order {
        if let Some(head) = chains.get(&name).and_then(|(head, _)| *head) {
            staged.moves.push((name, head));
        }
    }
    Ok(())
}

fn stage_evidence(
    stage: &Staging<'_>,
    evidence: &BTreeMap<EvidenceKey, (EvidenceHeader, Vec<u8>)>,
    staged: &mut Staged,
) -> Git<()> {
    let repo = stage.repo;
    let head = reference(repo, EVIDENCE_REF)?;
    let base = store::tree_of(repo, head)?;
    let mut shards: BTreeMap<&str, BTreeMap<&str, Leaves<'_>>> = BTreeMap::new();
    let mut added = 0_u64;
    for (key, (header, bytes)) in evidence {
        let there = base.map(|base| store::evidence_entry(repo, base, key)).transpose()?.flatten();
        let blob = match there {
            Some(blob) => blob,
            None => {
                let blob = stage.blob(bytes)?;
                let (first, second, name) = layout::evidence_path(key);
                shards.entry(first).or_default().entry(second).or_default().push((name, blob));
                added += 1;
                blob
            }
        };
        let indexed = Indexed { outcome: header.outcome(), paid_by: header.paid_by.clone(), blob };
        staged.evidence.push((key.clone(), indexed));
    }
    if added == 0 {
        return Ok(());
    }
    let root = base.map(|oid| repo.find_tree(oid)).transpose()?;
    let mut firsts = Vec::new();
    for (first, seconds) in shards {
        let middle = subtree(repo, root.as_ref(), first)?;
        let mut entries = Vec::new();
        for (second, leaves) in seconds {
            let leaf = subtree(repo, middle.as_ref(), second)?;
            let leaves = leaves.into_iter().map(|(name, blob)| (name, blob, 0o100_644));
            entries.push((second, stage.tree(leaf.as_ref(), leaves)?, 0o040_000));
        }
        firsts.push((first, stage.tree(middle.as_ref(), entries)?, 0o040_000));
    }
    let tree = stage.tree(root.as_ref(), firsts)?;
    let total = head.map(|head| evidence_total(repo, head)).transpose()?.unwrap_or(0) + added;
    let message = format!("evidence of {total} episodes (+{added})\n\n{EVIDENCE_TOTAL}{total}\n");
    let commit = stage.commit(tree, head.as_slice(), &message)?;
    staged.moves.push((EVIDENCE_REF.to_owned(), commit));
    Ok(())
}

fn subtree<'r>(
    repo: &'r git2::Repository,
    tree: Option<&git2::Tree<'_>>,
    name: &str,
) -> Git<Option<git2::Tree<'r>>> {
    let entry = tree.and_then(|tree| tree.get_name(name).map(|entry| entry.id()));
    entry.map(|oid| repo.find_tree(oid)).transpose()
}

/// Pieces of evidence up to a commit of the chain, as its message says.
pub fn evidence_total(repo: &git2::Repository, commit: Oid) -> Git<u64> {
    let commit = repo.find_commit(commit)?;
    let message = String::from_utf8_lossy(commit.message_bytes()).into_owned();
    let total = message.lines().rev().find_map(|line| line.strip_prefix(EVIDENCE_TOTAL));
    total.and_then(|total| total.parse().ok()).ok_or_else(|| {
        git2::Error::from_str(&format!("evidence commit {} tells no total", commit.id()))
    })
}

/// `HEAD` is the best candidate, or the latest while there is no best, so that plain
/// `git log --graph` shows a lineage and a clone checks out a bundle.
fn point_head(repo: &git2::Repository) -> Git<()> {
    let target = if reference(repo, BEST_REF)?.is_some() { BEST_REF } else { LATEST_REF };
    let now = match repo.find_reference("HEAD") {
        Ok(head) => head.symbolic_target().ok().flatten().map(str::to_owned),
        Err(e) if e.code() == ErrorCode::NotFound => None,
        Err(e) => return Err(e),
    };
    if now.as_deref() == Some(target) { Ok(()) } else { repo.set_head(target) }
}
