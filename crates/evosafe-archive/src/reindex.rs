//! Rebuilding the index.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::archive::Archive;
use crate::error::{ArchiveError, Result};
use crate::index::Index;

/// What a rebuild did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReindexReport {
    /// Pieces of evidence in the new index.
    pub evidence: u64,
    /// What was repaired on the way.
    pub notices: Vec<String>,
}

impl fmt::Display for ReindexReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for notice in &self.notices {
            writeln!(f, "note: {notice}")?;
        }
        write!(f, "the index was rebuilt: evidence of {} episodes", self.evidence)
    }
}

impl Archive {
    /// Builds the index anew from git, whatever state it is in. What the journal holds is
    /// moved into git first.
    ///
    /// # Errors
    /// If there is no archive, another process writes to it, or it cannot be written to.
    pub fn reindex(path: &Path) -> Result<ReindexReport> {
        drop(Self::open_read(path)?);
        let archive = Self::open(path)?;
        archive.flush()?;
        archive.with_index(Index::clear);
        archive.bring_index_up()?;
        let Some(count) = archive.with_index(Index::len) else {
            let detail = archive.notices().pop().unwrap_or_default();
            return Err(ArchiveError::Index { path: archive.layout.index(), detail });
        };
        Ok(ReindexReport { evidence: count as u64, notices: archive.notices() })
    }
}
