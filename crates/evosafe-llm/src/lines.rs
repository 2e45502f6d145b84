//! Append-only files of JSON lines with checksums. The first line names the format and
//! its version; every other is `{"sum":"…","entry":…}`, with the first 16 bytes of the
//! BLAKE3 hash of the entry as it is written.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::LlmError;

/// What a file holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Format {
    pub name: &'static str,
    pub version: u32,
}

#[derive(Serialize, Deserialize)]
struct Head {
    format: String,
    version: u32,
}

/// Half a line at the end of a file, from a write that never finished. What it would
/// have held was never used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Torn {
    /// Its number, from 1.
    pub line: usize,
    /// Bytes of it that are there.
    pub bytes: u64,
}

/// Where an entry stands in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its line, from 1.
    pub line: usize,
    /// First byte of the line.
    pub offset: u64,
    /// Bytes of the line, the line break included.
    pub len: usize,
}

/// Longest line: a file of another kind must not fill the memory. Bodies of replies are at
/// most 32 MiB, and escapes in them take room.
const LONGEST: u64 = 256 << 20;
/// The same for the first.
const LONGEST_HEAD: u64 = 4096;
/// Hexadecimal digits of a checksum.
const SUM: usize = 32;
const BEFORE_SUM: &str = "{\"sum\":\"";
const BEFORE_ENTRY: &str = "\",\"entry\":";

fn sum(entry: &str) -> String {
    blake3::hash(entry.as_bytes()).to_hex()[..SUM].to_owned()
}

fn storage<'a>(action: &'static str, path: &'a Path) -> impl Fn(io::Error) -> LlmError + 'a {
    move |e| LlmError::Storage { action, path: path.to_owned(), message: e.to_string() }
}

fn damaged(path: &Path, line: usize, message: impl Into<String>) -> LlmError {
    LlmError::Damaged { path: path.to_owned(), line, message: message.into() }
}

/// The entry in a line, if its checksum is right.
fn entry<T: DeserializeOwned>(path: &Path, number: usize, line: &[u8]) -> Result<T, LlmError> {
    let text = std::str::from_utf8(line)
        .ok()
        .and_then(|line| line.trim_end_matches('\n').strip_prefix(BEFORE_SUM)?.strip_suffix('}'));
    let parts = text.and_then(|text| {
        let (sum, rest) = text.split_at_checked(SUM)?;
        Some((sum, rest.strip_prefix(BEFORE_ENTRY)?))
    });
    let Some((expected, body)) = parts else {
        return Err(damaged(
            path,
            number,
            "this is no entry of such a file; restore it from a copy",
        ));
    };
    if sum(body) != expected {
        return Err(damaged(
            path,
            number,
            "the line was changed after it was written (its checksum is wrong); restore it from a copy",
        ));
    }
    serde_json::from_str(body).map_err(|e| damaged(path, number, format!("unknown entry: {e}")))
}

fn check_head(path: &Path, format: Format, line: &[u8]) -> Result<(), LlmError> {
    let head: Option<Head> = serde_json::from_slice(line).ok();
    let Some(head) = head.filter(|head| head.format == format.name) else {
        return Err(damaged(path, 1, format!("this is no {} file", format.name)));
    };
    if head.version > format.version {
        let (found, known) = (head.version, format.version);
        return Err(damaged(
            path,
            1,
            format!("version {found} is newer than this program knows ({known}); update it"),
        ));
    }
    Ok(())
}

/// What [`scan`] found, apart from entries.
struct Scanned {
    torn: Option<Torn>,
    /// Bytes of whole lines.
    whole: u64,
    lines: usize,
}

type Visit<'a, T> = dyn FnMut(Place, T) -> Result<(), LlmError> + 'a;

fn scan<T: DeserializeOwned>(
    path: &Path,
    format: Format,
    file: impl Read,
    visit: &mut Visit<'_, T>,
) -> Result<Scanned, LlmError> {
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let (mut line, mut whole, mut number) = (Vec::new(), 0, 0);
    loop {
        line.clear();
        let most = if number == 0 { LONGEST_HEAD } else { LONGEST };
        let limited = reader.by_ref().take(most).read_until(b'\n', &mut line);
        let len = limited.map_err(storage("read", path))?;
        if line.last() != Some(&b'\n') {
            if len as u64 == most {
                return Err(damaged(path, number + 1, format!("this is no {} file", format.name)));
            }
            let torn = (len > 0).then_some(Torn { line: number + 1, bytes: len as u64 });
            return Ok(Scanned { torn, whole, lines: number });
        }
        number += 1;
        if number == 1 {
            check_head(path, format, &line)?;
        } else {
            let value = entry(path, number, &line)?;
            visit(Place { line: number, offset: whole, len }, value)?;
        }
        whole += len as u64;
    }
}

