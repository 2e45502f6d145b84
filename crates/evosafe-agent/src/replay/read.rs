//! Finding recorded runs in a folder or an archive of one. What a file is follows from its
//! content; its place only names it in messages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use evosafe_types::ContentHash;

use super::RunKey;
use super::recording::{Heading, Recording};
use crate::VictimError;

/// Largest file that is read as a recording, in bytes.
const LARGEST: u64 = 64 << 20;
/// Most bytes that are read in all: an archive of this size is no set of runs.
const MOST_BYTES: u64 = 8 << 30;
/// Most entries of an archive or folder that are looked at.
const MOST_ENTRIES: u64 = 1_000_000;
/// Deepest folder that is looked into, counted from the one that was named.
const DEEPEST: usize = 16;
/// Largest zstd window, as a power of two: what `zstd --long` writes, 128 MiB.
const WINDOW: u32 = 27;

/// What was found.
#[derive(Debug, Default)]
pub struct Files {
    pub runs: BTreeMap<RunKey, Recording>,
    /// Name and reason.
    pub skipped: Vec<(String, String)>,
    pub attacks: BTreeSet<String>,
    pub pipelines: BTreeSet<String>,
    /// Hash of the content of the runs that were read, whatever their order and place.
    pub digest: String,
}

struct Collector<'a> {
    wanted: Option<&'a str>,
    files: Files,
    hashes: BTreeMap<RunKey, ContentHash>,
    entries: u64,
    bytes: u64,
}

/// Reads benign runs and those under `attack`.
pub fn read(path: &Path, attack: Option<&str>) -> Result<Files, VictimError> {
    let fail = |source| VictimError::Io { path: path.to_owned(), source };
    let mut collector = Collector {
        wanted: attack,
        files: Files::default(),
        hashes: BTreeMap::new(),
        entries: 0,
        bytes: 0,
    };
    if fs::metadata(path).map_err(fail)?.is_dir() {
        from_folder(path, &mut collector)?;
    } else {
        from_archive(path, &mut collector).map_err(fail)?;
    }
    Ok(collector.finish())
}

fn from_folder(root: &Path, collector: &mut Collector<'_>) -> Result<(), VictimError> {
    let mut open = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let fail = |source| VictimError::Io { path: folder.clone(), source };
        for entry in fs::read_dir(&folder).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            collector.count().map_err(fail)?;
            let path = entry.path();
            // A linked file is read; a linked folder could lead round in a circle.
            if entry.file_type().map_err(fail)?.is_dir() {
                if depth < DEEPEST {
                    open.push((path, depth + 1));
                }
            } else if is_json(&path) && path.is_file() {
                let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                match fs::File::open(&path).and_then(|file| collector.bounded(file)) {
                    Ok(bytes) => collector.take(name, &bytes),
                    Err(error) if is_over(&error) => return Err(fail(error)),
                    Err(error) => collector.files.skipped.push((name, error.to_string())),
                }
            }
        }
    }
    Ok(())
}

fn from_archive(path: &Path, collector: &mut Collector<'_>) -> io::Result<()> {
    let not_one = |e: io::Error| {
        io::Error::new(e.kind(), format!("it is neither a folder nor a readable .tar.zst: {e}"))
    };
    let mut stream = zstd::Decoder::new(fs::File::open(path)?)?;
    stream.window_log_max(WINDOW)?;
    let mut archive = tar::Archive::new(stream);
    for entry in archive.entries()? {
        let entry = entry.map_err(not_one)?;
        collector.count()?;
        let inner = entry.path().map_err(not_one)?.into_owned();
        if !entry.header().entry_type().is_file() || !is_json(&inner) {
            continue;
        }
        let name = inner.display().to_string();
        match collector.bounded(entry) {
            Ok(bytes) => collector.take(name, &bytes),
            Err(e) if e.kind() == io::ErrorKind::FileTooLarge => {
                collector.files.skipped.push((name, e.to_string()));
            }
            Err(e) => return Err(not_one(e)),
        }
    }
    Ok(())
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

fn is_over(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::QuotaExceeded
}

fn over(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::QuotaExceeded,
        format!("too large for recorded runs: more than {what}"),
    )
}

impl Collector<'_> {
    fn count(&mut self) -> io::Result<()> {
        self.entries += 1;
        if self.entries > MOST_ENTRIES {
            return Err(over(&format!("{MOST_ENTRIES} files")));
        }
        Ok(())
    }

    fn bounded(&mut self, file: impl Read) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes)?;
        self.bytes += bytes.len() as u64;
        if self.bytes > MOST_BYTES {
            return Err(over(&format!("{} GiB", MOST_BYTES >> 30)));
        }
        if bytes.len() as u64 > LARGEST {
            let text = format!("larger than {} MiB", LARGEST >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
        }
        Ok(bytes)
    }

    fn take(&mut self, name: String, bytes: &[u8]) {
        let heading = match Heading::parse(bytes) {
            Ok(heading) => heading,
            Err(why) => return self.files.skipped.push((name, why)),
        };
        if heading.is_injection_as_user_task() {
            return;
        }
        if heading.attack().is_some() != heading.injection_task().is_some() {
            let why = "it names an attack or an injection task, not both".to_owned();
            return self.files.skipped.push((name, why));
        }
        if let Some(attack) = heading.attack() {
            self.files.attacks.insert(attack.to_owned());
            if self.wanted != Some(attack) {
                self.files.pipelines.insert(heading.pipeline);
                return;
            }
        }
        let run = match Recording::parse(bytes) {
            Ok(run) => run,
            Err(why) => return self.files.skipped.push((name, why)),
        };
        let injection_task = heading.injection_task().map(str::to_owned);
        self.files.pipelines.insert(heading.pipeline);
        self.keep(name, (heading.suite, heading.user_task, injection_task), run, bytes);
    }

    /// Of two runs of one task, the one with the smaller hash stays, so that the order of
    /// reading does not matter.
    fn keep(&mut self, name: String, key: RunKey, run: Recording, bytes: &[u8]) {
        let hash = ContentHash::of(&[bytes]);
        if let Some(other) = self.hashes.get(&key) {
            let why = "there is another run of the same task".to_owned();
            self.files.skipped.push((name, why));
            if *other <= hash {
                return;
            }
        }
        self.hashes.insert(key.clone(), hash);
        self.files.runs.insert(key, run);
    }

    fn finish(mut self) -> Files {
        self.files.skipped.sort();
        let texts: Vec<String> = self
            .hashes
            .iter()
            .map(|((suite, user, injection), hash)| format!("{suite}/{user}/{injection:?} {hash}"))
            .collect();
        let parts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        self.files.digest = ContentHash::of(&parts).to_string();
        self.files
    }
}
