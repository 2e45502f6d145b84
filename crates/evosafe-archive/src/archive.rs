//! Opening an archive.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use git2::Oid;

use crate::error::{ArchiveError, Result};
use crate::events::EventLog;
use crate::index::Index;
use crate::journal::{self, Flaw, Journal, Segment};
use crate::layout::{self, Layout};
use crate::lock::WriterLock;
use crate::overlay::Overlay;
use crate::store::{self, Store};
use crate::sweep;

/// An archive, opened for writing or for reading. `Send` and `Sync`; calls block.
pub struct Archive {
    pub(crate) layout: Layout,
    pub(crate) store: Store,
    overlay: RwLock<Overlay>,
    notices: Mutex<Vec<String>>,
    writer: Option<Writer>,
}

/// What only the one writer has. The lock comes last, so that it is let go last.
pub(crate) struct Writer {
    pub index: RwLock<Option<Index>>,
    pub journal: Journal,
    pub events: EventLog,
    /// Held for reading from a record's way to disk until it stands in the overlay; held
    /// for writing when the journal rotates, so that a flush takes all of both or none.
    pub entering: RwLock<()>,
    pub flushing: Mutex<()>,
    /// Held from looking whether something is known until it is.
    pub deciding: Mutex<()>,
    /// Blobs of the chains of records that were asked for.
    pub chains: Mutex<HashMap<String, HashSet<Oid>>>,
    _lock: WriterLock,
}

impl std::fmt::Debug for Archive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let access = if self.writer.is_some() { "writer" } else { "reader" };
        f.debug_struct("Archive")
            .field("root", &self.layout.root())
            .field("access", &access)
            .finish()
    }
}

impl Archive {
    /// Opens an archive for writing, creating it if the folder is absent or empty (a
    /// README is no content). What an ended process left in the journal is taken up, a
    /// damaged index is replaced; [`Self::notices`] says so.
    ///
    /// # Errors
    /// If another process writes to it, the folder holds something else or cannot be
    /// written to, or the archive is of a newer version.
    pub fn open(path: &Path) -> Result<Self> {
        let layout = Layout::new(path);
        let state = look(&layout)?;
        for dir in [layout.own(), layout.journal(), layout.events()] {
            std::fs::create_dir_all(&dir)
                .map_err(|e| ArchiveError::io("create the folder", &dir, e))?;
        }
        let lock = WriterLock::take(&layout)?;
        let mut notices: Vec<String> = sweep::sweep(&layout)?.into_iter().collect();
        store::write_settings(&layout)?;
        if state != Found::Archive {
            store::init(&layout)?;
        }
        let store = Store::open(&layout)?;
        if store.marker()?.is_none() {
            store.write_marker()?;
        }
        let (overlay, journal) = recover(&layout, &mut notices)?;
        let events = EventLog::open(&layout, &store, &mut notices)?;
        let (index, notice) = Index::open(&layout.index())?;
        notices.extend(notice);
        let writer = Writer {
            index: RwLock::new(Some(index)),
            journal,
            events,
            entering: RwLock::new(()),
            flushing: Mutex::new(()),
            deciding: Mutex::new(()),
            chains: Mutex::new(HashMap::new()),
            _lock: lock,
        };
        let archive = Self {
            layout,
            store,
            overlay: RwLock::new(overlay),
            notices: Mutex::new(notices),
            writer: Some(writer),
        };
        archive.bring_index_up()?;
        Ok(archive)
    }

    /// Opens an archive for reading: git and the journal as they stand now, no lock, no
    /// index, nothing written. Works while a writer is live and on read-only folders. What
    /// is written later is seen after opening again.
    ///
    /// # Errors
    /// If there is no archive, or it is of a newer version.
    pub fn open_read(path: &Path) -> Result<Self> {
        let archive = Self::open_marked(path)?;
        // What moves into git from here on is seen twice, not never: git is read later.
        let mut overlay = Overlay::default();
        for (number, path) in journal::list(&archive.layout.journal())? {
            if let Some(segment) = Segment::open(number, &path)? {
                overlay.read(archive.layout.root(), &segment)?;
            }
        }
        Ok(Self { overlay: RwLock::new(overlay), ..archive })
    }