/// Shows every entry to `visit`, in order. A file that is not there has none.
pub(crate) fn read<T: DeserializeOwned>(
    path: &Path,
    format: Format,
    visit: &mut Visit<'_, T>,
) -> Result<Option<Torn>, LlmError> {
    match File::open(path) {
        Ok(file) => scan(path, format, file, visit).map(|scanned| scanned.torn),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(storage("open", path)(e)),
    }
}

/// A file open for appending. The lock on it keeps other processes from writing.
#[derive(Debug)]
pub(crate) struct Writer {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    len: u64,
    lines: usize,
    /// Why it can be written no more: half a line could not be taken back, or nobody
    /// knows what is on disk.
    broken: Option<String>,
}

impl Writer {
    /// Opens or makes a file; what is torn at its end is cut off and returned.
    pub fn open(path: &Path, format: Format) -> Result<(Self, Option<Torn>), LlmError> {
        Self::open_and_read(path, format, &mut |_, _: serde::de::IgnoredAny| Ok(()))
    }

    /// The same, and shows what is in it to `visit`.
    pub fn open_and_read<T: DeserializeOwned>(
        path: &Path,
        format: Format,
        visit: &mut Visit<'_, T>,
    ) -> Result<(Self, Option<Torn>), LlmError> {
        if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
            std::fs::create_dir_all(dir).map_err(storage("create the folder of", path))?;
        }
        let failed = storage("open", path);
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(path).map_err(&failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let other = "another process is writing it; wait for it or stop it";
                return Err(failed(io::Error::other(other)));
            }
            Err(TryLockError::Error(e)) => return Err(failed(e)),
        }
        let scanned = scan(path, format, &file, visit)?;
        let (mut len, mut lines) = (scanned.whole, scanned.lines);
        if scanned.torn.is_some() {
            file.set_len(len).map_err(storage("repair", path))?;
        }
        if lines == 0 {
            let head = Head { format: format.name.to_owned(), version: format.version };
            let mut text = serde_json::to_vec(&head).map_err(|e| failed(e.into()))?;
            text.push(b'\n');
            file.write_all(&text).and_then(|()| file.sync_all()).map_err(storage("write", path))?;
            sync_folder(path)?;
            (len, lines) = (text.len() as u64, 1);
        }
        let state = Mutex::new(State { file, len, lines, broken: None });
        Ok((Self { path: path.to_owned(), state }, scanned.torn))
    }

    /// Appends an entry and returns where it stands when it is on disk.
    pub fn append(&self, value: &impl Serialize) -> Result<Place, LlmError> {
        let failed = storage("write", &self.path);
        let body = serde_json::to_string(value).map_err(|e| failed(e.into()))?;
        let line = format!("{BEFORE_SUM}{}{BEFORE_ENTRY}{body}}}\n", sum(&body));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(why) = &state.broken {
            return Err(failed(io::Error::other(format!("it failed before: {why}"))));
        }
        if let Err(e) = state.file.write_all(line.as_bytes()) {
            // Half a line must not stay: what is appended later would be behind it.
            let len = state.len;
            if let Err(cut) = state.file.set_len(len) {
                state.broken = Some(format!("{e}, and then {cut}"));
            }
            return Err(failed(e));
        }
        if let Err(e) = state.file.sync_data() {
            state.broken = Some(e.to_string());
            return Err(failed(e));
        }
        let place = Place { line: state.lines + 1, offset: state.len, len: line.len() };
        state.len += line.len() as u64;
        state.lines += 1;
        Ok(place)
    }
}

/// Reads an entry again; `file` is open on `path`.
pub(crate) fn read_at<T: DeserializeOwned>(
    path: &Path,
    mut file: &File,
    place: Place,
) -> Result<T, LlmError> {
    let failed = storage("read", path);
    let mut line = vec![0; place.len];
    file.seek(SeekFrom::Start(place.offset)).map_err(&failed)?;
    file.read_exact(&mut line).map_err(&failed)?;
    entry(path, place.line, &line)
}

fn sync_folder(path: &Path) -> Result<(), LlmError> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(storage("sync the folder of", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: Format = Format { name: "test", version: 1 };

    /// What cannot be written is an error, now and later: nothing may be used that is not there.
    #[test]
    fn a_failed_write_is_not_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("f");
        drop(Writer::open(&path, FORMAT).expect("made"));
        let (file, len) = (File::open(&path).expect("for reading only"), 30);
        let state = Mutex::new(State { file, len, lines: 1, broken: None });
        let writer = Writer { path: path.clone(), state };
        for why in ["cannot write", "failed before"] {
            let error = writer.append(&1).expect_err("cannot be written");
            assert_eq!(error.kind(), "storage");
            assert!(error.to_string().contains(why), "{error}");
        }
        let torn = read(&path, FORMAT, &mut |_, _: u32| panic!("nothing was written"));
        assert_eq!(torn, Ok(None));
    }

    #[test]
    fn files_of_other_kinds_do_not_fill_the_memory() {
        let error = scan(Path::new("zero"), FORMAT, io::repeat(0), &mut |_, _: u32| Ok(()));
        assert_eq!(error.err().map(|e| e.kind()), Some("damaged"));
    }
}
