use std::collections::{BTreeMap, BTreeSet};

use evosafe_spec::canonical_order;
use evosafe_types::{Family, Task, TaskId};
use proptest::prelude::*;

use crate::corpus::{agentdojo, built_in, pairs};

fn find<'a>(tasks: &'a [Task], ids: &[TaskId]) -> Vec<&'a Task> {
    ids.iter().map(|id| tasks.iter().find(|t| t.id == *id).unwrap()).collect()
}

fn count<'a, K: Ord>(tasks: &[&'a Task], key: impl Fn(&'a Task) -> K) -> BTreeMap<K, usize> {
    let mut counts = BTreeMap::new();
    for task in tasks {
        *counts.entry(key(task)).or_insert(0) += 1;
    }
    counts
}

fn spread<K>(counts: &BTreeMap<K, usize>) -> usize {
    counts.values().max().unwrap_or(&0) - counts.values().min().unwrap_or(&0)
}

#[test]
fn every_prefix_holds_families_evenly() {
    // (tasks, length up to which no family is used up, families)
    for (tasks, length, families) in [(agentdojo(), 2 * 97, 2), (built_in(7), 42, 3)] {
        let order = canonical_order(&tasks, 42);
        assert_eq!(order.len(), tasks.len());
        let order = find(&tasks, &order);
        for prefix in 1..=length {
            let counts = count(&order[..prefix], |t| t.family);
            assert!(counts.len() == families.min(prefix), "{prefix}: {counts:?}");
            assert!(spread(&counts) <= 1, "{prefix}: {counts:?}");
        }
        assert_eq!(order[0].family, Family::Benign);
        // One family is used up: the rest follows.
        assert!(order[length..].iter().all(|t| t.family == Family::Indirect));
    }
}

#[test]
fn suites_and_categories_take_turns() {
    let tasks = agentdojo();
    let order = find(&tasks, &canonical_order(&tasks, 42));
    for prefix in [8, 16, 30, 60] {
        for family in [Family::Benign, Family::Indirect] {
            let of_family: Vec<&Task> =
                order[..prefix].iter().copied().filter(|t| t.family == family).collect();
            let suites = count(&of_family, |t| &t.suite);
            assert!(suites.len() == 4 && spread(&suites) <= 1, "{prefix} {family:?}: {suites:?}");
            for suite in suites.keys() {
                let here: Vec<&Task> =
                    of_family.iter().copied().filter(|t| t.suite == **suite).collect();
                let categories = count(&here, |t| &t.category);
                assert!(spread(&categories) <= 1, "{prefix} {suite}: {categories:?}");
            }
        }
    }
}

#[test]
fn seeds_give_different_orders() {
    let tasks = pairs(&[("a", 9, 3), ("b", 9, 3)]);
    let orders: BTreeSet<_> = (0..20).map(|seed| canonical_order(&tasks, seed)).collect();
    assert_eq!(orders.len(), 20);
}

#[test]
fn no_tasks_no_order() {
    assert!(canonical_order(&[], 1).is_empty());
}

proptest! {
    #[test]
    fn an_order_is_a_permutation_whatever_the_listing(
        users in 1_usize..9, goals in 0_usize..5, seed: u64, rotate in 0_usize..50,
    ) {
        let tasks = pairs(&[("a", users, goals), ("b", users + 2, goals)]);
        let order = canonical_order(&tasks, seed);
        let unique: BTreeSet<_> = order.iter().collect();
        prop_assert_eq!(unique.len(), tasks.len());
        let mut turned = tasks.clone();
        turned.rotate_left(rotate % tasks.len());
        turned.reverse();
        prop_assert_eq!(canonical_order(&turned, seed), order);
    }
}
