//! Every flush makes a pack. When there are many small ones, they are merged into one:
//! readers look through them all, and libgit2 keeps a descriptor open for each.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use git2::Oid;

use crate::error::{ArchiveError, Result};
use crate::layout::Layout;
use crate::store::open_repository;

/// Packs below this many bytes are merged.
const SMALL: u64 = 16 << 20;
/// Merged when there are so many of them.
const MANY: usize = 64;
/// A pack with one of these beside it belongs to somebody with plans of their own.
const HANDS_OFF: [&str; 4] = ["keep", "mtimes", "bitmap", "promisor"];

/// Merges small packs if there are many; says whether it did. For the holder of the
/// writer's lock.
pub fn merge_small_packs(layout: &Layout) -> Result<bool> {
    let dir = layout.packs();
    if dir.join("multi-pack-index").exists() {
        return Ok(false);
    }
    let small = small_packs(&dir)?;
    if small.len() < MANY {
        return Ok(false);
    }
    let mut objects = Vec::new();
    let mut seen = HashSet::new();
    for index in &small {
        objects.extend(listed(index)?.into_iter().filter(|oid| seen.insert(*oid)));
    }
    let merged =
        write(layout, &objects).map_err(|e| ArchiveError::git("merge packs", layout.root(), e))?;
    let there: HashSet<Oid> = listed(&merged)?.into_iter().collect();
    if there != seen {
        return Err(ArchiveError::Damaged {
            path: layout.root().to_owned(),
            what: format!("the merged pack {}", merged.display()),
            detail: format!("it lists {} objects, not {}", there.len(), seen.len()),
        });
    }
    for index in small.iter().filter(|index| **index != merged) {
        // The index first: a pack without one is not looked at.
        for extension in ["idx", "rev", "pack"] {
            let path = index.with_extension(extension);
            match fs::remove_file(&path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                    return Err(ArchiveError::io("remove", &path, e));
                }
                _ => {}
            }
        }
    }
    Ok(true)
}

/// Indexes of the packs that may be merged.
fn small_packs(dir: &Path) -> Result<Vec<PathBuf>> {
    let failed = |e| ArchiveError::io("list", dir, e);
    let mut small = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let size = fs::metadata(path.with_extension("pack")).map(|meta| meta.len());
        if path.extension().is_some_and(|extension| extension == "idx")
            && size.is_ok_and(|size| size < SMALL)
            && !HANDS_OFF.iter().any(|other| path.with_extension(other).exists())
        {
            small.push(path);
        }
    }
    small.sort();
    Ok(small)
}

/// Object ids in a pack's index (version 2): behind the magic and version stand 256
/// counts, the last of which is the total, and then the ids.
fn listed(index: &Path) -> Result<Vec<Oid>> {
    const HEAD: usize = 8 + 256 * 4;
    const MAGIC: &[u8] = &[0xFF, b't', b'O', b'c', 0, 0, 0, 2];
    let bytes = fs::read(index).map_err(|e| ArchiveError::io("read", index, e))?;
    let ids = bytes.starts_with(MAGIC).then(|| {
        let total = bytes.get(HEAD - 4..HEAD)?;
        let total = u32::from_be_bytes([total[0], total[1], total[2], total[3]]) as usize;
        bytes.get(HEAD..HEAD + total * 20)
    });
    let damaged = |detail: &str| ArchiveError::Damaged {
        path: index.to_owned(),
        what: "the index of a pack".to_owned(),
        detail: detail.to_owned(),
    };
    let ids = ids.flatten().ok_or_else(|| damaged("it is cut short or of another version"))?;
    ids.chunks_exact(20).map(|id| Oid::from_bytes(id).map_err(|e| damaged(e.message()))).collect()
}

/// Writes a pack of `objects`; returns the path of its index.
fn write(layout: &Layout, objects: &[Oid]) -> std::result::Result<PathBuf, git2::Error> {
    let repo = open_repository(layout)?;
    let mut builder = repo.packbuilder()?;
    builder.set_threads(1);
    for oid in objects {
        builder.insert_object(*oid, None)?;
    }
    builder.write(&layout.packs(), 0o444)?;
    let name = builder.name()?.ok_or_else(|| git2::Error::from_str("the pack has no name"))?;
    Ok(layout.packs().join(format!("pack-{name}.idx")))
}

#[cfg(test)]
mod tests {
    use evosafe_types::Event;

    use super::*;
    use crate::Archive;

    #[test]
    fn many_small_packs_become_one_and_readers_do_not_notice() {
        let dir = tempfile::tempdir().expect("a folder");
        let archive = Archive::open(dir.path()).expect("opens");
        let event = |n: usize| Event::Warning { message: format!("event {n}") };
        let mut reader = None;
        for n in 0..MANY + 3 {
            archive.append_event(&event(n), n as u64).expect("appends");
            archive.flush().expect("flushes");
            if n == MANY - 3 {
                reader = Some(Archive::open_read(dir.path()).expect("opens"));
            }
        }
        let packs = small_packs(&dir.path().join("objects/pack")).expect("lists").len();
        assert!(packs < 6, "{packs} packs");
        for archive in [archive, reader.expect("it was opened")] {
            let events = archive.events().expect("reads");
            assert!(events.iter().enumerate().all(|(n, (_, found))| *found == event(n)));
            assert_eq!(events.len(), MANY + 3);
        }
    }

    #[test]
    fn packs_that_somebody_keeps_are_left_alone() {
        let dir = tempfile::tempdir().expect("a folder");
        for name in ["pack-a.idx", "pack-a.pack", "pack-b.idx", "pack-b.pack", "pack-b.keep"] {
            fs::write(dir.path().join(name), "").expect("writes");
        }
        fs::write(dir.path().join("pack-c.idx"), "").expect("writes");
        let small = small_packs(dir.path()).expect("lists");
        assert_eq!(small, [dir.path().join("pack-a.idx")]);
        assert!(listed(&small[0]).is_err());
    }
}
