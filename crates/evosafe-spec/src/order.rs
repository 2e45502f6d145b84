//! The canonical order of a corpus: every stage of the cascade runs a prefix of it
//! and extends the one before (paper section 4.4).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use evosafe_types::{Family, Task, TaskId};

use crate::rng::Stream;

/// Puts tasks into the one order in which stages take their prefixes.
///
/// Families that the corpus has alternate (benign, direct, indirect; with two of them
/// 1:1), so that every prefix holds each to within one task; when a family is used up the
/// others go on. Within a family suites take turns, and within a suite categories do.
/// What is left open is decided by `seed`; the order in which tasks are listed has no influence.
#[must_use]
pub fn canonical_order(tasks: &[Task], seed: u64) -> Vec<TaskId> {
    let names: BTreeSet<&str> = tasks.iter().map(|task| task.suite.as_str()).collect();
    // One order of suites for all families: a prefix then has benign and attack
    // tasks of the same suites.
    let mut suites: Vec<&str> = names.into_iter().collect();
    Stream::new(seed, "order suites").shuffle(&mut suites);
    let families = Family::ALL.map(|family| of_family(tasks, family, &suites, seed));
    take_turns(families.into())
}

fn of_family(tasks: &[Task], family: Family, suites: &[&str], seed: u64) -> VecDeque<TaskId> {
    let mut stream = Stream::new(seed, &format!("order {}", family.as_str()));
    let per_suite = suites.iter().map(|suite| {
        let mut categories: BTreeMap<&str, Vec<&TaskId>> = BTreeMap::new();
        for task in tasks.iter().filter(|t| t.family == family && t.suite == **suite) {
            categories.entry(&task.category).or_default().push(&task.id);
        }
        let mut categories: Vec<_> = categories.into_values().collect();
        stream.shuffle(&mut categories);
        let shuffled = categories.into_iter().map(|mut ids| {
            ids.sort_unstable();
            stream.shuffle(&mut ids);
            ids.into_iter().cloned().collect()
        });
        take_turns(shuffled.collect()).into()
    });
    take_turns(per_suite.collect()).into()
}

/// One from each queue in turn; empty queues are passed over.
fn take_turns(mut queues: Vec<VecDeque<TaskId>>) -> Vec<TaskId> {
    let mut taken = Vec::new();
    loop {
        let before = taken.len();
        taken.extend(queues.iter_mut().filter_map(VecDeque::pop_front));
        if taken.len() == before {
            return taken;
        }
    }
}
