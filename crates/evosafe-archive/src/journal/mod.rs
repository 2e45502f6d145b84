//! The journal: where everything goes first, and stays until it is in git.
//!
//! Append-only files of checksummed records. A call returns when its record is on
//! disk; calls that wait at the same time share one `fsync`.

mod frame;
mod segment;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

pub use frame::Kind;
pub use segment::{Flaw, Location, Segment, list};

use crate::error::{ArchiveError, Result};

/// The writing end.
#[derive(Debug)]
pub struct Journal {
    dir: PathBuf,
    state: Mutex<State>,
    synced: Condvar,
}

#[derive(Debug)]
struct State {
    current: Option<Current>,
    /// Segments that are written no more, and not yet in git.
    sealed: Vec<Arc<Segment>>,
    next: u64,
    /// Records written, and how many of them are known to be on disk.
    written: u64,
    durable: u64,
    /// One caller is in `fsync` on behalf of all.
    syncing: bool,
    /// Why the journal can be used no more: after a failed `fsync` nobody knows what is
    /// on disk, and trying again would lie.
    broken: Option<(io::ErrorKind, String)>,
    syncs: u64,
}

#[derive(Debug)]
struct Current {
    segment: Arc<Segment>,
    file: Arc<File>,
    len: u64,
}

impl Journal {
    /// A journal that goes on after the segments found in `dir`.
    pub fn new(dir: &Path, sealed: Vec<Arc<Segment>>, next: u64) -> Self {
        let state = State {
            current: None,
            sealed,
            next,
            written: 0,
            durable: 0,
            syncing: false,
            broken: None,
            syncs: 0,
        };
        Self { dir: dir.to_owned(), state: Mutex::new(state), synced: Condvar::new() }
    }

    /// Writes a record and returns when it is on disk.
    ///
    /// # Errors
    /// If it cannot be written; then it is not in the journal, and a later call may succeed
    /// (a full disk). After a failed `fsync` every later call fails.
    pub fn append(&self, kind: Kind, payload: &[u8]) -> Result<Location> {
        let frame = frame::encode(kind, payload).ok_or_else(|| ArchiveError::Refused {
            what: format!("a record of {} bytes", payload.len()),
            reason: format!("the limit is {}", frame::MOST),
        })?;
        let mut state = self.lock();
        self.check(&state)?;
        let location = self.write(&mut state, &frame, payload.len())?;
        state.written += 1;
        let mine = state.written;
        self.wait(state, mine)?;
        Ok(location)
    }

    fn write(&self, state: &mut State, frame: &[u8], payload: usize) -> Result<Location> {
        if state.current.is_none() {
            state.current = Some(create(&self.dir, state.next)?);
            state.next += 1;
        }
        let current = state.current.as_mut().expect("made above");
        let path = &current.segment.path;
        if let Err(e) = (&*current.file).write_all(frame) {
            // Half a record must not stay: what is appended later would be behind it.
            if let Err(cut) = current.file.set_len(current.len) {
                state.broken = Some((e.kind(), format!("{e}, and then {cut}")));
            }
            return Err(ArchiveError::io("write to the journal", path, e));
        }
        let offset = current.len + frame::HEAD as u64;
        let len = u32::try_from(payload).expect("checked when it was framed");
        current.len += frame.len() as u64;
        Ok(Location::new(Arc::clone(&current.segment), offset, len))
    }

    /// Waits until record number `mine` is on disk, making it so if nobody else does.
    fn wait<'a>(&'a self, mut state: MutexGuard<'a, State>, mine: u64) -> Result<()> {
        while state.durable < mine {
            self.check(&state)?;
            if state.syncing {
                state = self.synced.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let current = state.current.as_ref().expect("rotation waits for what is written");
            let file = Arc::clone(&current.file);
            let written = state.written;
            state.syncing = true;
            drop(state);
            let outcome = file.sync_data();
            state = self.lock();
            self.settle(&mut state, written, outcome);
        }
        Ok(())
    }

