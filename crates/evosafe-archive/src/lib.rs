//! The archive: candidates, evidence, lineage, results, runs and events.
//!
//! A bare git repository is the truth. What a call acknowledges is in a checksummed
//! journal first and moves into git packs at [`Archive::flush`]; sled is an index that
//! can be rebuilt (design section 7). Formats are described in `docs/formats.md`.
//!
//! Calls block; async callers use `spawn_blocking` for those that wait for the disk.

mod archive;
mod candidates;
mod error;
mod events;
mod evidence;
mod flush;
mod format;
mod fsck;
mod index;
mod journal;
mod layout;
mod lock;
mod overlay;
mod pack;
mod records;
mod reindex;
mod repack;
mod store;
mod sweep;

pub use archive::Archive;
pub use error::{ArchiveError, Result};
pub use format::{ResultKind, ResultRecord};
pub use fsck::{FsckReport, Problem};
pub use layout::calls_folder;
pub use reindex::ReindexReport;
