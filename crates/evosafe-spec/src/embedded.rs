//! What the binary carries: the shipped specifications, the warm start and the profiles of simulated victims.

use include_dir::{Dir, include_dir};

pub(crate) static SPECS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../specs");
pub(crate) static PROFILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../profiles");
pub(crate) static WARMSTART: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../warmstart");

/// Last component of a path inside an embedded folder.
pub(crate) fn leaf(path: &std::path::Path) -> &str {
    path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default()
}
