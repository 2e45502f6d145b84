//! One writer at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};

use crate::error::{ArchiveError, Result};
use crate::layout::Layout;

/// The lock, held until dropped. The system frees it when the process ends, however
/// it ends, so there is no stale lock to clean up.
#[derive(Debug)]
pub struct WriterLock {
    _file: File,
}

impl WriterLock {
    /// Takes the lock.
    ///
    /// # Errors
    /// [`ArchiveError::Locked`] with the holder's process number if another process has it.
    pub fn take(layout: &Layout) -> Result<Self> {
        let path = layout.lock();
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|e| ArchiveError::io("open the lock file", &path, e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(ArchiveError::Locked {
                    path: layout.root().to_owned(),
                    pid: read_pid(&mut file),
                });
            }
            Err(TryLockError::Error(e)) => return Err(ArchiveError::io("lock", &path, e)),
        }
        // The number is for people; the lock holds without it, a full disk included.
        let pid = format!("{}\n", std::process::id());
        let _ = file.set_len(0).and_then(|()| file.write_all(pid.as_bytes()));
        Ok(Self { _file: file })
    }
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
