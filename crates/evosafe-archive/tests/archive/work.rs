//! What is put in comes out: from the journal, from git, from a reader.

use evosafe_archive::{Archive, ResultKind, ResultRecord};
use evosafe_types::{FaultKind, Outcome};
use serde_json::json;

use crate::samples::{checked_id, evidence, files, id_of, key, put, run, stage};

#[test]
fn everything_is_there_before_and_after_a_flush_and_for_a_reader() {
    let dir = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(dir.path()).expect("opens");
    let check = |archive: &Archive| {
        let id = id_of(&files("seed"));
        assert_eq!(archive.candidates().expect("lists"), std::slice::from_ref(&id));
        assert_eq!(archive.candidate_files(&id).expect("reads"), Some(files("seed")));
        let results = archive.results(&id).expect("reads");
        assert_eq!(results, [stage(1), stage(2)]);
        for n in 0..5 {
            let expected = evidence(n, 20_000);
            let (outcome, paid_by) =
                archive.outcome(&key(n)).expect("reads").expect("it was recorded");
            assert_eq!((&outcome, paid_by), (&expected.outcome, run(1)));
            assert_eq!(archive.evidence(&key(n)).expect("reads"), Some(expected));
        }
        assert_eq!(archive.outcome(&key(99)).expect("reads"), None);
        assert_eq!(archive.evidence(&key(99)).expect("reads"), None);
        let runs = archive.runs().expect("reads");
        let expected = [(run(1), json!({"candidates": [2]})), (run(0), json!({"name": "later"}))];
        assert_eq!(runs, expected);
        assert_eq!(archive.evidence_keys().expect("lists").len(), 5);
        assert_eq!(archive.notices(), Vec::<String>::new());
    };
    let id = put(&archive, "seed", &[]);
    assert!(archive.append_result(&id, &stage(1)).expect("appends"));
    assert!(archive.append_result(&id, &stage(2)).expect("appends"));
    assert!(!archive.append_result(&id, &stage(1)).expect("knows it"));
    archive.put_run(&run(1), &json!({"candidates": [1]})).expect("puts");
    archive.put_run(&run(0), &json!({"name": "later"})).expect("puts");
    archive.put_run(&run(1), &json!({"candidates": [2]})).expect("puts");
    for n in 0..5 {
        archive.record_evidence(&evidence(n, 20_000), &run(1)).expect("records");
        archive.record_evidence(&evidence(n, 10), &run(2)).expect("ignores the second");
    }
    check(&archive);
    check(&Archive::open_read(dir.path()).expect("opens beside the writer"));
    archive.flush().expect("flushes");
    check(&archive);
    check(&Archive::open_read(dir.path()).expect("opens beside the writer"));
    assert!(!archive.append_result(&id, &stage(2)).expect("knows it"));
    put(&archive, "seed", &[]);
    archive.flush().expect("flushes nothing");
    drop(archive);
    check(&Archive::open(dir.path()).expect("opens again"));
    let report = Archive::fsck(dir.path(), &checked_id).expect("checks");
    assert_eq!(report.problems, []);
    assert_eq!((report.candidates, report.results, report.runs), (1, 2, 2));
    assert_eq!((report.evidence, report.journal), (5, 0));
    let rebuilt = Archive::reindex(dir.path()).expect("rebuilds");
    assert_eq!(rebuilt.evidence, 5);
    check(&Archive::open(dir.path()).expect("opens again"));
}

#[test]
fn a_reader_keeps_what_it_saw_when_the_writer_flushes() {
    let dir = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(dir.path()).expect("opens");
    archive.record_evidence(&evidence(1, 5_000), &run(1)).expect("records");
    let id = put(&archive, "seed", &[]);
    archive.append_result(&id, &stage(1)).expect("appends");
    let reader = Archive::open_read(dir.path()).expect("opens");
    archive.flush().expect("flushes");
    assert_eq!(reader.evidence(&key(1)).expect("reads"), Some(evidence(1, 5_000)));
    assert_eq!(reader.candidate_files(&id).expect("reads"), Some(files("seed")));
    assert_eq!(reader.results(&id).expect("reads"), [stage(1)]);
}

#[test]
fn unassessed_evidence_is_kept_and_cancelled_episodes_are_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(dir.path()).expect("opens");
    let mut lost = evidence(1, 100);
    let fault = FaultKind::RecordedApiError;
    lost.outcome = Outcome::Unassessed { fault, detail: "500".to_owned() };
    archive.record_evidence(&lost, &run(1)).expect("records");
    archive.flush().expect("flushes");
    assert_eq!(archive.evidence(&lost.key).expect("reads"), Some(lost));
    let mut cancelled = evidence(2, 100);
    cancelled.outcome = Outcome::Unassessed { fault: FaultKind::Cancelled, detail: String::new() };
    assert!(archive.record_evidence(&cancelled, &run(1)).is_err());
    assert_eq!(archive.outcome(&cancelled.key).expect("reads"), None);
}

#[test]
fn recording_from_many_threads_while_flushing_loses_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(dir.path()).expect("opens");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let archive = &archive;
            scope.spawn(move || {
                for n in 0..25 {
                    let n = thread * 25 + n;
                    archive.record_evidence(&evidence(n, 2_000), &run(1)).expect("records");
                    assert!(archive.outcome(&key(n)).expect("reads").is_some());
                }
            });
        }
        for _ in 0..10 {
            archive.flush().expect("flushes");
        }
    });
    for n in 0..200 {
        assert_eq!(archive.evidence(&key(n)).expect("reads"), Some(evidence(n, 2_000)), "{n}");
    }
    archive.flush().expect("flushes");
    assert_eq!(Archive::fsck(dir.path(), &checked_id).expect("checks").problems, []);
}

#[test]
fn all_kinds_of_results_come_back() {
    let dir = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(dir.path()).expect("opens");
    let id = put(&archive, "seed", &[]);
    use ResultKind as K;
    let kinds = [K::Stage, K::Verdict, K::Note, K::Evaluation, K::Promotion];
    let records: Vec<_> = kinds
        .into_iter()
        .map(|kind| ResultRecord { kind, run: None, body: json!({"z": 1, "a": kind.as_str()}) })
        .collect();
    for record in &records {
        assert!(archive.append_result(&id, record).expect("appends"));
    }
    archive.flush().expect("flushes");
    assert_eq!(archive.results(&id).expect("reads"), records);
}
