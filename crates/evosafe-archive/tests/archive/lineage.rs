//! Candidates as git shows them, without this program.

use std::collections::BTreeMap;
use std::path::Path;

use evosafe_archive::{Archive, ArchiveError};
use serde_json::json;

use crate::samples::{evidence, files, git, id_of, put, references, run, stage};

/// A small search: two seeds, a child each, a merge; results, a run, evidence.
fn search(path: &Path, flush_often: bool, order: &[u64]) {
    let archive = Archive::open(path).expect("opens");
    let flush = |archive: &Archive| {
        if flush_often {
            archive.flush().expect("flushes");
        }
    };
    let h0 = put(&archive, "no-defence", &[]);
    flush(&archive);
    let scope = put(&archive, "scope", &[]);
    let left = put(&archive, "left", &[&h0]);
    archive.append_result(&left, &stage(1)).expect("appends");
    flush(&archive);
    let right = put(&archive, "right", &[&scope]);
    let merge = put(&archive, "merge", &[&right, &left]);
    archive.append_result(&left, &stage(2)).expect("appends");
    archive.append_result(&merge, &stage(1)).expect("appends");
    for n in order {
        archive.record_evidence(&evidence(*n, 3_000), &run(1)).expect("records");
        if n % 7 == 0 {
            flush(&archive);
        }
    }
    archive.put_run(&run(1), &json!({"best": null})).expect("puts");
    flush(&archive);
    archive.put_run(&run(1), &json!({"best": merge})).expect("puts");
    archive.flush().expect("flushes");
}

#[test]
fn the_same_search_has_the_same_objects_however_it_was_flushed() {
    let (a, b) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let order: Vec<u64> = (0..40).collect();
    let mut reversed = order.clone();
    reversed.reverse();
    search(a.path(), false, &order);
    search(b.path(), true, &reversed);
    // The chain of evidence tells how it came in; what it holds is the same.
    let chains = ["refs/evosafe/evidence"];
    let stable = |path| {
        let mut references = references(path);
        references.retain(|line| !chains.iter().any(|chain| line.starts_with(chain)));
        references
    };
    assert_eq!(stable(a.path()), stable(b.path()));
    let tree = |path| git(path, &["rev-parse", "refs/evosafe/evidence^{tree}"]);
    assert_eq!(tree(a.path()), tree(b.path()));
}

#[test]
fn object_ids_are_fixed() {
    // A change of these ids makes every archive out there incomparable: bump the format.
    let dir = tempfile::tempdir().expect("a folder");
    search(dir.path(), false, &[3, 1, 2]);
    let merge = id_of(&files("merge"));
    let ids = git(
        dir.path(),
        &[
            "rev-parse",
            &format!("refs/evosafe/candidates/{merge}"),
            &format!("refs/evosafe/results/{merge}"),
            &format!("refs/evosafe/runs/{}", run(1)),
        ],
    );
    let expected = include_str!("object_ids.txt");
    assert_eq!(ids, expected.trim());
}

