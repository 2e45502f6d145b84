//! One writer at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::thread;
use std::time::Duration;

use crate::error::{ArchiveError, Result};
use crate::layout::Layout;

/// Times that the lock is tried, and the pause between: a process that was killed just
/// now, or a child forked in an unlucky moment, may hold it a little longer.
const ATTEMPTS: u32 = 15;
const PAUSE: Duration = Duration::from_millis(20);

/// The lock, held until dropped. The system frees it when the process ends, however
/// it ends, so there is no stale lock to clean up.
#[derive(Debug)]
pub struct WriterLock {
    file: File,
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
        let mut attempt = 1;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if attempt < ATTEMPTS => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(ArchiveError::Locked {
                        path: layout.root().to_owned(),
                        pid: read_pid(&mut file),
                    });
                }
                Err(TryLockError::Error(e)) => return Err(ArchiveError::io("lock", &path, e)),
            }
            attempt += 1;
        }
        // The number is for people; the lock holds without it, a full disk included.
        let pid = format!("{}\n", std::process::id());
        let _ = file.set_len(0).and_then(|()| file.write_all(pid.as_bytes()));
        Ok(Self { file })
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // Closing is not enough while a child that was just forked still has a copy of the
        // descriptor. If this fails, the end of the process frees it.
        let _ = self.file.unlock();
    }
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
