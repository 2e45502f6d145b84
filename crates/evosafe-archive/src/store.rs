//! Reading the git repository. Writing is `pack` and `flush`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use evosafe_types::{CandidateId, EvidenceKey};
use git2::{Config, ConfigLevel, ErrorCode, ObjectType, Oid, Repository, RepositoryInitOptions};

use crate::error::{ArchiveError, Result};
use crate::format::{self, Document, FormatError, Marker};
use crate::layout::{self, Layout};

/// Line of a candidate's commit message that names it.
pub const CANDIDATE_TRAILER: &str = "Evosafe-Candidate: ";
/// Name of the one blob in the tree of a record's commit.
pub const RECORD_FILE: &str = "record.json";

/// What plain git must not be told: it warns that the setting is old. libgit2 reads it
/// and syncs packs and references before it renames them into place.
const SETTINGS: &str = "[core]\n\tfsyncObjectFiles = true\n";

/// The repository, for reading.
pub struct Store {
    root: PathBuf,
    repo: Mutex<Repository>,
}

/// Opens the repository with its own settings and ours, and nobody else's.
pub fn open_repository(layout: &Layout) -> std::result::Result<Repository, git2::Error> {
    let repo = Repository::open_bare(layout.root())?;
    let mut config = Config::new()?;
    config.add_file(&layout.root().join("config"), ConfigLevel::Local, false)?;
    if layout.git_settings().exists() {
        config.add_file(&layout.git_settings(), ConfigLevel::App, false)?;
    }
    repo.set_config(&config)?;
    Ok(repo)
}

/// Writes our settings for libgit2, if they are not there.
pub fn write_settings(layout: &Layout) -> Result<()> {
    let path = layout.git_settings();
    if std::fs::read(&path).is_ok_and(|there| there == SETTINGS.as_bytes()) {
        return Ok(());
    }
    std::fs::write(&path, SETTINGS).map_err(|e| ArchiveError::io("write", &path, e))
}

/// Makes the bare repository, or finishes making it. The marker is not part of it and
/// comes last: see [`Store::write_marker`].
pub fn init(layout: &Layout) -> Result<()> {
    let mut options = RepositoryInitOptions::new();
    options.bare(true).external_template(false).initial_head("latest").mkpath(true);
    Repository::init_opts(layout.root(), &options)
        .map(drop)
        .map_err(|e| ArchiveError::git("create a repository", layout.root(), e))
}

impl Store {
    /// Opens the repository.
    pub fn open(layout: &Layout) -> Result<Self> {
        let root = layout.root().to_owned();
        let repo = open_repository(layout)
            .map_err(|e| ArchiveError::git("open the repository", &root, e))?;
        Ok(Self { root, repo: Mutex::new(repo) })
    }

