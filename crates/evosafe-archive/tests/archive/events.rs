//! The stream of events.

use evosafe_archive::Archive;
use evosafe_types::{
    CandidateId, ContentHash, DropReason, Event, Rate, RunId, Score, Stage, StageOutcome,
};

use crate::samples::checked_id;

fn all_kinds() -> Vec<Event> {
    let candidate = CandidateId::of(&[b"c"]);
    let run = RunId::of(&[b"r"]);
    let score = Score {
        utility: Rate { hits: 3, n: 4 },
        direct: Rate { hits: 0, n: 2 },
        indirect: Rate { hits: 1, n: 2 },
        utility_under_attack: Rate::default(),
        unassessed: 1,
        lost: [0, 1, 0],
    };
    vec![
        Event::SearchStarted {
            run: run.clone(),
            spec: "finance".to_owned(),
            victim: "sim:gullible".to_owned(),
            seed: u64::MAX,
            episodes_found: 3,
        },
        Event::Proposed {
            candidate: candidate.clone(),
            name: "n".to_owned(),
            edit: "two\nlines".to_owned(),
        },
        Event::Dropped {
            candidate: candidate.clone(),
            edit: "e".to_owned(),
            reason: DropReason::Criticizer,
        },
        Event::StageStarted { candidate: candidate.clone(), stage: Stage::Smoke, episodes: 3 },
        Event::EpisodeFinished {
            candidate: candidate.clone(),
            reused: false,
            assessed: true,
            millis: 12,
        },
        Event::StageFinished {
            candidate: candidate.clone(),
            stage: Stage::Gate,
            outcome: StageOutcome::Stopped {
                score: Some(score),
                upper_bound: Some(-12.25),
                reason: "below".to_owned(),
            },
        },
        Event::StageFinished {
            candidate: candidate.clone(),
            stage: Stage::Static,
            outcome: StageOutcome::Passed { score: None, upper_bound: None },
        },
        Event::NewBest { candidate: candidate.clone(), points: 0.1 + 0.2 },
        Event::CorpusGrew {
            run: run.clone(),
            version: 1,
            corpus: ContentHash::of(&[b"tasks"]),
            added: 6,
            variants: 6,
        },
        Event::HeldOutOpened { candidate: candidate.clone(), tasks: 60, victim: "v".to_owned() },
        Event::Warning { message: "\u{2603} \"quoted\"".to_owned() },
        Event::SearchFinished { run, best: candidate, reason: "converged".to_owned() },
    ]
}

#[test]
fn every_kind_of_event_comes_back_in_order_with_its_time() {
    let dir = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(dir.path()).expect("opens");
    let mut expected = Vec::new();
    for (round, flush) in [true, false, true].into_iter().enumerate() {
        for (n, event) in all_kinds().into_iter().enumerate() {
            let at = 1_000 - (round * 100 + n) as u64;
            archive.append_event(&event, at).expect("appends");
            expected.push((at, event));
        }
        assert_eq!(archive.events().expect("reads"), expected);
        if flush {
            archive.flush().expect("flushes");
        }
        let reader = Archive::open_read(dir.path()).expect("opens");
        assert_eq!(reader.events().expect("reads"), expected);
    }
    drop(archive);
    let archive = Archive::open(dir.path()).expect("opens again");
    let warning = Event::Warning { message: "after".to_owned() };
    archive.append_event(&warning, 5).expect("appends");
    expected.push((5, warning));
    assert_eq!(archive.events().expect("reads"), expected);
    drop(archive);
    let report = Archive::fsck(dir.path(), &checked_id).expect("checks");
    assert_eq!((report.problems, report.events), (vec![], 37));
}

#[test]
fn half_an_event_is_cut_off_and_a_damaged_one_left_out() {
    let dir = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(dir.path()).expect("opens");
    for event in all_kinds() {
        archive.append_event(&event, 1).expect("appends");
    }
    drop(archive);
    let folder = dir.path().join("evosafe/events");
    let file = std::fs::read_dir(&folder).expect("lists").next().expect("one").expect("reads");
    let mut bytes = std::fs::read(file.path()).expect("reads");
    bytes.truncate(bytes.len() - 5);
    let second = bytes.iter().position(|b| *b == b'\n').expect("lines") + 20;
    bytes[second] ^= 1;
    std::fs::write(file.path(), &bytes).expect("writes");
    let mut expected = all_kinds();
    expected.remove(1);
    expected.pop();
    let seen = |archive: &Archive| {
        archive.events().expect("reads").into_iter().map(|(_, event)| event).collect::<Vec<_>>()
    };
    assert_eq!(seen(&Archive::open_read(dir.path()).expect("opens")), expected);
    let archive = Archive::open(dir.path()).expect("opens");
    assert_eq!(archive.notices().len(), 2, "{:?}", archive.notices());
    let warning = Event::Warning { message: "after".to_owned() };
    archive.append_event(&warning, 5).expect("appends");
    expected.push(warning);
    assert_eq!(seen(&archive), expected);
    archive.flush().expect("flushes");
    assert_eq!(seen(&archive), expected);
}

#[test]
fn a_number_that_json_cannot_hold_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(dir.path()).expect("opens");
    for points in [f64::NAN, f64::INFINITY] {
        let event = Event::NewBest { candidate: CandidateId::of(&[b"c"]), points };
        assert!(archive.append_event(&event, 1).is_err());
    }
    assert_eq!(archive.events().expect("reads"), []);
}
