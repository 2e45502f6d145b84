//! `kill -9` at any moment: what was acknowledged is there, and going on ends where an
//! uninterrupted process ends.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use evosafe_archive::Archive;
use evosafe_types::{CandidateId, Event};
use serde_json::json;

use crate::samples::{checked_id, evidence, files, git, id_of, key, put, references, run, stage};

/// Set in the child: the archive to write.
const CHILD: &str = "EVOSAFE_TEST_ARCHIVE_CHILD";
const STEPS: u64 = 24;
const EPISODES: u64 = 6;

fn name(step: u64) -> String {
    format!("candidate-{step}")
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // The parent may be gone; then there is nobody to tell.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// What the child does: a small search, saying what was acknowledged and when it flushes.
fn search(path: &Path, tell: &(dyn Fn(&str) + Sync)) {
    let archive = Archive::open(path).expect("opens");
    let mut parent: Option<CandidateId> = None;
    for step in 0..STEPS {
        let id = put(&archive, &name(step), &parent.iter().collect::<Vec<_>>());
        tell(&format!("candidate {step}"));
        std::thread::scope(|scope| {
            for n in step * EPISODES..(step + 1) * EPISODES {
                let archive = &archive;
                scope.spawn(move || {
                    archive.record_evidence(&evidence(n, 8_000), &run(1)).expect("records");
                    tell(&format!("episode {n}"));
                });
            }
        });
        archive.append_result(&id, &stage(step)).expect("appends");
        tell(&format!("result {step}"));
        archive.put_run(&run(1), &json!({"steps": step, "best": id})).expect("puts");
        tell(&format!("run {step}"));
        if step % 3 == 2 {
            tell("flush");
            archive.flush().expect("flushes");
            tell("flushed");
        }
        parent = Some(id);
    }
    archive.flush().expect("flushes");
    tell("end");
}

#[test]
#[ignore = "the other tests of this file run it as a child"]
fn child() {
    if let Some(path) = std::env::var_os(CHILD) {
        search(Path::new(&path), &say);
    }
}

/// Where to kill: at the first of these lines, this long after it.
struct Moment {
    line: &'static str,
    count: usize,
    delay: Duration,
}

/// Runs the child until the moment, or to its end; returns what it was told.
fn run_child(path: &Path, moment: Option<&Moment>) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().expect("a path"))
        .args(["kill::child", "--exact", "--ignored", "--nocapture"])
        .env(CHILD, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("starts");
    let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
    let (mut lines, mut seen) = (Vec::new(), 0);
    let mut stdout = stdout.lines();
    for line in stdout.by_ref() {
        let line = line.expect("text");
        seen += usize::from(moment.is_some_and(|m| line.starts_with(m.line)));
        lines.push(line);
        if let Some(moment) = moment.filter(|m| seen == m.count) {
            std::thread::sleep(moment.delay);
            child.kill().expect("kills");
            break;
        }
    }
    // What it said before it died counts as well.
    lines.extend(stdout.map_while(Result::ok));
    child.wait().expect("ends");
    lines
}

/// Checks that all that was acknowledged is in the archive.
fn check(path: &Path, told: &[String]) {
    let report = Archive::fsck(path, &checked_id).expect("checks");
    assert_eq!(report.problems, []);
    let archive = Archive::open(path).expect("opens");
    for line in told {
        let Some((what, n)) = line.split_once(' ') else { continue };
        let Ok(n) = n.parse::<u64>() else { continue };
        let id = id_of(&files(&name(n)));
        match what {
            "candidate" => {
                let found = archive.candidate_files(&id).expect("reads");
                assert_eq!(found, Some(files(&name(n))), "{line}");
            }
            "episode" => {
                let expected = evidence(n, 8_000);
                let (outcome, _) = archive.outcome(&key(n)).expect("reads").expect("recorded");
                assert_eq!(outcome, expected.outcome, "{line}");
                let found = archive.evidence(&key(n)).expect("reads");
                assert_eq!(found, Some(expected), "{line}");
            }
            "result" => {
                assert_eq!(archive.results(&id).expect("reads"), [stage(n)], "{line}");
            }
            "run" => {
                let runs = archive.runs().expect("reads");
                let steps = runs[0].1["steps"].as_u64().expect("a number");
                assert!(steps >= n, "{line}");
            }
            _ => {}
        }
    }
}

#[test]
fn nothing_acknowledged_is_lost_and_the_end_is_the_same() {
    let dir = tempfile::tempdir().expect("a folder");
    let straight = dir.path().join("straight");
    search(&straight, &|_| {});
    let moment = |line, count, micros| Moment { line, count, delay: Duration::from_micros(micros) };
    let mut moments = vec![
        moment("candidate", 1, 0),
        moment("episode", 1, 300),
        moment("episode", 4, 0),
        moment("result", 1, 100),
        moment("run", 2, 0),
        moment("flushed", 1, 0),
    ];
    for step in 0..14 {
        moments.push(moment("flush", 1, step * step * 250));
    }
    moments.push(moment("flush", 3, 2_000));
    moments.push(moment("episode", 60, 700));
    let killed = dir.path().join("killed");
    let mut told = Vec::new();
    for moment in &moments {
        told.extend(run_child(&killed, Some(moment)));
        check(&killed, &told);
    }
    told.extend(run_child(&killed, None));
    check(&killed, &told);
    assert!(told.iter().any(|line| line == "end"), "the last child did not come to its end");
    let stable = |path| {
        let mut references = references(path);
        // How evidence came in may differ; what is there may not.
        references.retain(|line| !line.starts_with("refs/evosafe/evidence"));
        (references, git(path, &["rev-parse", "refs/evosafe/evidence^{tree}", "HEAD"]))
    };
    assert_eq!(stable(&killed), stable(&straight));
}

#[test]
fn a_held_out_opening_survives() {
    let dir = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(dir.path()).expect("opens");
    let opened = Event::HeldOutOpened {
        candidate: CandidateId::of(&[b"c"]),
        tasks: 60,
        victim: "v".to_owned(),
    };
    archive.append_event(&opened, 7).expect("appends");
    // As after a kill: nothing is closed, nothing flushed.
    std::mem::forget(archive);
    let reader = Archive::open_read(dir.path()).expect("opens");
    assert_eq!(reader.events().expect("reads"), [(7, opened)]);
}
