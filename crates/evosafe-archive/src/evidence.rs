//! Evidence: recording it, looking it up, and the index beside it.

use std::sync::PoisonError;

use evosafe_types::{Evidence, EvidenceKey, Outcome, RunId};
use git2::{ObjectType, Oid, Repository};

use crate::archive::Archive;
use crate::error::{ArchiveError, Result};
use crate::format;
use crate::index::{Index, Indexed};
use crate::journal::Kind;
use crate::layout::{self, EVIDENCE_REF};
use crate::store::{reference, tree_of};

/// Entries that are added to the index at once.
const INDEX_BATCH: usize = 2_000;

impl Archive {
    /// Records an episode, and returns when it is on disk. Calls that wait at the same
    /// time share one `fsync`, so record from as many threads as there are episodes. A key
    /// that is there already is left as it is.
    ///
    /// # Errors
    /// If it cannot be written (then it is not recorded), or the episode was cancelled.
    pub fn record_evidence(&self, evidence: &Evidence, paid_by: &RunId) -> Result<()> {
        let writer = self.writer()?;
        if self.outcome(&evidence.key)?.is_some() {
            return Ok(());
        }
        let place = || format!("evidence {}", evidence.key);
        let bytes = self.store.understood(&place(), format::encode_evidence(evidence, paid_by))?;
        let _entering = writer.entering.read().unwrap_or_else(PoisonError::into_inner);
        let at = writer.journal.append(Kind::Evidence, &bytes)?;
        self.overlay_mut().add_evidence(
            evidence.key.clone(),
            evidence.outcome.clone(),
            paid_by.clone(),
            at,
        );
        Ok(())
    }