    fn settle(&self, state: &mut State, written: u64, outcome: io::Result<()>) {
        state.syncing = false;
        state.syncs += 1;
        match outcome {
            Ok(()) => state.durable = state.durable.max(written),
            Err(e) => state.broken = Some((e.kind(), e.to_string())),
        }
        self.synced.notify_all();
    }

    /// Ends the current segment and returns all that are to be flushed, oldest first.
    pub fn rotate(&self) -> Result<Vec<Arc<Segment>>> {
        let mut state = self.lock();
        while state.syncing {
            state = self.synced.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.check(&state)?;
        if let Some(current) = state.current.take() {
            if state.durable < state.written {
                let (outcome, written) = (current.file.sync_data(), state.written);
                self.settle(&mut state, written, outcome);
                self.check(&state)?;
            }
            state.sealed.push(current.segment);
        }
        Ok(state.sealed.clone())
    }

    /// Removes segments that are in git now.
    pub fn trim(&self, flushed: &[Arc<Segment>]) -> Result<()> {
        for segment in flushed {
            std::fs::remove_file(&segment.path)
                .map_err(|e| ArchiveError::io("remove", &segment.path, e))?;
            self.lock().sealed.retain(|s| s.number != segment.number);
        }
        if flushed.is_empty() { Ok(()) } else { sync_dir(&self.dir) }
    }

    /// How often `fsync` was called for records.
    #[cfg(test)]
    pub fn syncs(&self) -> u64 {
        self.lock().syncs
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, state: &State) -> Result<()> {
        match &state.broken {
            None => Ok(()),
            Some((kind, text)) => Err(ArchiveError::io(
                "write to the journal",
                &self.dir,
                io::Error::new(*kind, format!("it failed before: {text}")),
            )),
        }
    }
}

fn create(dir: &Path, number: u64) -> Result<Current> {
    let path = dir.join(format!("{number:08}.log"));
    let failed = |e| ArchiveError::io("create the journal", &path, e);
    let file = OpenOptions::new().append(true).create_new(true).open(&path).map_err(failed)?;
    let head = segment::head();
    if let Err(e) = (&file).write_all(&head).and_then(|()| file.sync_all()) {
        // A leftover would block the name for the next try.
        let _ = std::fs::remove_file(&path);
        return Err(failed(e));
    }
    sync_dir(dir)?;
    let segment = Segment::open(number, &path)?.ok_or_else(|| {
        ArchiveError::io("open the journal", &path, io::ErrorKind::NotFound.into())
    })?;
    Ok(Current { segment, file: Arc::new(file), len: segment::SEGMENT_HEAD })
}

/// Makes creations, renames and removals in a folder durable.
pub fn sync_dir(dir: &Path) -> Result<()> {
    File::open(dir)
        .and_then(|folder| folder.sync_all())
        .map_err(|e| ArchiveError::io("sync the folder", dir, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_wait_together_share_a_sync() {
        let dir = tempfile::tempdir().expect("a folder");
        let journal = Journal::new(dir.path(), Vec::new(), 1);
        let (threads, each) = (16, 50);
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let journal = &journal;
                scope.spawn(move || {
                    for n in 0..each {
                        let payload = format!("{thread}/{n}");
                        let at = journal.append(Kind::Run, payload.as_bytes()).expect("appends");
                        assert_eq!(at.read().expect("reads"), payload.as_bytes());
                    }
                });
            }
        });
        let syncs = journal.syncs();
        assert!(syncs < threads * each / 2, "{syncs} syncs of {} calls", threads * each);
        let segments = journal.rotate().expect("rotates");
        let mut records = 0;
        let flaws = segments[0].scan(dir.path(), &mut |_, _, _| {
            records += 1;
            Ok(())
        });
        assert_eq!((flaws.expect("scans"), records), (vec![], threads * each));
        journal.append(Kind::Run, b"later").expect("appends");
        journal.trim(&segments).expect("trims");
        assert_eq!(list(dir.path()).expect("lists").len(), 1);
    }
}
