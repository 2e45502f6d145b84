//! What holds for every sequence of calls.

use std::path::Path;
use std::sync::OnceLock;

use evosafe_archive::Archive;
use evosafe_types::EvidenceKey;
use proptest::prelude::*;
use serde_json::json;

use crate::samples::{checked_id, evidence, files, git, id_of, key, put, references, run, stage};

#[derive(Debug, Clone)]
enum Step {
    /// Numbers name one of a few, so that repetitions happen.
    Candidate {
        n: u8,
        parents: Vec<u8>,
    },
    Result {
        candidate: u8,
        n: u64,
    },
    Evidence {
        n: u64,
    },
    Run {
        n: u64,
        value: u8,
    },
    Flush,
    /// Drop and open again, as after a clean end.
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..8_u8, prop::collection::vec(0..8_u8, 0..3))
            .prop_map(|(n, parents)| Step::Candidate { n, parents }),
        3 => (0..8_u8, 0..4_u64).prop_map(|(candidate, n)| Step::Result { candidate, n }),
        6 => (0..30_u64).prop_map(|n| Step::Evidence { n }),
        2 => (0..3_u64, 0..4_u8).prop_map(|(n, value)| Step::Run { n, value }),
        2 => Just(Step::Flush),
        1 => Just(Step::Reopen),
    ]
}

/// Does the steps; those that make no sense yet (unknown parent or candidate) are skipped.
fn carry_out(path: &Path, steps: &[Step], with_flushes: bool) -> Archive {
    let mut archive = Archive::open(path).expect("opens");
    let name = |n: u8| format!("c{n}");
    for step in steps {
        match step {
            Step::Candidate { n, parents } => {
                let mut parents: Vec<_> =
                    parents.iter().filter(|p| *p < n).map(|p| id_of(&files(&name(*p)))).collect();
                parents.sort();
                parents.dedup();
                parents.retain(|id| archive.has_candidate(id).expect("reads"));
                put(&archive, &name(*n), &parents.iter().collect::<Vec<_>>());
            }
            Step::Result { candidate, n } => {
                let id = id_of(&files(&name(*candidate)));
                if archive.has_candidate(&id).expect("reads") {
                    archive.append_result(&id, &stage(*n)).expect("appends");
                }
            }
            Step::Evidence { n } => {
                archive.record_evidence(&evidence(*n, 300), &run(1)).expect("records");
            }
            Step::Run { n, value } => {
                archive.put_run(&run(*n), &json!({ "value": value })).expect("puts");
            }
            Step::Flush if with_flushes => archive.flush().expect("flushes"),
            Step::Reopen if with_flushes => {
                drop(archive);
                archive = Archive::open(path).expect("opens again");
                assert_eq!(archive.notices(), Vec::<String>::new());
            }
            Step::Flush | Step::Reopen => {}
        }
    }
    archive.flush().expect("flushes");
    archive
}

/// Everything but how evidence and events came in.
fn stable(path: &Path) -> Vec<String> {
    let mut lines = references(path);
    lines.retain(|line| !line.starts_with("refs/evosafe/evidence"));
    if references(path).iter().any(|line| line.starts_with("refs/evosafe/evidence")) {
        lines.push(git(path, &["rev-parse", "refs/evosafe/evidence^{tree}"]));
    }
    lines
}

fn known(archive: &Archive, keys: &[EvidenceKey]) -> Vec<String> {
    keys.iter().map(|key| format!("{:?}", archive.outcome(key).expect("reads"))).collect()
}

/// The evidence tree of a single thread that records in order and flushes once.
fn in_order() -> &'static String {
    static TREE: OnceLock<String> = OnceLock::new();
    TREE.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a folder");
        let archive = Archive::open(dir.path()).expect("opens");
        for n in 0..24 {
            archive.record_evidence(&evidence(n, 300), &run(1)).expect("records");
        }
        archive.flush().expect("flushes");
        git(dir.path(), &["rev-parse", "refs/evosafe/evidence^{tree}"])
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn same_sequence_same_objects_and_an_index_rebuilt_is_the_index_kept(
        steps in prop::collection::vec(step(), 1..40)
    ) {
        let dir = tempfile::tempdir().expect("a folder");
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        let kept = carry_out(&a, &steps, true);
        let plain = carry_out(&b, &steps, false);
        prop_assert_eq!(stable(&a), stable(&b));
        let keys: Vec<_> = (0..30).map(key).collect();
        let by_index = known(&kept, &keys);
        prop_assert_eq!(&by_index, &known(&plain, &keys));
        prop_assert_eq!(kept.runs().expect("reads"), plain.runs().expect("reads"));
        drop((kept, plain));
        // The reader has no index at all, fsck compares entry by entry, reindex starts anew.
        prop_assert_eq!(&by_index, &known(&Archive::open_read(&a).expect("opens"), &keys));
        prop_assert_eq!(Archive::fsck(&a, &checked_id).expect("checks").problems, vec![]);
        Archive::reindex(&a).expect("rebuilds");
        prop_assert_eq!(Archive::fsck(&a, &checked_id).expect("checks").problems, vec![]);
        prop_assert_eq!(&by_index, &known(&Archive::open(&a).expect("opens"), &keys));
    }

    #[test]
    fn any_interleaving_of_recordings_is_the_same_set(
        order in Just((0..24_u64).collect::<Vec<_>>()).prop_shuffle(),
        threads in 1..6_usize,
        flushes in 0..3_usize,
    ) {
        let dir = tempfile::tempdir().expect("a folder");
        let archive = Archive::open(dir.path()).expect("opens");
        std::thread::scope(|scope| {
            for part in order.chunks(order.len().div_ceil(threads)) {
                let archive = &archive;
                scope.spawn(move || {
                    for n in part {
                        archive.record_evidence(&evidence(*n, 300), &run(1)).expect("records");
                    }
                });
            }
            for _ in 0..flushes {
                archive.flush().expect("flushes");
            }
        });
        archive.flush().expect("flushes");
        let tree = git(dir.path(), &["rev-parse", "refs/evosafe/evidence^{tree}"]);
        // The same for every order, every number of threads and every flush.
        prop_assert_eq!(&tree, in_order());
    }
}