    /// The verdict of an episode and the run that paid for it. Cheap: memory or the
    /// index; for a reader, one small object.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn outcome(&self, key: &EvidenceKey) -> Result<Option<(Outcome, RunId)>> {
        if let Some(pending) = self.overlay().evidence.get(key) {
            return Ok(Some((pending.outcome.clone(), pending.paid_by.clone())));
        }
        if let Some(looked_up) = self.with_index(|index| index.get(key)) {
            return Ok(looked_up.map(|found| (found.outcome, found.paid_by)));
        }
        let Some(bytes) = self.store.evidence(key)? else { return Ok(None) };
        let header = self.store.understood(EVIDENCE_REF, format::decode_header(&bytes))?;
        Ok(Some((header.outcome(), header.paid_by)))
    }

    /// An episode with its transcript.
    ///
    /// # Errors
    /// If the archive cannot be read, or holds something else under the key.
    pub fn evidence(&self, key: &EvidenceKey) -> Result<Option<Evidence>> {
        let pending = self.overlay().evidence.get(key).map(|pending| pending.at.clone());
        let bytes = match pending {
            Some(at) => Some(at.read()?),
            None => self.store.evidence(key)?,
        };
        let Some(bytes) = bytes else { return Ok(None) };
        let decoded = self.store.understood(EVIDENCE_REF, format::decode_evidence(&bytes))?;
        if decoded.0.key == *key {
            Ok(Some(decoded.0))
        } else {
            Err(self.store.damaged(&format!("evidence {key}"), "it carries another key"))
        }
    }

    /// Keys of all evidence, sorted: git's and the journal's.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn evidence_keys(&self) -> Result<Vec<EvidenceKey>> {
        let mut keys: Vec<_> = self.overlay().evidence.keys().cloned().collect();
        self.store.with("list evidence", |repo| {
            if let Some(tree) = tree_of(repo, reference(repo, EVIDENCE_REF)?)? {
                walk(repo, tree, &mut |key, _| {
                    keys.push(key);
                    Ok(())
                })?;
            }
            Ok(())
        })?;
        keys.sort();
        keys.dedup();
        Ok(keys)
    }

    /// Asks the index, if there is one that works. One that fails is given up for this
    /// process: git has the answer too.
    pub(crate) fn with_index<T>(
        &self,
        ask: impl FnOnce(&Index) -> std::result::Result<T, String>,
    ) -> Option<T> {
        let slot = &self.as_writer()?.index;
        let failure = match slot.read().unwrap_or_else(PoisonError::into_inner).as_ref() {
            Some(index) => match ask(index) {
                Ok(answer) => return Some(answer),
                Err(detail) => format!(
                    "the index {} failed ({detail}); git is read instead, more slowly; \
                     `evosafe archive reindex` rebuilds it",
                    index.path().display()
                ),
            },
            None => return None,
        };
        if slot.write().unwrap_or_else(PoisonError::into_inner).take().is_some() {
            self.notice(failure);
        }
        None
    }

    /// Brings the index up to what git holds, if it is behind, and rebuilds it if it
    /// knows of things that git does not.
    pub(crate) fn bring_index_up(&self) -> Result<()> {
        let head = self.store.reference(EVIDENCE_REF)?;
        let Some(stamp) = self.with_index(Index::stamp) else { return Ok(()) };
        if stamp == head {
            return Ok(());
        }
        let entries = self.evidence_blobs(head)?;
        self.index_missing(&entries, head)?;
        let count = self.with_index(Index::len);
        if count.is_some_and(|count| count != entries.len()) {
            self.notice("the index did not agree with git; it was rebuilt".to_owned());
            self.with_index(Index::clear);
            self.index_missing(&entries, head)?;
        }
        Ok(())
    }

    /// All evidence up to a commit of the chain, as (key, blob).
    pub(crate) fn evidence_blobs(&self, head: Option<Oid>) -> Result<Vec<(EvidenceKey, Oid)>> {
        self.store.with("list evidence", |repo| {
            let mut entries = Vec::new();
            if let Some(tree) = tree_of(repo, head)? {
                walk(repo, tree, &mut |key, blob| {
                    entries.push((key, blob));
                    Ok(())
                })?;
            }
            Ok(entries)
        })
    }

    fn index_missing(&self, entries: &[(EvidenceKey, Oid)], head: Option<Oid>) -> Result<()> {
        let Some(head) = head else {
            self.with_index(Index::clear);
            return Ok(());
        };
        let mut batch = Vec::new();
        for (key, blob) in entries {
            let known = self.with_index(|index| index.get(key));
            let Some(known) = known else { return Ok(()) };
            if known.is_some_and(|known| known.blob == *blob) {
                continue;
            }
            let header = self
                .store
                .understood(EVIDENCE_REF, format::decode_header(&self.store.blob(*blob)?))?;
            let indexed =
                Indexed { outcome: header.outcome(), paid_by: header.paid_by, blob: *blob };
            batch.push((key.clone(), indexed));
            if batch.len() == INDEX_BATCH {
                // Not stamped with the head before all is in.
                self.with_index(|index| index.add(&batch, Oid::ZERO_SHA1));
                batch.clear();
            }
        }
        self.with_index(|index| index.add(&batch, head));
        Ok(())
    }
}

/// Shows every key of an evidence tree with its blob, in order.
pub(crate) fn walk(
    repo: &Repository,
    root: Oid,
    visit: &mut dyn FnMut(EvidenceKey, Oid) -> std::result::Result<(), git2::Error>,
) -> std::result::Result<(), git2::Error> {
    let strange = |name: &[u8]| {
        let name = String::from_utf8_lossy(name);
        git2::Error::from_str(&format!("`{name}` has no place in the evidence tree"))
    };
    for first in &repo.find_tree(root)? {
        for second in &repo.find_tree(first.id())? {
            for leaf in &repo.find_tree(second.id())? {
                let name = leaf.name_bytes();
                let key = std::str::from_utf8(name).ok().and_then(|s| s.parse().ok());
                let Some(key): Option<EvidenceKey> = key else { return Err(strange(name)) };
                let (a, b, _) = layout::evidence_path(&key);
                let placed =
                    a.as_bytes() == first.name_bytes() && b.as_bytes() == second.name_bytes();
                if !placed || leaf.kind() != Some(ObjectType::Blob) {
                    return Err(strange(name));
                }
                visit(key, leaf.id())?;
            }
        }
    }
    Ok(())
}

/// The error of a write that would not be one.
pub(crate) fn refused(what: impl Into<String>, reason: impl Into<String>) -> ArchiveError {
    ArchiveError::Refused { what: what.into(), reason: reason.into() }
}