    /// Opens git alone, for reading.
    pub(crate) fn open_marked(path: &Path) -> Result<Self> {
        let layout = Layout::new(path);
        match look(&layout)? {
            Found::Archive => {}
            Found::Nothing | Found::Unfinished => {
                return Err(ArchiveError::Missing { path: path.to_owned() });
            }
        }
        let store = Store::open(&layout)?;
        Ok(Self {
            layout,
            store,
            overlay: RwLock::default(),
            notices: Mutex::default(),
            writer: None,
        })
    }

    /// What was repaired, on opening or since. For the user to see.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The archive's folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.layout.root()
    }

    pub(crate) fn notice(&self, text: String) {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    pub(crate) fn writer(&self) -> Result<&Writer> {
        self.writer
            .as_ref()
            .ok_or_else(|| ArchiveError::OpenedForReading { path: self.layout.root().to_owned() })
    }

    pub(crate) fn as_writer(&self) -> Option<&Writer> {
        self.writer.as_ref()
    }

    pub(crate) fn overlay(&self) -> RwLockReadGuard<'_, Overlay> {
        self.overlay.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn overlay_mut(&self) -> RwLockWriteGuard<'_, Overlay> {
        self.overlay.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is at a path.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Archive,
    /// A creation that did not come to its end.
    Unfinished,
    /// Nothing, or an empty folder.
    Nothing,
}

/// Files that may lie in a folder that becomes an archive.
const HARMLESS: [&str; 3] = ["README.md", ".gitignore", ".gitkeep"];

fn look(layout: &Layout) -> Result<Found> {
    let root = layout.root();
    let foreign =
        |found: &str| ArchiveError::Foreign { path: root.to_owned(), found: found.to_owned() };
    let entries = match std::fs::read_dir(root) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(e) if e.kind() == std::io::ErrorKind::NotADirectory => {
            return Err(foreign("it is a file"));
        }
        Err(e) => return Err(ArchiveError::io("read the folder", root, e)),
    };
    let mut other = None;
    for entry in entries {
        let name = entry.map_err(|e| ArchiveError::io("read the folder", root, e))?.file_name();
        let name = name.to_string_lossy().into_owned();
        if !HARMLESS.contains(&name.as_str()) {
            other = Some(name);
        }
    }
    let Some(other) = other else { return Ok(Found::Nothing) };
    let begun = layout.own().is_dir();
    if root.join("HEAD").is_file() && root.join("objects").is_dir() {
        // Nothing was ever written to a repository whose creation was interrupted, so
        // not even its marker is there, loose or packed.
        let marked = root.join(layout::FORMAT_REF).exists() || root.join("packed-refs").exists();
        if begun && !marked {
            return Ok(Found::Unfinished);
        }
        match Store::open(layout)?.marker()? {
            Some(_) => Ok(Found::Archive),
            None => Err(foreign("it is another git repository")),
        }
    } else if begun {
        Ok(Found::Unfinished)
    } else {
        Err(foreign(&format!("it holds `{other}`")))
    }
}

/// Takes up what is in the journal and cuts off what never finished.
fn recover(layout: &Layout, notices: &mut Vec<String>) -> Result<(Overlay, Journal)> {
    let mut overlay = Overlay::default();
    let mut sealed = Vec::new();
    let mut next = 1;
    for (number, path) in journal::list(&layout.journal())? {
        next = number + 1;
        let Some(segment) = Segment::open(number, &path)? else { continue };
        let flaws = overlay.read(layout.root(), &segment)?;
        for flaw in flaws {
            notices.push(mend(&segment, &flaw)?);
        }
        sealed.push(segment);
    }
    Ok((overlay, Journal::new(&layout.journal(), sealed, next)))
}

fn mend(segment: &Segment, flaw: &Flaw) -> Result<String> {
    let path = &segment.path;
    match flaw {
        Flaw::Torn { from, bytes } => {
            std::fs::OpenOptions::new()
                .write(true)
                .open(path)
                .and_then(|file| file.set_len(*from).and_then(|()| file.sync_all()))
                .map_err(|e| ArchiveError::io("cut", path, e))?;
            Ok(format!(
                "{} ended in {bytes} bytes of a record that was never finished; they were cut off",
                path.display()
            ))
        }
        Flaw::Damaged { from, bytes } => {
            let copy = path.with_extension("damaged");
            std::fs::copy(path, &copy).map_err(|e| ArchiveError::io("copy", path, e))?;
            Ok(format!(
                "{} has {bytes} damaged bytes at offset {from}: what was recorded there is lost, \
                 the records before and after it are kept; a copy as it was is {}",
                path.display(),
                copy.display()
            ))
        }
    }
}