#[test]
fn plain_git_shows_the_lineage() {
    let dir = tempfile::tempdir().expect("a folder");
    search(dir.path(), true, &[1, 2]);
    let path = dir.path();
    assert_eq!(git(path, &["fsck", "--strict", "--no-dangling"]), "");
    let merge = id_of(&files("merge"));
    // HEAD is the best candidate: a bare `git log --graph` is its lineage.
    let graph = git(path, &["log", "--graph", "--format=%s%n%an <%ae> %ad", "--date=unix"]);
    let expected = "\
*   merge: an edit
|\\  evosafe <evosafe@localhost> 1735689602
| * left: an edit
| | evosafe <evosafe@localhost> 1735689601
| * no-defence: an edit
|   evosafe <evosafe@localhost> 1735689600
* right: an edit
| evosafe <evosafe@localhost> 1735689601
* scope: an edit
  evosafe <evosafe@localhost> 1735689600";
    assert_eq!(trimmed(&graph), expected);
    let all = git(path, &["log", "--graph", "--all", "--format=%s"]);
    for subject in ["left: an edit", "result", "evidence of 2 episodes", "run "] {
        assert!(all.contains(subject), "{subject} in {all}");
    }
    let policy = git(path, &["show", &format!("refs/evosafe/candidates/{merge}:POLICY.md")]);
    assert_eq!(policy, "# merge");
    let parents = git(path, &["rev-list", "--parents", "-1", "HEAD"]);
    assert_eq!(parents.split(' ').count(), 3, "a merge has two parents");
    let record = git(path, &["show", &format!("refs/evosafe/results/{merge}:record.json")]);
    assert!(record.starts_with(r#"{"version":1,"candidate":""#), "{record}");
}

fn trimmed(text: &str) -> String {
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[test]
fn nothing_is_lost_to_garbage_collection_or_in_a_clone() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("archive");
    search(&path, true, &(0..30).collect::<Vec<_>>());
    git(&path, &["-c", "gc.reflogExpire=now", "gc", "-q", "--prune=now"]);
    let check = |path: &Path| {
        let report = Archive::fsck(path, &crate::samples::checked_id).expect("checks");
        assert_eq!(report.problems, []);
        assert_eq!((report.candidates, report.evidence), (5, 30));
    };
    check(&path);
    // After packing, references are in one file, and so are objects: all goes on.
    let archive = Archive::open(&path).expect("opens");
    put(&archive, "another", &[&id_of(&files("merge"))]);
    archive.record_evidence(&evidence(77, 100), &run(1)).expect("records");
    archive.flush().expect("flushes");
    drop(archive);
    let mirror = dir.path().join("mirror");
    git(
        &path,
        &["clone", "-q", "--mirror", &path.display().to_string(), &mirror.display().to_string()],
    );
    let archive = Archive::open(&mirror).expect("a mirror is an archive");
    assert_eq!(archive.candidates().expect("lists").len(), 6);
    assert_eq!(archive.evidence_keys().expect("lists").len(), 31);
    assert!(archive.outcome(&crate::samples::key(77)).expect("reads").is_some());
}

#[test]
fn lineage_can_be_asked_for_before_and_after_a_flush() {
    let dir = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(dir.path()).expect("opens");
    let a = put(&archive, "a", &[]);
    let b = put(&archive, "b", &[]);
    let c = put(&archive, "c", &[&b, &a]);
    for _ in 0..2 {
        assert_eq!(archive.parents(&a).expect("reads"), []);
        assert_eq!(archive.parents(&c).expect("reads"), [b.clone(), a.clone()]);
        assert_eq!(archive.resolve(&c.as_str()[..8]).expect("finds"), c);
        assert_eq!(archive.resolve(&c.as_str()[..8].to_uppercase()).expect("finds"), c);
        archive.flush().expect("flushes");
    }
}

#[test]
fn prefixes_are_unique_or_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(dir.path()).expect("opens");
    let ids: Vec<_> = (0..40).map(|n| put(&archive, &format!("c{n}"), &[])).collect();
    // Forty ids over sixteen digits: some digit starts two.
    let digit = ids
        .iter()
        .map(|id| &id.as_str()[..1])
        .find(|digit| ids.iter().filter(|id| id.as_str().starts_with(*digit)).count() > 1);
    let Err(ArchiveError::Ambiguous { matches, .. }) = archive.resolve(digit.expect("pigeons"))
    else {
        panic!("it is ambiguous");
    };
    assert!(matches.len() > 1);
    for none in ["", "xyz", &"0".repeat(64), "best"] {
        assert!(matches!(archive.resolve(none), Err(ArchiveError::NotFound { .. })), "{none}");
    }
}

#[test]
fn folders_and_any_bytes_in_a_bundle_survive() {
    let dir = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(dir.path()).expect("opens");
    let files = BTreeMap::from([
        ("harness.js".to_owned(), vec![0, 1, 255, 10, 13]),
        ("lib/a.js".to_owned(), b"a".to_vec()),
        ("lib/deep/b.js".to_owned(), Vec::new()),
        ("lib.txt".to_owned(), b"sorts between".to_vec()),
    ]);
    let id = id_of(&files);
    archive.put_candidate(&files, &id, &[], "\u{0}\n").expect("puts");
    assert_eq!(archive.candidate_files(&id).expect("reads"), Some(files.clone()));
    archive.flush().expect("flushes");
    assert_eq!(archive.candidate_files(&id).expect("reads"), Some(files));
    let subject = git(dir.path(), &["log", "-1", "--format=%s"]);
    assert_eq!(subject, format!("candidate {}", id.short()));
}

#[test]
fn a_candidate_without_its_parents_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(dir.path()).expect("opens");
    let stranger = id_of(&files("stranger"));
    let child = files("child");
    let put = |parents: &[_]| archive.put_candidate(&child, &id_of(&child), parents, "x");
    let error = put(std::slice::from_ref(&stranger)).expect_err("the parent is unknown");
    assert!(error.to_string().contains(stranger.as_str()), "{error}");
    let error = archive.append_result(&stranger, &stage(1)).expect_err("unknown");
    assert!(matches!(error, ArchiveError::NotFound { .. }));
    assert_eq!(archive.candidates().expect("lists"), []);
}
