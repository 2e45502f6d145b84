//! Damaged files: said, repaired where git or the journal has the truth, never guessed at.

use std::fs;
use std::path::{Path, PathBuf};

use evosafe_archive::{Archive, ArchiveError};
use evosafe_types::CandidateId;

use crate::samples::{checked_id, evidence, git, key, put, run, stage};

/// An archive with 20 pieces of evidence in git, and 5 in the journal if asked for.
fn filled(path: &Path, pending: bool) {
    let archive = Archive::open(path).expect("opens");
    let id = put(&archive, "seed", &[]);
    archive.append_result(&id, &stage(1)).expect("appends");
    for n in 0..20 {
        archive.record_evidence(&evidence(n, 2_000), &run(1)).expect("records");
    }
    archive.flush().expect("flushes");
    if pending {
        for n in 20..25 {
            archive.record_evidence(&evidence(n, 2_000), &run(1)).expect("records");
        }
    }
}

fn all_there(path: &Path, count: u64) -> Vec<String> {
    let archive = Archive::open(path).expect("opens");
    for n in 0..count {
        let (outcome, by) = archive.outcome(&key(n)).expect("reads").expect("it is there");
        assert_eq!((outcome, by), (evidence(n, 2_000).outcome, run(1)));
    }
    archive.notices()
}

fn problems(path: &Path) -> Vec<String> {
    let report = Archive::fsck(path, &checked_id).expect("checks");
    report.problems.into_iter().map(|p| format!("{}: {}", p.place, p.what)).collect()
}

fn only_file(folder: PathBuf) -> PathBuf {
    fs::read_dir(folder).expect("lists").next().expect("a file").expect("reads").path()
}

#[test]
fn a_damaged_index_is_moved_aside_and_rebuilt() {
    type Damage<'a> = &'a dyn Fn(&mut Vec<u8>);
    let damages: [Damage<'_>; 5] = [
        &|bytes| bytes.fill(0xAB),
        &|bytes| bytes.truncate(bytes.len() / 3),
        &|bytes| bytes.clear(),
        &|bytes| bytes.iter_mut().step_by(97).for_each(|b| *b ^= 0x55),
        &|bytes| bytes.iter_mut().take(64).for_each(|b| *b = 0xFF),
    ];
    for (n, damage) in damages.iter().enumerate() {
        for name in ["db", "conf"] {
            let dir = tempfile::tempdir().expect("a folder");
            filled(dir.path(), true);
            let file = dir.path().join("evosafe/index").join(name);
            let mut bytes = fs::read(&file).expect("reads");
            damage(&mut bytes);
            fs::write(&file, bytes).expect("writes");
            let reader = Archive::open_read(dir.path()).expect("needs no index");
            assert!(reader.outcome(&key(3)).expect("reads").is_some());
            let notices = all_there(dir.path(), 25);
            assert!(
                notices.iter().all(|notice| notice.contains("rebuilt")),
                "{n} {name}: {notices:?}"
            );
            assert_eq!(all_there(dir.path(), 25), Vec::<String>::new(), "{n} {name}");
            assert_eq!(problems(dir.path()), Vec::<String>::new(), "{n} {name}");
        }
    }
}

#[test]
fn an_index_that_is_garbage_is_said_to_be_and_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    filled(dir.path(), false);
    for name in ["db", "conf"] {
        fs::write(dir.path().join("evosafe/index").join(name), vec![0xAB; 8_192]).expect("writes");
    }
    assert_eq!(problems(dir.path()).len(), 1);
    let notices = all_there(dir.path(), 20);
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains("index.damaged-1"), "{notices:?}");
    assert!(dir.path().join("evosafe/index.damaged-1").is_dir());
    fs::remove_dir_all(dir.path().join("evosafe/index")).expect("removes");
    assert_eq!(all_there(dir.path(), 20), Vec::<String>::new());
}

