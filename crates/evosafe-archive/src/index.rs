//! The index: from evidence key to outcome without opening git objects.
//!
//! sled holds nothing that git does not; it is thrown away and rebuilt whenever it is
//! damaged or does not agree. sled 0.34 may panic on a damaged file, so every entry
//! into it is guarded.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use evosafe_types::{EvidenceKey, Outcome, RunId};
use git2::Oid;

use crate::error::{ArchiveError, Result};
use crate::format::IndexEntry;

/// Version of the index; another one is rebuilt, older or newer.
const VERSION: &[u8] = b"1";
/// Memory that sled may use for its cache, bytes.
const CACHE: u64 = 16 << 20;
/// Times that opening is tried while another handle of this process lets go.
const ATTEMPTS: u32 = 100;

type Guarded<T> = std::result::Result<T, String>;

/// What the index knows of a piece of evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Indexed {
    pub outcome: Outcome,
    pub paid_by: RunId,
    /// Where it is in git.
    pub blob: Oid,
}

/// The index.
pub struct Index {
    path: PathBuf,
    db: sled::Db,
    evidence: sled::Tree,
}

/// Runs sled code: an error or a panic in it is a text.
fn guarded<T>(work: impl FnOnce() -> sled::Result<T>) -> Guarded<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|e| e.to_string()),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            Err(format!("sled panicked: {}", text.unwrap_or_default()))
        }
    }
}

fn raw_key(key: &EvidenceKey) -> [u8; 32] {
    let mut raw = [0; 32];
    for (byte, digits) in raw.iter_mut().zip(key.as_str().as_bytes().chunks(2)) {
        let value = |digit: u8| match digit {
            b'0'..=b'9' => digit - b'0',
            _ => digit - b'a' + 10,
        };
        *byte = value(digits[0]) << 4 | value(digits[1]);
    }
    raw
}

fn key_of(raw: &[u8]) -> Option<EvidenceKey> {
    use std::fmt::Write;
    let mut text = String::with_capacity(64);
    for byte in raw {
        write!(text, "{byte:02x}").ok()?;
    }
    text.parse().ok()
}

impl Index {
    /// Opens the index. A damaged one is moved aside and an empty one made; the text says so.
    pub fn open(path: &Path) -> Result<(Self, Option<String>)> {
        let detail = match Self::try_open(path) {
            Ok(index) => return Ok((index, None)),
            Err(detail) => detail,
        };
        let aside = (1..)
            .map(|n| path.with_file_name(format!("index.damaged-{n}")))
            .find(|aside| !aside.exists())
            .expect("some number is free");
        std::fs::rename(path, &aside)
            .map_err(|e| ArchiveError::io("move the damaged index away from", path, e))?;
        let index = Self::try_open(path)
            .map_err(|detail| ArchiveError::Index { path: path.to_owned(), detail })?;
        let notice = format!(
            "the index was damaged ({detail}); it was moved to {} and rebuilt; that folder can be deleted",
            aside.display()
        );
        Ok((index, Some(notice)))
    }

    /// Opens the index to look at it; nothing is moved or mended.
    pub fn look(path: &Path) -> Guarded<Self> {
        Self::try_open(path)
    }

    fn try_open(path: &Path) -> Guarded<Self> {
        let config = sled::Config::new()
            .path(path)
            .cache_capacity(CACHE)
            .flush_every_ms(None)
            .mode(sled::Mode::HighThroughput);
        let mut attempt = 0;
        let db = loop {
            attempt += 1;
            match guarded(|| config.open()) {
                // The lock file of sled, not damage: our own lock keeps other processes out,
                // so this is an earlier handle whose threads are still ending.
                Err(text) if text.contains("could not acquire lock") && attempt < ATTEMPTS => {
                    thread::sleep(Duration::from_millis(20));
                }
                other => break other?,
            }
        };
        let evidence = guarded(|| db.open_tree("evidence"))?;
        let index = Self { path: path.to_owned(), db, evidence };
        if index.read_meta("version")?.as_deref() != Some(VERSION) {
            index.clear()?;
        }
        Ok(index)
    }

    fn read_meta(&self, name: &str) -> Guarded<Option<Vec<u8>>> {
        Ok(guarded(|| self.db.get(name))?.map(|value| value.to_vec()))
    }

    /// Forgets everything.
    pub fn clear(&self) -> Guarded<()> {
        guarded(|| {
            self.db.remove("stamp")?;
            self.evidence.clear()?;
            self.db.insert("version", VERSION)?;
            self.db.flush()?;
            Ok(())
        })
    }

    /// The evidence commit that the index was brought up to.
    pub fn stamp(&self) -> Guarded<Option<Oid>> {
        Ok(self.read_meta("stamp")?.and_then(|bytes| Oid::from_bytes(&bytes).ok()))
    }

    /// Adds entries, then says which commit they bring the index up to. In this order, so
    /// that a stamp is never ahead of the entries.
    pub fn add(&self, entries: &[(EvidenceKey, Indexed)], stamp: Oid) -> Guarded<()> {
        let mut batch = sled::Batch::default();
        for (key, indexed) in entries {
            let entry =
                IndexEntry::new(&indexed.outcome, &indexed.paid_by, &indexed.blob.to_string());
            let value = serde_json::to_vec(&entry).map_err(|e| e.to_string())?;
            batch.insert(&raw_key(key), value);
        }
        guarded(|| {
            self.evidence.apply_batch(batch)?;
            self.db.flush()?;
            self.db.insert("stamp", stamp.as_bytes())?;
            self.db.flush()?;
            Ok(())
        })
    }

    /// Looks a key up.
    pub fn get(&self, key: &EvidenceKey) -> Guarded<Option<Indexed>> {
        guarded(|| self.evidence.get(raw_key(key)))?.map(|value| parse(&value)).transpose()
    }

    /// Number of entries; reads all of them.
    pub fn len(&self) -> Guarded<usize> {
        guarded(|| Ok(self.evidence.len()))
    }

    /// Every entry, by key.
    pub fn entries(&self) -> Guarded<Vec<(EvidenceKey, Indexed)>> {
        let raw = guarded(|| self.evidence.iter().collect::<sled::Result<Vec<_>>>())?;
        raw.iter()
            .map(|(key, value)| {
                let key = key_of(key).ok_or("a key that is none")?;
                Ok((key, parse(value)?))
            })
            .collect()
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn parse(value: &[u8]) -> Guarded<Indexed> {
    let entry: IndexEntry = serde_json::from_slice(value).map_err(|e| e.to_string())?;
    let (outcome, paid_by, blob) = entry.into_parts();
    let blob = Oid::from_str(&blob).map_err(|e| e.to_string())?;
    Ok(Indexed { outcome, paid_by, blob })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_in_sled_is_an_error() {
        let caught = guarded::<()>(|| panic!("segment {}", 7));
        assert_eq!(caught, Err("sled panicked: segment 7".to_owned()));
    }

    #[test]
    fn keys_survive_packing() {
        let key = EvidenceKey::of(&[b"k"]);
        assert_eq!(key_of(&raw_key(&key)), Some(key));
    }
}
