//! What a killed process leaves behind in the repository: lock files of references,
//! which would make every later flush fail, and half-written packs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::error::{ArchiveError, Result};
use crate::layout::Layout;

/// How long a lock file must stand still. We hold the writer's lock, so it is not ours;
/// plain `git gc` takes such locks too, and keeps each for a moment only.
const STILL: Duration = Duration::from_millis(300);

/// Removes leftovers; says how many lock files there were. Only for the holder of the
/// writer's lock.
pub fn sweep(layout: &Layout) -> Result<Option<String>> {
    let root = layout.root();
    let mut locks = Vec::new();
    for name in ["HEAD.lock", "config.lock"] {
        let path = root.join(name);
        if path.exists() {
            locks.push(path);
        }
    }
    collect(&root.join("refs"), &|name| name.ends_with(".lock"), &mut locks)?;
    let packs = layout.packs();
    collect(&packs, &|name| name.starts_with("pack-") && name.ends_with(".lock"), &mut locks)?;
    // The names libgit2 gives its unfinished files; git itself uses others.
    let mut halves = Vec::new();
    collect(&packs, &|name| name.starts_with("pack_git2_"), &mut halves)?;
    for half in halves {
        remove(&half)?;
    }
    if locks.is_empty() {
        return Ok(None);
    }
    let before: Vec<_> = locks.iter().map(|path| changed(path)).collect();
    thread::sleep(STILL);
    let mut removed = 0;
    for (path, before) in locks.iter().zip(before) {
        if before.is_some() && changed(path) == before {
            remove(path)?;
            removed += 1;
        }
    }
    Ok((removed > 0).then(|| {
        format!(
            "{removed} lock files of a process that was killed were removed from {}",
            root.display()
        )
    }))
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|meta| meta.modified()).ok()
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(ArchiveError::io("remove", path, e)),
        _ => Ok(()),
    }
}

fn collect(dir: &Path, wanted: &dyn Fn(&str) -> bool, found: &mut Vec<PathBuf>) -> Result<()> {
    let failed = |e| ArchiveError::io("list", dir, e);
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(failed(e)),
    };
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() {
            collect(&entry.path(), wanted, found)?;
        } else if entry.file_name().to_str().is_some_and(wanted) {
            found.push(entry.path());
        }
    }
    Ok(())
}
