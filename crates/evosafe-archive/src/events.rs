//! The stream of events: append-only files until a flush, then segments in git.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use evosafe_types::Event;

use crate::archive::Archive;
use crate::error::{ArchiveError, Result};
use crate::format::{self, EventLine, FormatError};
use crate::layout::{EVENTS_REF, Layout};
use crate::store::{Store, understood};

/// The writing end.
#[derive(Debug)]
pub struct EventLog {
    dir: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    next: u64,
    current: Option<(File, PathBuf, u64)>,
}

/// An event file.
#[derive(Debug)]
pub struct EventFile {
    pub path: PathBuf,
    /// Whole lines, by place in the stream.
    pub lines: BTreeMap<u64, EventLine>,
    /// Bytes up to and including the last whole line.
    pub sound: u64,
    /// Bytes after it.
    pub torn: u64,
    /// Lines in between that cannot be read.
    pub damaged: u64,
}

impl EventLog {
    /// Goes on after what is in git and in files; half a line at the end of one is cut off.
    pub fn open(layout: &Layout, store: &Store, notices: &mut Vec<String>) -> Result<Self> {
        let dir = layout.events();
        let mut next = last_in_git(store)?.map_or(0, |last| last + 1);
        for file in read_files(layout)? {
            let path = &file.path;
            if file.torn > 0 {
                OpenOptions::new()
                    .write(true)
                    .open(path)
                    .and_then(|f| f.set_len(file.sound))
                    .map_err(|e| ArchiveError::io("cut", path, e))?;
                notices.push(format!(
                    "{} ended in {} bytes of an event that was never finished; they were cut off",
                    path.display(),
                    file.torn
                ));
            }
            if file.damaged > 0 {
                notices.push(format!(
                    "{} has {} damaged lines; they are left out",
                    path.display(),
                    file.damaged
                ));
            }
            next = next.max(file.lines.keys().last().map_or(0, |last| last + 1));
        }
        Ok(Self { dir, state: Mutex::new(State { next, current: None }) })
    }

    fn append(&self, event: &Event, at: u64, root: &Path) -> Result<()> {
        let known = |e| understood(root, "a new event", e);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let line = EventLine::new(state.next, at, event).map_err(known)?;
        let bytes = format::encode_line(&line).map_err(known)?;
        if state.current.is_none() {
            let path = self.dir.join(format!("{:012}.jsonl", state.next));
            let file = OpenOptions::new()
                .append(true)
                .create(true)
                .open(&path)
                .map_err(|e| ArchiveError::io("create the event file", &path, e))?;
            let len = file
                .metadata()
                .map_err(|e| ArchiveError::io("look at the event file", &path, e))?
                .len();
            state.current = Some((file, path, len));
        }
        let (file, path, len) = state.current.as_mut().expect("made above");
        if let Err(e) = file.write_all(&bytes) {
            let error = ArchiveError::io("write to", path, e);
            // Half a line must not stay before the next one.
            if file.set_len(*len).is_err() {
                state.current = None;
            }
            return Err(error);
        }
        *len += bytes.len() as u64;
        if must_be_durable(event) {
            file.sync_data().map_err(|e| ArchiveError::io("sync", path, e))?;
        }
        state.next += 1;
        Ok(())
    }

    /// Ends the current file: the next event, whose place is returned, begins another.
    pub fn rotate(&self) -> u64 {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.current = None;
        state.next
    }
}

impl EventFile {
    /// Place of its first event, as its name says.
    pub fn first(&self) -> u64 {
        let stem = self.path.file_stem().and_then(|stem| stem.to_str());
        stem.and_then(|stem| stem.parse().ok()).unwrap_or(0)
    }
}

/// Events that say what happened to the experiment, not how far it is.
fn must_be_durable(event: &Event) -> bool {
    matches!(
        event,
        Event::HeldOutOpened { .. } | Event::SearchStarted { .. } | Event::SearchFinished { .. }
    )
}

