//! One file of the journal.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::frame::{self, Kind, Read1};
use crate::error::{ArchiveError, Result};

/// Starts every segment; the version follows as four bytes, little-endian.
pub const SEGMENT_MAGIC: &[u8; 16] = b"evosafe journal\n";
/// Version of the journal.
pub const VERSION: u32 = 1;
/// Bytes before the first record.
pub const SEGMENT_HEAD: u64 = 20;

/// First bytes of a segment.
pub fn head() -> Vec<u8> {
    [SEGMENT_MAGIC.as_slice(), &VERSION.to_le_bytes()].concat()
}

/// A segment that can be read. Its file stays readable when the writer has flushed and
/// removed it, for as long as somebody holds this.
#[derive(Debug)]
pub struct Segment {
    /// Place in the order of segments, from 1.
    pub number: u64,
    /// Its file.
    pub path: PathBuf,
    file: Mutex<File>,
    /// Another descriptor, so that a long scan does not keep readers of records waiting.
    scanned: Mutex<File>,
}

/// Where a record's payload stands.
#[derive(Debug, Clone)]
pub struct Location {
    segment: Arc<Segment>,
    offset: u64,
    len: u32,
}

impl Location {
    pub(super) fn new(segment: Arc<Segment>, offset: u64, len: u32) -> Self {
        Self { segment, offset, len }
    }

    /// The segment it is in.
    pub fn segment(&self) -> u64 {
        self.segment.number
    }

    /// Whether it comes before another in the journal.
    pub fn is_before(&self, other: &Self) -> bool {
        (self.segment(), self.offset) < (other.segment(), other.offset)
    }

    /// Reads the payload.
    pub fn read(&self) -> Result<Vec<u8>> {
        let mut file = self.segment.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut payload = vec![0; self.len as usize];
        file.seek(SeekFrom::Start(self.offset))
            .and_then(|_| file.read_exact(&mut payload))
            .map_err(|e| ArchiveError::io("read the journal", &self.segment.path, e))?;
        Ok(payload)
    }
}

/// What was wrong in a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// It ends in half a record, from this offset on: a write that never finished.
    Torn {
        /// First byte that is no record.
        from: u64,
        /// Bytes from there to the end.
        bytes: u64,
    },
    /// There are bytes between whole records that are none.
    Damaged {
        /// First such byte.
        from: u64,
        /// How many.
        bytes: u64,
    },
}

/// Receives every record of a scan.
pub type Visit<'a> = dyn FnMut(Kind, Location, &[u8]) -> Result<()> + 'a;

impl Segment {
    /// Opens a segment for reading. `None` if a writer has removed it meanwhile.
    pub fn open(number: u64, path: &Path) -> Result<Option<Arc<Self>>> {
        let open = || File::open(path);
        match open().and_then(|file| Ok((file, open()?))) {
            Ok((file, scanned)) => Ok(Some(Arc::new(Self {
                number,
                path: path.to_owned(),
                file: Mutex::new(file),
                scanned: Mutex::new(scanned),
            }))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(ArchiveError::io("open the journal", path, e)),
        }
    }

    /// Shows every whole record to `visit`, and says what else is there. Nothing is changed.
    pub fn scan(self: &Arc<Self>, root: &Path, visit: &mut Visit<'_>) -> Result<Vec<Flaw>> {
        let failed = |e| ArchiveError::io("read the journal", &self.path, e);
        let mut file = self.scanned.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let size = file.metadata().map_err(failed)?.len();
        if size < SEGMENT_HEAD {
            return Ok(if size == 0 { vec![] } else { vec![Flaw::Torn { from: 0, bytes: size }] });
        }
        self.check_head(root, &mut file)?;
        let mut reader = BufReader::with_capacity(1 << 18, &mut *file);
        let (mut at, mut flaws) = (SEGMENT_HEAD, Vec::new());
        loop {
            match frame::read(&mut reader, size - at).map_err(failed)? {
                Read1::End => return Ok(flaws),
                Read1::Record(kind, payload) => {
                    let offset = at + frame::HEAD as u64;
                    let len = u32::try_from(payload.len()).unwrap_or(u32::MAX);
                    visit(kind, Location::new(Arc::clone(self), offset, len), &payload)?;
                    at = offset + u64::from(len);
                }
                Read1::Bad => {
                    reader.seek(SeekFrom::Start(at)).map_err(failed)?;
                    let mut rest = Vec::new();
                    reader.by_ref().take(size - at).read_to_end(&mut rest).map_err(failed)?;
                    let Some(next) = frame::find(&rest, 1) else {
                        flaws.push(Flaw::Torn { from: at, bytes: rest.len() as u64 });
                        return Ok(flaws);
                    };
                    flaws.push(Flaw::Damaged { from: at, bytes: next as u64 });
                    at += next as u64;
                    reader.seek(SeekFrom::Start(at)).map_err(failed)?;
                }
            }
        }
    }

    fn check_head(&self, root: &Path, file: &mut File) -> Result<()> {
        let mut head = [0; SEGMENT_HEAD as usize];
        file.read_exact(&mut head)
            .map_err(|e| ArchiveError::io("read the journal", &self.path, e))?;
        let version = u32::from_le_bytes([head[16], head[17], head[18], head[19]]);
        let what = || format!("journal file {}", self.path.display());
        if &head[..16] != SEGMENT_MAGIC {
            return Err(ArchiveError::Damaged {
                path: root.to_owned(),
                what: what(),
                detail: "it does not start as a journal does; move it away to go on without it"
                    .to_owned(),
            });
        }
        if version > VERSION {
            return Err(ArchiveError::Newer {
                path: root.to_owned(),
                what: what(),
                found: version,
                known: VERSION,
            });
        }
        Ok(())
    }
}

/// The segments in a folder, oldest first.
pub fn list(dir: &Path) -> Result<Vec<(u64, PathBuf)>> {
    let failed = |e| ArchiveError::io("list", dir, e);
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(failed(e)),
    };
    let mut segments = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let number = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_suffix(".log"))
            .and_then(|digits| digits.parse().ok());
        if let Some(number) = number {
            segments.push((number, path));
        }
    }
    segments.sort();
    Ok(segments)
}
