//! Many new objects into one pack.
//!
//! A mempack takes the objects, so that nothing loose is written; a pack builder is
//! then given exactly what was staged. `git_mempack_dump` is not used: it packs all
//! that a staged commit reaches, which for the evidence chain is every blob of the
//! archive, each time (see the decision record on packing).

use std::cell::RefCell;
use std::collections::HashSet;

use git2::{ObjectType, Odb, Oid, Repository, Signature, Time, Tree};

use crate::layout::Layout;
use crate::store::open_repository;

/// Seconds of 2025-01-01T00:00:00Z: the time of a commit without parents. A commit is
/// one second younger than its youngest parent: deterministic, and in the order that
/// `git log` expects.
const EPOCH: i64 = 1_735_689_600;

type Git<T> = Result<T, git2::Error>;

/// Takes new objects.
pub struct Staging<'a> {
    /// The repository; it sees what was staged.
    pub repo: &'a Repository,
    odb: &'a Odb<'a>,
    staged: RefCell<(Vec<Oid>, HashSet<Oid>)>,
}

impl Staging<'_> {
    fn note(&self, oid: Oid) -> Oid {
        let mut staged = self.staged.borrow_mut();
        if staged.1.insert(oid) {
            staged.0.push(oid);
        }
        oid
    }

    /// Stages a blob.
    pub fn blob(&self, bytes: &[u8]) -> Git<Oid> {
        Ok(self.note(self.odb.write(ObjectType::Blob, bytes)?))
    }

    /// Stages a tree: `base` with entries set. `mode` is `0o100644` or `0o040000`.
    pub fn tree<'n>(
        &self,
        base: Option<&Tree<'_>>,
        entries: impl IntoIterator<Item = (&'n str, Oid, i32)>,
    ) -> Git<Oid> {
        let mut builder = self.repo.treebuilder(base)?;
        for (name, oid, mode) in entries {
            builder.insert(name, oid, mode)?;
        }
        Ok(self.note(builder.write()?))
    }

    /// Stages a commit with our identity and a time that follows from its parents.
    pub fn commit(&self, tree: Oid, parents: &[Oid], message: &str) -> Git<Oid> {
        let tree = self.repo.find_tree(tree)?;
        let parents: Vec<_> =
            parents.iter().map(|oid| self.repo.find_commit(*oid)).collect::<Git<_>>()?;
        let time = parents.iter().map(|p| p.time().seconds() + 1).fold(EPOCH, i64::max);
        let who = Signature::new("evosafe", "evosafe@localhost", &Time::new(time, 0))?;
        let parents: Vec<_> = parents.iter().collect();
        let bytes = self.repo.commit_create_buffer(&who, &who, message, &tree, &parents)?;
        Ok(self.note(self.odb.write(ObjectType::Commit, &bytes)?))
    }

    /// Stages a commit that holds one file, at the end of a chain.
    pub fn record(&self, head: Option<Oid>, file: &str, blob: Oid, message: &str) -> Git<Oid> {
        let tree = self.tree(None, [(file, blob, 0o100_644)])?;
        self.commit(tree, head.as_slice(), message)
    }
}

/// Lets `work` stage objects, and writes them into one pack. When this returns, they are
/// on disk and can be read by a repository opened anew.
pub fn write<T>(layout: &Layout, work: impl FnOnce(&Staging<'_>) -> Git<T>) -> Git<T> {
    let repo = open_repository(layout)?;
    let odb = repo.odb()?;
    let mempack = odb.add_new_mempack_backend(1_000)?;
    let staging = Staging { repo: &repo, odb: &odb, staged: RefCell::default() };
    let result = work(&staging)?;
    let staged = staging.staged.into_inner().0;
    if staged.is_empty() {
        return Ok(result);
    }
    let mut builder = repo.packbuilder()?;
    builder.set_threads(1);
    for oid in &staged {
        builder.insert_object(*oid, None)?;
    }
    let count = builder.object_count();
    if count != staged.len() {
        return Err(mismatch(staged.len(), count));
    }
    builder.write(&layout.packs(), 0o444)?;
    drop(builder);
    mempack.reset()?;
    // A second look, past the mempack and every cache: only then may references move.
    let fresh = open_repository(layout)?;
    let odb = fresh.odb()?;
    let found = staged.iter().filter(|oid| odb.exists(**oid)).count();
    if found == staged.len() { Ok(result) } else { Err(mismatch(staged.len(), found)) }
}

fn mismatch(staged: usize, found: usize) -> git2::Error {
    git2::Error::from_str(&format!("{staged} objects were staged, the pack holds {found}"))
}