#[test]
fn reindex_mends_an_index_that_lies() {
    let dir = tempfile::tempdir().expect("a folder");
    filled(dir.path(), false);
    // Another archive's index: sound as a file, and wrong.
    let other = tempfile::tempdir().expect("a folder");
    {
        let archive = Archive::open(other.path()).expect("opens");
        archive.record_evidence(&evidence(99, 100), &run(3)).expect("records");
        archive.flush().expect("flushes");
    }
    let index = dir.path().join("evosafe/index");
    fs::remove_dir_all(&index).expect("removes");
    fs::rename(other.path().join("evosafe/index"), &index).expect("moves");
    let notices = all_there(dir.path(), 20);
    assert!(notices[0].contains("did not agree"), "{notices:?}");
    let report = Archive::reindex(dir.path()).expect("rebuilds");
    assert_eq!(report.evidence, 20);
    assert_eq!(problems(dir.path()), Vec::<String>::new());
}

#[test]
fn a_torn_tail_of_the_journal_is_cut_off_and_reported() {
    let dir = tempfile::tempdir().expect("a folder");
    filled(dir.path(), true);
    let file = only_file(dir.path().join("evosafe/journal"));
    let whole = fs::read(&file).expect("reads");
    // Cut the last record at several places, and leave rubbish behind it.
    for (keep, rubbish) in [(whole.len() - 1, 0), (whole.len() - 300, 0), (whole.len(), 700)] {
        let mut bytes = whole[..keep].to_vec();
        bytes.resize(bytes.len() + rubbish, 0);
        fs::write(&file, &bytes).expect("writes");
        let there = if rubbish > 0 { 25 } else { 24 };
        let reader = Archive::open_read(dir.path()).expect("opens");
        assert_eq!(reader.evidence_keys().expect("lists").len(), there);
        assert_eq!(problems(dir.path()), Vec::<String>::new());
        let notices = all_there(dir.path(), there as u64);
        assert_eq!(notices.len(), 1, "{notices:?}");
        assert!(notices[0].contains("cut off"), "{notices:?}");
        assert_eq!(all_there(dir.path(), there as u64), Vec::<String>::new());
    }
    let archive = Archive::open(dir.path()).expect("opens");
    archive.flush().expect("flushes");
    drop(archive);
    assert_eq!(all_there(dir.path(), 24), Vec::<String>::new());
}

#[test]
fn damage_inside_the_journal_costs_one_record() {
    let dir = tempfile::tempdir().expect("a folder");
    filled(dir.path(), true);
    let file = only_file(dir.path().join("evosafe/journal"));
    let mut bytes = fs::read(&file).expect("reads");
    bytes[200] ^= 4;
    fs::write(&file, &bytes).expect("writes");
    assert_eq!(problems(dir.path()).len(), 1);
    let archive = Archive::open(dir.path()).expect("opens");
    let notices = archive.notices();
    assert!(notices[0].contains("damaged bytes"), "{notices:?}");
    assert_eq!(archive.outcome(&key(20)).expect("reads"), None);
    archive.flush().expect("flushes");
    drop(archive);
    let archive = Archive::open_read(dir.path()).expect("opens");
    assert_eq!(archive.evidence_keys().expect("lists").len(), 24);
    assert_eq!(problems(dir.path()), Vec::<String>::new());
}

#[test]
fn fsck_finds_a_candidate_that_is_not_its_id() {
    let dir = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(dir.path()).expect("opens");
    let wrong = CandidateId::of(&[b"something else"]);
    archive.put_candidate(&crate::samples::files("x"), &wrong, &[], "x").expect("puts");
    archive.flush().expect("flushes");
    drop(archive);
    let found = problems(dir.path());
    assert!(found.len() == 1 && found[0].contains("its files are those of"), "{found:?}");
    let refusing = Archive::fsck(dir.path(), &|_| Err("no manifest".to_owned())).expect("checks");
    assert!(refusing.problems[0].what.contains("no manifest"));
}

