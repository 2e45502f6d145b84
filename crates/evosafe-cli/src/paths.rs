//! Where things are on this machine. The only place that reads the environment, beside
//! the argument parser.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

/// The cache folder: `--cache`, else the user's.
///
/// # Errors
/// If there is none.
pub fn cache(explicit: Option<PathBuf>) -> Result<PathBuf> {
    if let Some(dir) = explicit {
        return Ok(dir);
    }
    let base = std::env::var_os("XDG_CACHE_HOME")
        .filter(|v| !v.is_empty())
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .context("no cache folder: set EVOSAFE_CACHE or pass --cache DIR")?;
    Ok(base.join("evosafe"))
}
