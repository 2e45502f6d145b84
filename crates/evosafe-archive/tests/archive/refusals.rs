//! Folders that cannot be used: each has its own error, which names the path and says
//! what to do.

use std::fs;
use std::path::Path;
use std::process::Command;

use evosafe_archive::{Archive, ArchiveError};
use evosafe_types::Event;
use serde_json::json;

use crate::samples::{checked_id, evidence, git, key, put, run, stage};

fn refusal<T>(result: Result<T, ArchiveError>) -> (ArchiveError, String) {
    let Err(error) = result else { panic!("it should be refused") };
    let text = error.to_string();
    (error, text)
}

#[test]
fn a_second_writer_is_told_who_the_first_is() {
    let dir = tempfile::tempdir().expect("a folder");
    let first = Archive::open(dir.path()).expect("opens");
    let (error, text) = refusal(Archive::open(dir.path()));
    let ArchiveError::Locked { pid, .. } = error else { panic!("{error:?}") };
    assert_eq!(pid, Some(std::process::id()));
    assert!(text.contains(&dir.path().display().to_string()), "{text}");
    assert!(matches!(Archive::reindex(dir.path()), Err(ArchiveError::Locked { .. })));
    // Reading and checking go on.
    put(&first, "seed", &[]);
    let reader = Archive::open_read(dir.path()).expect("reads");
    assert_eq!(reader.candidates().expect("lists").len(), 1);
    let report = Archive::fsck(dir.path(), &checked_id).expect("checks");
    assert!(report.is_sound());
    assert!(report.notices.iter().any(|n| n.contains("in use by process")), "{report:?}");
    drop(first);
    Archive::open(dir.path()).expect("opens when the first is gone");
}

#[test]
fn what_is_no_archive_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().expect("a folder");
    let missing = dir.path().join("missing");
    for result in [
        Archive::open_read(&missing).map(drop),
        Archive::fsck(&missing, &checked_id).map(drop),
        Archive::reindex(&missing).map(drop),
    ] {
        assert!(matches!(refusal(result).0, ArchiveError::Missing { .. }));
    }
    assert!(!missing.exists());

    let file = dir.path().join("file");
    fs::write(&file, "x").expect("writes");
    let folder = dir.path().join("folder");
    fs::create_dir(&folder).expect("makes");
    fs::write(folder.join("thesis.tex"), "x").expect("writes");
    let repository = dir.path().join("repository");
    git(&repository, &["init", "-q", "--bare", &repository.display().to_string()]);
    for (path, found) in
        [(&file, "a file"), (&folder, "thesis.tex"), (&repository, "another git repository")]
    {
        for result in [Archive::open(path).map(drop), Archive::open_read(path).map(drop)] {
            let (error, text) = refusal(result);
            assert!(matches!(error, ArchiveError::Foreign { .. }), "{text}");
            assert!(text.contains(found) && text.contains(&path.display().to_string()), "{text}");
        }
    }
    assert_eq!(fs::read_dir(&folder).expect("lists").count(), 1);
    // A README is no content: the default location has one.
    let readme = dir.path().join("readme");
    fs::create_dir(&readme).expect("makes");
    fs::write(readme.join("README.md"), "x").expect("writes");
    let (error, _) = refusal(Archive::open_read(&readme));
    assert!(matches!(error, ArchiveError::Missing { .. }));
    Archive::open(&readme).expect("opens");
    assert_eq!(fs::read_to_string(readme.join("README.md")).expect("reads"), "x");
}

#[test]
fn a_newer_archive_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    drop(Archive::open(dir.path()).expect("opens"));
    let path = dir.path().display();
    let script = format!(
        "export GIT_DIR={path}; printf '{{\"version\":7,\"format\":\"evosafe-archive\",\"new\":1}}' \
         | git hash-object -w --stdin | xargs git update-ref refs/evosafe/format"
    );
    assert!(Command::new("sh").args(["-c", &script]).status().expect("runs").success());
    let results = [Archive::open(dir.path()).map(drop), Archive::open_read(dir.path()).map(drop)];
    for result in results {
        let (error, text) = refusal(result);
        assert!(matches!(error, ArchiveError::Newer { found: 7, known: 1, .. }), "{text}");
        assert!(text.contains("use a newer evosafe"), "{text}");
    }
}

#[test]
fn a_newer_journal_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(dir.path()).expect("opens");
    archive.record_evidence(&evidence(1, 100), &run(1)).expect("records");
    drop(archive);
    let file = dir.path().join("evosafe/journal/00000001.log");
    let mut bytes = fs::read(&file).expect("reads");
    bytes[16] = 2;
    bytes.extend([1, 2, 3]);
    fs::write(&file, &bytes).expect("writes");
    let results = [Archive::open(dir.path()).map(drop), Archive::open_read(dir.path()).map(drop)];
    for result in results {
        let (error, text) = refusal(result);
        assert!(matches!(error, ArchiveError::Newer { found: 2, .. }), "{text}");
        assert!(text.contains("00000001.log"), "{text}");
    }
    assert_eq!(fs::read(&file).expect("reads"), bytes);
    assert!(!Archive::fsck(dir.path(), &checked_id).expect("checks").is_sound());
}