    /// Opens the repository anew: what the old handle has mapped of removed packs is let go.
    pub fn reopen(&self, layout: &Layout) -> Result<()> {
        let fresh = open_repository(layout)
            .map_err(|e| ArchiveError::git("open the repository", &self.root, e))?;
        *self.repo.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    /// Works with the repository; `action` is for the error message.
    pub fn with<T>(
        &self,
        action: &str,
        work: impl FnOnce(&Repository) -> std::result::Result<T, git2::Error>,
    ) -> Result<T> {
        let repo = self.repo.lock().unwrap_or_else(PoisonError::into_inner);
        work(&repo).map_err(|e| ArchiveError::git(action, &self.root, e))
    }

    /// Turns a failure to understand stored bytes into one that names the archive.
    pub fn understood<T>(
        &self,
        place: &str,
        result: std::result::Result<T, FormatError>,
    ) -> Result<T> {
        result.map_err(|e| understood(&self.root, place, e))
    }

    /// The archive marker; `None` if there is none.
    pub fn marker(&self) -> Result<Option<Marker>> {
        let Some(oid) = self.reference(layout::FORMAT_REF)? else { return Ok(None) };
        let bytes = self.blob(oid)?;
        self.understood(layout::FORMAT_REF, format::decode(&bytes)).map(Some)
    }

    /// Marks the repository as an archive of this version.
    pub fn write_marker(&self) -> Result<()> {
        let bytes = self.understood(Marker::WHAT, format::encode(&Marker::new()))?;
        self.with("mark the archive", |repo| {
            let oid = repo.blob(&bytes)?;
            repo.reference(layout::FORMAT_REF, oid, true, "evosafe")?;
            Ok(())
        })
    }

    /// What a reference points to.
    pub fn reference(&self, name: &str) -> Result<Option<Oid>> {
        self.with(&format!("read {name}"), |repo| reference(repo, name))
    }

    /// Last parts of the names of all references below `prefix`, sorted.
    pub fn names(&self, prefix: &str) -> Result<Vec<String>> {
        self.with(&format!("list {prefix}"), |repo| names(repo, prefix))
    }

    /// A blob's bytes.
    pub fn blob(&self, oid: Oid) -> Result<Vec<u8>> {
        self.with(&format!("read object {oid}"), |repo| Ok(repo.odb()?.read(oid)?.data().to_vec()))
    }

    /// The bytes of a piece of evidence.
    pub fn evidence(&self, key: &EvidenceKey) -> Result<Option<Vec<u8>>> {
        self.with("read evidence", |repo| {
            let Some(tree) = tree_of(repo, reference(repo, layout::EVIDENCE_REF)?)? else {
                return Ok(None);
            };
            let Some(oid) = evidence_entry(repo, tree, key)? else { return Ok(None) };
            Ok(Some(repo.odb()?.read(oid)?.data().to_vec()))
        })
    }

    /// All files of a candidate.
    pub fn files(&self, id: &CandidateId) -> Result<Option<BTreeMap<String, Vec<u8>>>> {
        let name = layout::candidate_ref(id);
        self.with(&format!("read candidate {id}"), |repo| {
            let Some(tree) = tree_of(repo, reference(repo, &name)?)? else { return Ok(None) };
            let mut files = BTreeMap::new();
            collect_files(repo, tree, "", &mut files)?;
            Ok(Some(files))
        })
    }

    /// Parents of a candidate, in order.
    pub fn parents(&self, id: &CandidateId) -> Result<Option<Vec<CandidateId>>> {
        let name = layout::candidate_ref(id);
        let messages = self.with(&format!("read candidate {id}"), |repo| {
            let Some(oid) = reference(repo, &name)? else { return Ok(None) };
            let messages: std::result::Result<Vec<_>, git2::Error> = repo
                .find_commit(oid)?
                .parents()
                .map(|parent| Ok(String::from_utf8_lossy(parent.message_bytes()).into_owned()))
                .collect();
            messages.map(Some)
        })?;
        let Some(messages) = messages else { return Ok(None) };
        let parents: Option<Vec<_>> = messages.iter().map(|m| candidate_of(m)).collect();
        parents.map(Some).ok_or_else(|| self.damaged(&name, "a parent is no candidate"))
    }

    /// Blobs of a chain of records, oldest first, as (commit, blob).
    pub fn chain(&self, name: &str) -> Result<Vec<(Oid, Oid)>> {
        self.with(&format!("read {name}"), |repo| chain(repo, reference(repo, name)?))
    }

    /// An error about stored data.
    pub fn damaged(&self, what: &str, detail: impl Into<String>) -> ArchiveError {
        ArchiveError::Damaged {
            path: self.root.clone(),
            what: what.to_owned(),
            detail: detail.into(),
        }
    }
}

/// Turns a failure to understand stored bytes into one that names the archive.
pub fn understood(root: &Path, place: &str, error: FormatError) -> ArchiveError {
    let path = root.to_owned();
    match error {
        FormatError::Newer { what, found, known } => {
            ArchiveError::Newer { path, what: format!("the {what} at {place}"), found, known }
        }
        FormatError::Damaged { what, detail } => {
            ArchiveError::Damaged { path, what: format!("the {what} at {place}"), detail }
        }
        FormatError::Unstorable { what, detail } => {
            ArchiveError::Refused { what: what.to_owned(), reason: detail }
        }
    }
}

/// What a reference points to.
pub fn reference(repo: &Repository, name: &str) -> std::result::Result<Option<Oid>, git2::Error> {
    match repo.refname_to_id(name) {
        Ok(oid) => Ok(Some(oid)),
        Err(e) if e.code() == ErrorCode::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

fn names(repo: &Repository, prefix: &str) -> std::result::Result<Vec<String>, git2::Error> {
    let mut names = Vec::new();
    let mut references = repo.references_glob(&format!("{prefix}*"))?;
    for name in references.names() {
        if let Some(last) = name?.strip_prefix(prefix) {
            names.push(last.to_owned());
        }
    }
    names.sort();
    names.dedup();
    Ok(names)
}

/// The tree of the commit that a reference points to.
pub fn tree_of(
    repo: &Repository,
    commit: Option<Oid>,
) -> std::result::Result<Option<Oid>, git2::Error> {
    commit.map(|oid| Ok(repo.find_commit(oid)?.tree_id())).transpose()
}

/// The blob of a key in an evidence tree.
pub fn evidence_entry(
    repo: &Repository,
    root: Oid,
    key: &EvidenceKey,
) -> std::result::Result<Option<Oid>, git2::Error> {
    let (first, second, name) = layout::evidence_path(key);
    let mut oid = root;
    for part in [first, second, name] {
        match repo.find_tree(oid)?.get_name(part) {
            Some(entry) => oid = entry.id(),
            None => return Ok(None),
        }
    }
    Ok(Some(oid))
}

/// Blobs of a chain of records up to `head`, oldest first, as (commit, blob).
pub fn chain(
    repo: &Repository,
    head: Option<Oid>,
) -> std::result::Result<Vec<(Oid, Oid)>, git2::Error> {
    let (mut records, mut next) = (Vec::new(), head);
    while let Some(oid) = next {
        let commit = repo.find_commit(oid)?;
        let tree = commit.tree()?;
        let entry = tree.get(0).ok_or_else(|| {
            git2::Error::from_str(&format!("commit {oid} of a chain of records holds none"))
        })?;
        records.push((oid, entry.id()));
        next = commit.parent_ids().next();
    }
    records.reverse();
    Ok(records)
}

/// The candidate that a commit message names.
pub fn candidate_of(message: &str) -> Option<CandidateId> {
    message.lines().rev().find_map(|line| line.strip_prefix(CANDIDATE_TRAILER)?.parse().ok())
}

fn collect_files(
    repo: &Repository,
    tree: Oid,
    prefix: &str,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> std::result::Result<(), git2::Error> {
    for entry in &repo.find_tree(tree)? {
        let path = format!("{prefix}{}", String::from_utf8_lossy(entry.name_bytes()));
        match entry.kind() {
            Some(ObjectType::Tree) => collect_files(repo, entry.id(), &format!("{path}/"), files)?,
            _ => {
                files.insert(path, repo.odb()?.read(entry.id())?.data().to_vec());
            }
        }
    }
    Ok(())
}
