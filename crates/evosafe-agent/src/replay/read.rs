//! Finding recorded runs in a folder or an archive of one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::Path;

use evosafe_types::ContentHash;

use super::RunKey;
use super::recording::Recording;
use crate::VictimError;

/// Largest file that is read as a recording, in bytes.
const LARGEST: u64 = 64 << 20;

/// What was found.
pub struct Files {
    pub runs: BTreeMap<RunKey, Recording>,
    /// Name and reason.
    pub skipped: Vec<(String, String)>,
    pub attacks: BTreeSet<String>,
    pub pipelines: BTreeSet<String>,
    /// Hash of the content of the runs that were read, whatever their order.
    pub digest: String,
}

/// The place of a file in the benchmark's layout.
struct Place {
    suite: String,
    user_task: String,
    attack: Option<String>,
    injection_task: Option<String>,
}

impl Place {
    /// From the last four parts of a path.
    fn of(path: &Path) -> Option<Self> {
        let parts: Vec<&str> =
            path.iter().map(|p| p.to_str()).collect::<Option<Vec<_>>>()?;
        let [.., suite, user_task, attack, file] = parts.as_slice() else { return None };
        let injection_task = file.strip_suffix(".json")?;
        let named = |text: &str| (text != "none").then(|| text.to_owned());
        Some(Self {
            suite: (*suite).to_owned(),
            user_task: (*user_task).to_owned(),
            attack: named(attack),
            injection_task: named(injection_task),
        })
    }
}

struct Collector<'a> {
    wanted: Option<&'a str>,
    files: Files,
    hashes: BTreeMap<RunKey, ContentHash>,
}

/// Reads benign runs and those under `attack`.
pub fn read(path: &Path, attack: Option<&str>) -> Result<Files, VictimError> {
    let fail = |source| VictimError::Io { path: path.to_owned(), source };
    let files = Files {
        runs: BTreeMap::new(),
        skipped: Vec::new(),
        attacks: BTreeSet::new(),
        pipelines: BTreeSet::new(),
        digest: String::new(),
    };
    let mut collector = Collector { wanted: attack, files, hashes: BTreeMap::new() };
    if fs::metadata(path).map_err(fail)?.is_dir() {
        from_folder(path, &mut collector)?;
    } else {
        from_archive(path, &mut collector)?;
    }
    let texts: Vec<String> = collector
        .hashes
        .iter()
        .map(|((suite, user, injection), hash)| format!("{suite}/{user}/{injection:?} {hash}"))
        .collect();
    let parts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    collector.files.digest = ContentHash::of(&parts).to_string();
    Ok(collector.files)
}

fn from_folder(root: &Path, collector: &mut Collector<'_>) -> Result<(), VictimError> {
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        let fail = |source| VictimError::Io { path: folder.clone(), source };
        for entry in fs::read_dir(&folder).map_err(fail)? {
            let path = entry.map_err(fail)?.path();
            if path.is_dir() {
                open.push(path);
            } else if let Some(place) = collector.place(&path) {
                let name = path.display().to_string();
                match fs::File::open(&path).and_then(|mut file| bounded(&mut file)) {
                    Ok(bytes) => collector.take(&name, &place, &bytes),
                    Err(e) => collector.files.skipped.push((name, e.to_string())),
                }
            }
        }
    }
    collector.files.skipped.sort();
    Ok(())
}

fn from_archive(path: &Path, collector: &mut Collector<'_>) -> Result<(), VictimError> {
    let fail = |source| VictimError::Io { path: path.to_owned(), source };
    let file = fs::File::open(path).map_err(fail)?;
    let stream = zstd::Decoder::new(file).map_err(fail)?;
    let mut archive = tar::Archive::new(stream);
    for entry in archive.entries().map_err(fail)? {
        let mut entry = entry.map_err(fail)?;
        let inner = entry.path().map_err(fail)?.into_owned();
        if let Some(place) = collector.place(&inner) {
            let name = inner.display().to_string();
            match bounded(&mut entry) {
                Ok(bytes) => collector.take(&name, &place, &bytes),
                // A file that is too large is skipped; a broken stream is an error.
                Err(e) if e.kind() == std::io::ErrorKind::FileTooLarge => {
                    collector.files.skipped.push((name, e.to_string()));
                }
                Err(e) => return Err(fail(e)),
            }
        }
    }
    collector.files.skipped.sort();
    Ok(())
}

fn bounded(file: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        let text = format!("larger than {} MiB", LARGEST >> 20);
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

impl Collector<'_> {
    /// Where a file belongs, if it is to be read.
    fn place(&mut self, path: &Path) -> Option<Place> {
        let place = Place::of(path)?;
        // Injection tasks that were run as user tasks are not benign tasks.
        if place.user_task.starts_with("injection_task") {
            return None;
        }
        match &place.attack {
            None => Some(place),
            Some(attack) => {
                self.files.attacks.insert(attack.clone());
                (self.wanted == Some(attack)).then_some(place)
            }
        }
    }

    fn take(&mut self, name: &str, place: &Place, bytes: &[u8]) {
        let run = match Recording::parse(bytes) {
            Ok(run) => run,
            Err(why) => return self.files.skipped.push((name.to_owned(), why)),
        };
        let names = (&run.suite, &run.user_task, &run.injection_task);
        // Older recordings have no attack name beside benign runs; newer say "none".
        let attack = run.attack.clone().filter(|a| a != "none");
        if names != (&place.suite, &place.user_task, &place.injection_task)
            || (place.attack.is_some() && attack != place.attack)
        {
            let why = "its content belongs elsewhere in the layout".to_owned();
            return self.files.skipped.push((name.to_owned(), why));
        }
        self.files.pipelines.insert(run.pipeline.clone());
        let key = (run.suite.clone(), run.user_task.clone(), run.injection_task.clone());
        self.hashes.insert(key.clone(), ContentHash::of(&[bytes]));
        self.files.runs.insert(key, run);
    }
}