/// All event files, oldest first.
pub fn read_files(layout: &Layout) -> Result<Vec<EventFile>> {
    let dir = layout.events();
    let listed = |e| ArchiveError::io("list", &dir, e);
    let mut paths = Vec::new();
    match std::fs::read_dir(&dir) {
        Ok(entries) => {
            for entry in entries {
                paths.push(entry.map_err(listed)?.path());
            }
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => return Err(listed(e)),
    }
    paths.retain(|path| path.extension().is_some_and(|ext| ext == "jsonl"));
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        match std::fs::read(&path) {
            Ok(bytes) => files.push(parse_file(layout.root(), path, &bytes)?),
            // Flushed since it was listed.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(ArchiveError::io("read", &path, e)),
        }
    }
    Ok(files)
}

fn parse_file(root: &Path, path: PathBuf, bytes: &[u8]) -> Result<EventFile> {
    let mut file = EventFile { path, lines: BTreeMap::new(), sound: 0, torn: 0, damaged: 0 };
    let (mut at, mut bad) = (0_u64, 0_u64);
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        at += line.len() as u64;
        let decoded = match line.strip_suffix(b"\n") {
            Some(line) => format::decode_line(line),
            None => Err(FormatError::Damaged { what: "event", detail: "half a line".to_owned() }),
        };
        match decoded {
            Ok(line) => {
                file.lines.insert(line.n, line);
                file.damaged += bad;
                (file.sound, bad) = (at, 0);
            }
            Err(e @ FormatError::Newer { .. }) => {
                return Err(understood(root, &file.path.display().to_string(), e));
            }
            Err(_) => bad += 1,
        }
    }
    file.torn = bytes.len() as u64 - file.sound;
    Ok(file)
}

/// Name of a segment in git.
pub fn segment_name(first: u64, last: u64) -> String {
    format!("{first:012}-{last:012}.jsonl.zst")
}

/// Place of the last event in git, from the name of the last segment.
pub fn last_in_git(store: &Store) -> Result<Option<u64>> {
    let name =
        store.with("read events", |repo| match crate::store::reference(repo, EVENTS_REF)? {
            Some(head) => {
                let tree = repo.find_commit(head)?.tree()?;
                let name =
                    tree.get(0).map(|e| String::from_utf8_lossy(e.name_bytes()).into_owned());
                Ok(Some(name.unwrap_or_default()))
            }
            None => Ok(None),
        })?;
    let Some(name) = name else { return Ok(None) };
    let last = name.split_once('-').and_then(|(_, rest)| rest.get(..12)?.parse().ok());
    last.map(Some).ok_or_else(|| store.damaged(EVENTS_REF, format!("a segment named `{name}`")))
}

/// Lines of a segment in git.
pub fn parse_segment(store: &Store, bytes: &[u8]) -> Result<Vec<EventLine>> {
    let text =
        zstd::stream::decode_all(bytes).map_err(|e| store.damaged(EVENTS_REF, e.to_string()))?;
    let lines = text.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| store.understood(EVENTS_REF, format::decode_line(line))).collect()
}

impl Archive {
    /// Adds an event, stamped `unix_millis` (milliseconds since 1970, UTC). It survives the
    /// end of the process, however it ends; starts and ends of searches and openings of
    /// held-out tasks are synced to disk too.
    ///
    /// # Errors
    /// If a number in it is not finite, or the write fails.
    pub fn append_event(&self, event: &Event, unix_millis: u64) -> Result<()> {
        self.writer()?.events.append(event, unix_millis, self.path())
    }

    /// All events with their times, oldest first. A reader that calls again sees what came
    /// since.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn events(&self) -> Result<Vec<(u64, Event)>> {
        // Files first: what moves to git in between is then seen twice, not never.
        let mut lines = BTreeMap::new();
        for file in read_files(&self.layout)? {
            lines.extend(file.lines);
        }
        for (_, blob) in self.store.chain(EVENTS_REF)? {
            for line in parse_segment(&self.store, &self.store.blob(blob)?)? {
                lines.insert(line.n, line);
            }
        }
        Ok(lines.into_values().map(|line| (line.at, line.into_event())).collect())
    }
}