#[test]
fn fsck_finds_a_missing_object_and_a_displaced_one() {
    let dir = tempfile::tempdir().expect("a folder");
    filled(dir.path(), false);
    // Put evidence of one key under another.
    let path = |n: u64| {
        let key = key(n).to_string();
        format!("{}/{}/{key}", &key[..2], &key[2..4])
    };
    let tree = git(dir.path(), &["rev-parse", "refs/evosafe/evidence^{tree}"]);
    let blob = git(dir.path(), &["rev-parse", &format!("{tree}:{}", path(1))]);
    let entry = format!("100644,{blob},{}", path(2));
    let script = format!(
        "export GIT_DIR={0} GIT_INDEX_FILE={0}/tmp-index; git read-tree {tree} && \
         git update-index --add --cacheinfo {entry} && \
         git update-ref refs/evosafe/evidence $(git -c user.name=x -c user.email=x commit-tree \
         -p refs/evosafe/evidence -m 'x\n\nEvosafe-Evidence: 20' $(git write-tree)); \
         rm $GIT_INDEX_FILE",
        dir.path().display()
    );
    let done = std::process::Command::new("sh").args(["-c", &script]).output().expect("runs");
    assert!(done.status.success(), "{done:?}");
    let found = problems(dir.path());
    assert!(found.iter().any(|p| p.contains("it carries the key")), "{found:?}");
    // Damage the only pack.
    let pack = fs::read_dir(dir.path().join("objects/pack"))
        .expect("lists")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(|path| path.extension().is_some_and(|ext| ext == "pack"))
        .expect("a pack");
    let mut bytes = fs::read(&pack).expect("reads");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 400].fill(0x11);
    fs::remove_file(&pack).expect("removes");
    fs::write(&pack, bytes).expect("writes");
    assert!(problems(dir.path()).len() > found.len());
}

#[test]
fn what_a_killed_flush_leaves_behind_is_swept() {
    let dir = tempfile::tempdir().expect("a folder");
    filled(dir.path(), true);
    let name = key(0);
    for left in [
        "HEAD.lock".to_owned(),
        "refs/evosafe/evidence.lock".to_owned(),
        format!("refs/evosafe/candidates/{name}.lock"),
        format!("objects/pack/pack-{}.idx.lock", &name.as_str()[..40]),
        "objects/pack/pack_git2_abcdef".to_owned(),
    ] {
        fs::write(dir.path().join(&left), "").expect("writes");
    }
    let archive = Archive::open(dir.path()).expect("opens");
    assert_eq!(archive.notices().len(), 1, "{:?}", archive.notices());
    archive.flush().expect("flushes");
    drop(archive);
    assert_eq!(all_there(dir.path(), 25), Vec::<String>::new());
    assert!(!dir.path().join("objects/pack/pack_git2_abcdef").exists());
}

#[test]
fn a_creation_that_was_interrupted_goes_on() {
    for upto in ["evosafe", "HEAD", "config", "refs"] {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a");
        drop(Archive::open(&path).expect("opens"));
        // Take away what comes after: the marker is always last.
        fs::remove_dir_all(path.join("refs/evosafe")).expect("removes");
        match upto {
            "refs" => {}
            "HEAD" | "config" => {
                fs::remove_dir_all(path.join("refs")).expect("removes");
                fs::remove_file(path.join(upto)).expect("removes");
            }
            _ => {
                for entry in fs::read_dir(&path).expect("lists") {
                    let entry = entry.expect("reads").path();
                    if entry.is_dir() && !entry.ends_with("evosafe") {
                        fs::remove_dir_all(entry).expect("removes");
                    } else if entry.is_file() {
                        fs::remove_file(entry).expect("removes");
                    }
                }
            }
        }
        fs::write(path.join("config.lock"), "").expect("writes");
        let error = Archive::open_read(&path).expect_err("there is none yet");
        assert!(matches!(error, ArchiveError::Missing { .. }), "{upto}: {error}");
        let archive = Archive::open(&path).expect("goes on");
        put(&archive, "seed", &[]);
        archive.flush().expect("flushes");
        drop(archive);
        assert_eq!(problems(&path), Vec::<String>::new());
    }
}