#[test]
fn a_reader_cannot_write() {
    let dir = tempfile::tempdir().expect("a folder");
    let id = put(&Archive::open(dir.path()).expect("opens"), "seed", &[]);
    let reader = Archive::open_read(dir.path()).expect("opens");
    let event = Event::Warning { message: String::new() };
    for result in [
        reader.record_evidence(&evidence(1, 10), &run(1)),
        reader.append_result(&id, &stage(1)).map(drop),
        reader.put_run(&run(1), &json!({})),
        reader.append_event(&event, 1),
        reader.flush(),
    ] {
        assert!(matches!(refusal(result).0, ArchiveError::OpenedForReading { .. }));
    }
}

/// A small file system of its own; unmounted when dropped.
struct Tmpfs {
    dir: tempfile::TempDir,
}

impl Tmpfs {
    /// `None` where this process may not mount.
    fn new(size: &str) -> Option<Self> {
        let dir = tempfile::tempdir().expect("a folder");
        let this = Self { dir };
        this.mount(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).then_some(this)
    }

    fn mount(&self, arguments: &[&str]) -> bool {
        let output = Command::new("mount").args(arguments).arg(self.path()).output();
        let mounted = output.as_ref().is_ok_and(|output| output.status.success());
        if !mounted {
            eprintln!("SKIPPED: a part that needs `mount` ({output:?})");
        }
        mounted
    }

    /// Makes it read-only. A child that another test has just forked may hold a copy of a
    /// file that was open for writing, for a moment: the kernel then says "busy".
    fn make_read_only(&self) -> bool {
        (0..20).any(|attempt| {
            std::thread::sleep(std::time::Duration::from_millis(100 * u64::from(attempt > 0)));
            self.mount(&["-o", "remount,ro"])
        })
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).output();
    }
}

#[test]
fn a_full_disk_is_said_and_costs_nothing_acknowledged() {
    let Some(disk) = Tmpfs::new("3m") else { return };
    let path = disk.path().join("archive");
    let archive = Archive::open(&path).expect("opens");
    let mut acknowledged = 0;
    let (error, text) = loop {
        match archive.record_evidence(&evidence(acknowledged, 60_000), &run(1)) {
            Ok(()) => acknowledged += 1,
            Err(error) => break refusal::<()>(Err(error)),
        }
    };
    assert!(matches!(error, ArchiveError::DiskFull { .. }), "{text}");
    assert!(acknowledged > 20, "{acknowledged}");
    // There is no room for git to take it up either, and that is no loss.
    let (error, text) = refusal(archive.flush());
    assert!(matches!(error, ArchiveError::DiskFull { .. }), "{text}");
    let (error, text) = loop {
        let event = Event::Warning { message: "x".repeat(4_000) };
        if let Err(error) = archive.append_event(&event, 1) {
            break refusal::<()>(Err(error));
        }
    };
    assert!(matches!(error, ArchiveError::DiskFull { .. }), "{text}");
    assert!(disk.mount(&["-o", "remount,size=40m"]));
    // Room again: the same process goes on, and so does a later one.
    archive.record_evidence(&evidence(acknowledged, 60_000), &run(1)).expect("records");
    archive.flush().expect("flushes");
    drop(archive);
    let archive = Archive::open(&path).expect("opens");
    for n in 0..=acknowledged {
        assert_eq!(archive.evidence(&key(n)).expect("reads"), Some(evidence(n, 60_000)), "{n}");
    }
    drop(archive);
    assert_eq!(Archive::fsck(&path, &checked_id).expect("checks").problems, []);
}

#[test]
fn a_read_only_folder_can_be_read_and_not_written() {
    let Some(disk) = Tmpfs::new("20m") else { return };
    let path = disk.path().join("archive");
    let archive = Archive::open(&path).expect("opens");
    put(&archive, "seed", &[]);
    archive.record_evidence(&evidence(1, 1_000), &run(1)).expect("records");
    archive.flush().expect("flushes");
    archive.record_evidence(&evidence(2, 1_000), &run(1)).expect("records");
    drop(archive);
    assert!(disk.make_read_only());
    for refused in [path.clone(), disk.path().join("new")] {
        let (error, text) = refusal(Archive::open(&refused));
        assert!(matches!(error, ArchiveError::NotWritable { .. }), "{text}");
        assert!(text.contains(&disk.path().display().to_string()), "{text}");
    }
    let reader = Archive::open_read(&path).expect("reads");
    assert_eq!(reader.evidence_keys().expect("lists").len(), 2);
    assert!(reader.outcome(&key(1)).expect("reads").is_some());
    let report = Archive::fsck(&path, &checked_id).expect("checks");
    assert_eq!(report.problems, []);
    assert!(report.notices.iter().any(|n| n.contains("read-only")), "{report:?}");
}
