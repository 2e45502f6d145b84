//! Candidates and their lineage.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use evosafe_types::CandidateId;

use crate::archive::Archive;
use crate::error::{ArchiveError, Result};
use crate::evidence::refused;
use crate::format::CandidateRecord;
use crate::journal::Kind;
use crate::layout::{CANDIDATES, candidate_ref};

/// Candidates named in an error about an ambiguous prefix.
const SHOWN: usize = 5;

impl Archive {
    /// Archives a candidate. In git it becomes a commit whose tree is `files` and whose
    /// parents are the commits of `parents`, in their order; identity and time follow from
    /// these alone, so the same lineage has the same object ids everywhere. `message` is the
    /// commit message; its first line is what `git log --oneline` shows. A candidate that is
    /// there already is left as it is.
    ///
    /// # Errors
    /// If a parent is not archived, a file name cannot stand in a tree, or the write fails.
    pub fn put_candidate(
        &self,
        files: &BTreeMap<String, Vec<u8>>,
        id: &CandidateId,
        parents: &[CandidateId],
        message: &str,
    ) -> Result<()> {
        let writer = self.writer()?;
        let _deciding = writer.deciding.lock().unwrap_or_else(PoisonError::into_inner);
        if self.has_candidate(id)? {
            return Ok(());
        }
        check_names(files).map_err(|reason| refused(format!("candidate {id}"), reason))?;
        for (n, parent) in parents.iter().enumerate() {
            if parents[..n].contains(parent) {
                return Err(refused(format!("candidate {id}"), format!("parent {parent} twice")));
            }
            if !self.has_candidate(parent)? {
                let reason = format!("its parent {parent} is not archived");
                return Err(refused(format!("candidate {id}"), reason));
            }
        }
        let record = CandidateRecord {
            id: id.clone(),
            parents: parents.to_vec(),
            message: clean(message, id),
            files: files.clone(),
        };
        let bytes = self.store.understood("a new candidate", record.encode())?;
        let _entering = writer.entering.read().unwrap_or_else(PoisonError::into_inner);
        let at = writer.journal.append(Kind::Candidate, &bytes)?;
        self.overlay_mut().add(self.path(), Kind::Candidate, at, &bytes)
    }

    /// Whether a candidate is archived.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn has_candidate(&self, id: &CandidateId) -> Result<bool> {
        Ok(self.overlay().candidates.contains_key(id)
            || self.store.reference(&candidate_ref(id))?.is_some())
    }

    /// The bundle of a candidate.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn candidate_files(&self, id: &CandidateId) -> Result<Option<BTreeMap<String, Vec<u8>>>> {
        let pending = self.overlay().candidates.get(id).map(|pending| pending.at.clone());
        match pending {
            Some(at) => {
                let record = CandidateRecord::decode(&at.read()?);
                Ok(Some(self.store.understood("the journal", record)?.files))
            }
            None => self.store.files(id),
        }
    }

    /// All candidates, sorted by id.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn candidates(&self) -> Result<Vec<CandidateId>> {
        let mut ids: Vec<_> = self.overlay().candidates.keys().cloned().collect();
        for name in self.store.names(CANDIDATES)? {
            let id = name.parse().map_err(|_| {
                self.store.damaged(&format!("{CANDIDATES}{name}"), "its name is no candidate id")
            })?;
            ids.push(id);
        }
        ids.sort();
        ids.dedup();
        Ok(ids)
    }

    /// Parents of a candidate, in order; none for a seed or an unknown candidate.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn parents(&self, id: &CandidateId) -> Result<Vec<CandidateId>> {
        let pending = self.overlay().candidates.get(id).map(|pending| pending.parents.clone());
        match pending {
            Some(parents) => Ok(parents),
            None => Ok(self.store.parents(id)?.unwrap_or_default()),
        }
    }

    /// The one candidate whose id starts with `prefix`.
    ///
    /// # Errors
    /// [`ArchiveError::NotFound`] or [`ArchiveError::Ambiguous`].
    pub fn resolve(&self, prefix: &str) -> Result<CandidateId> {
        let not_found = || ArchiveError::NotFound { prefix: prefix.to_owned() };
        let digits = prefix.to_ascii_lowercase();
        if digits.is_empty() {
            return Err(not_found());
        }
        let mut matches = self.candidates()?;
        matches.retain(|id| id.as_str().starts_with(&digits));
        match matches.len() {
            0 => Err(not_found()),
            1 => Ok(matches.swap_remove(0)),
            _ => {
                matches.truncate(SHOWN);
                Err(ArchiveError::Ambiguous { prefix: prefix.to_owned(), matches })
            }
        }
    }
}

/// A commit message that git shows as it is: no NUL, never empty.
fn clean(message: &str, id: &CandidateId) -> String {
    let text: String = message.chars().filter(|c| *c == '\n' || !c.is_control()).collect();
    let text = text.trim();
    if text.is_empty() { format!("candidate {}", id.short()) } else { text.to_owned() }
}

/// Everything the journal takes must be able to become a tree later.
fn check_names(files: &BTreeMap<String, Vec<u8>>) -> std::result::Result<(), String> {
    if files.is_empty() {
        return Err("it has no files".to_owned());
    }
    for name in files.keys() {
        let bad_part = |part: &str| {
            part.is_empty() || part == "." || part == ".." || part.eq_ignore_ascii_case(".git")
        };
        if name.split('/').any(bad_part) || name.contains(|c: char| c == '\\' || c.is_control()) {
            return Err(format!("`{name}` cannot be a file name"));
        }
        let folder = format!("{name}/");
        if files.keys().any(|other| other.starts_with(&folder)) {
            return Err(format!("`{name}` is both a file and a folder"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_tree_can_hold_are_refused() {
        let files = |names: &[&str]| {
            names.iter().map(|n| ((*n).to_owned(), Vec::new())).collect::<BTreeMap<_, _>>()
        };
        assert!(check_names(&files(&["POLICY.md", "a/b.js", "a/c"])).is_ok());
        for bad in ["", "/a", "a/", "a//b", "../a", ".git/x", "a\\b", "a\nb", "a\0"] {
            assert!(check_names(&files(&[bad])).is_err(), "{bad:?}");
        }
        assert!(check_names(&files(&["a", "a/b"])).is_err());
        assert!(check_names(&files(&[])).is_err());
    }

    #[test]
    fn messages_are_never_empty() {
        let id = CandidateId::of(&[b"c"]);
        assert_eq!(clean(" a\0b\n\nc \n", &id), "ab\n\nc");
        assert_eq!(clean("\n", &id), format!("candidate {}", id.short()));
    }
}
