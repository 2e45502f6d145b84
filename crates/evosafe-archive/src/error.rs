//! What can go wrong, with the place and the way out.

use std::io;
use std::path::{Path, PathBuf};

use evosafe_types::CandidateId;

/// Result of an archive call.
pub type Result<T> = std::result::Result<T, ArchiveError>;

/// An archive call failed. The text names the folder or file and says what to do.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// There is nothing at the path that is to be read.
    #[error("there is no archive at {}; a search creates one, or name another folder", .path.display())]
    Missing {
        /// The folder asked for.
        path: PathBuf,
    },
    /// The folder holds something else.
    #[error("{} is not an evosafe archive: {found}; name an empty or new folder, or an archive", .path.display())]
    Foreign {
        /// The folder asked for.
        path: PathBuf,
        /// What is there instead.
        found: String,
    },
    /// Another process writes to the archive.
    #[error("the archive {} is in use by {}; wait for it to end, or use another archive (commands that only read work meanwhile)",
        .path.display(), .pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}")))]
    Locked {
        /// The archive.
        path: PathBuf,
        /// The process that holds the lock, where it left its number.
        pid: Option<u32>,
    },
    /// The folder cannot be written to.
    #[error("cannot write to {}: {reason}; make it writable, or name another archive (commands that only read still work)", .path.display())]
    NotWritable {
        /// The file or folder that refused.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The disk (or quota) is full.
    #[error("no space left for {}; free some and run the same command again: nothing that was acknowledged is lost", .path.display())]
    DiskFull {
        /// The file or folder that was written to.
        path: PathBuf,
    },
    /// Data of a later program version. It is refused, not guessed at.
    #[error("{what} in {} has format version {found}, this program knows {known}; use a newer evosafe", .path.display())]
    Newer {
        /// The archive.
        path: PathBuf,
        /// What was being read.
        what: String,
        /// Version found.
        found: u32,
        /// Latest version known.
        known: u32,
    },
    /// Stored data that cannot be right.
    #[error("{what} in {} is damaged: {detail}; run `evosafe archive fsck`", .path.display())]
    Damaged {
        /// The archive.
        path: PathBuf,
        /// What was being read.
        what: String,
        /// What is wrong with it.
        detail: String,
    },
    /// Any other failure of the file system.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// What was tried, as an infinitive.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// libgit2 failed.
    #[error("cannot {action} in the archive {}: {source}", .path.display())]
    Git {
        /// What was tried, as an infinitive.
        action: String,
        /// The archive.
        path: PathBuf,
        /// What libgit2 said.
        source: git2::Error,
    },
    /// The index failed while in use.
    #[error("the index {} failed: {detail}; run `evosafe archive reindex`", .path.display())]
    Index {
        /// Folder of the index.
        path: PathBuf,
        /// What sled said.
        detail: String,
    },
    /// No candidate matches.
    #[error("no candidate's id starts with `{prefix}`; `evosafe lineage` lists them")]
    NotFound {
        /// What was asked for.
        prefix: String,
    },
    /// Several candidates match.
    #[error("`{prefix}` could be {}; give more digits", .matches.iter().map(CandidateId::short).collect::<Vec<_>>().join(" or "))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// Some of the candidates that match.
        matches: Vec<CandidateId>,
    },
    /// The caller handed over something that must not be stored.
    #[error("refused to store {what}: {reason}")]
    Refused {
        /// What.
        what: String,
        /// Why.
        reason: String,
    },
    /// A write to an archive that was opened for reading.
    #[error("the archive {} was opened for reading only", .path.display())]
    OpenedForReading {
        /// The archive.
        path: PathBuf,
    },
}

impl ArchiveError {
    /// Sorts a failure of the file system into the cases a user can act on.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        use io::ErrorKind as K;
        let path = path.to_owned();
        match source.kind() {
            K::StorageFull | K::QuotaExceeded => Self::DiskFull { path },
            K::ReadOnlyFilesystem => {
                Self::NotWritable { path, reason: "the file system is read-only".to_owned() }
            }
            K::PermissionDenied => {
                Self::NotWritable { path, reason: "permission denied".to_owned() }
            }
            _ => Self::Io { action, path, source },
        }
    }

    /// The same for libgit2, which tells only by text.
    pub(crate) fn git(action: impl Into<String>, path: &Path, source: git2::Error) -> Self {
        let text = source.message();
        let path = path.to_owned();
        if text.contains("No space left") || text.contains("Disk quota") {
            Self::DiskFull { path }
        } else if text.contains("Read-only file system") {
            Self::NotWritable { path, reason: "the file system is read-only".to_owned() }
        } else if text.contains("Permission denied") {
            Self::NotWritable { path, reason: "permission denied".to_owned() }
        } else {
            Self::Git { action: action.into(), path, source }
        }
    }
}
