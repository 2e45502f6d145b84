use std::collections::{BTreeMap, BTreeSet};

use evosafe_spec::{Split, SplitBy, SplitPlan, split};
use evosafe_types::{Family, Side, Task};
use proptest::prelude::*;

use crate::corpus::{agentdojo, built_in, pairs, task};

fn plan(by: SplitBy, train: f64, seed: u64) -> SplitPlan {
    SplitPlan { by, train, seed }
}

/// How many of the tasks that `pick` are on the train side, and how many there are.
fn train_of(split: &Split, tasks: &[Task], pick: impl Fn(&Task) -> bool) -> (usize, usize) {
    let picked: Vec<&Task> = tasks.iter().filter(|task| pick(task)).collect();
    let train = picked.iter().filter(|task| split.side(&task.id) == Some(Side::Train)).count();
    (train, picked.len())
}

fn near(share: f64, (train, all): (usize, usize)) -> bool {
    (train as f64 - share * all as f64).abs() < 1.0
}

#[test]
fn every_stratum_has_its_share_to_within_one() {
    let tasks = agentdojo();
    for seed in [1, 2, 3, 42, 1 << 40] {
        let split = split(&plan(SplitBy::Pair, 0.7, seed), &tasks).unwrap();
        assert_eq!(split.train.len() + split.held_out.len(), tasks.len());
        for family in [Family::Benign, Family::Indirect] {
            assert!(near(0.7, train_of(&split, &tasks, |t| t.family == family)));
        }
        let suites: BTreeSet<(Family, &str, Option<&str>)> = tasks
            .iter()
            .flat_map(|t| [(t.family, &*t.suite, None), (t.family, &*t.suite, Some(&*t.category))])
            .collect();
        for (family, suite, category) in suites {
            let counts = train_of(&split, &tasks, |t| {
                t.family == family && t.suite == suite && category.is_none_or(|c| c == t.category)
            });
            assert!(near(0.7, counts), "{family:?} {suite} {category:?}: {counts:?}");
        }
    }
}

#[test]
fn held_out_goals_are_new() {
    let tasks = agentdojo();
    let mut held_out_goals = BTreeSet::new();
    for seed in 0..5 {
        let split = split(&plan(SplitBy::InjectionTask, 0.7, seed), &tasks).unwrap();
        let mut goals: BTreeMap<(&str, &str), BTreeSet<Option<Side>>> = BTreeMap::new();
        for task in tasks.iter().filter(|t| t.family == Family::Indirect) {
            let goal = task.injection_task.as_deref().unwrap();
            goals.entry((&task.suite, goal)).or_default().insert(split.side(&task.id));
        }
        assert!(goals.values().all(|sides| sides.len() == 1));
        let train = goals.values().filter(|s| s.contains(&Some(Side::Train))).count();
        assert!(near(0.7, (train, 27)), "{train} of 27 goals");
        let held_out = goals.iter().filter(|(_, s)| s.contains(&Some(Side::HeldOut)));
        held_out_goals.insert(held_out.map(|(goal, _)| *goal).collect::<Vec<_>>());
    }
    assert_eq!(held_out_goals.len(), 5, "five seeds hold out five different sets of goals");
}

#[test]
fn a_goal_that_comes_in_two_families_stays_on_one_side() {
    let mut tasks = pairs(&[("desk", 8, 6)]);
    for goal in 0..6 {
        let name = format!("injection_task_{goal}");
        let mut direct = task(&format!("direct/{name}"), Family::Direct, "desk", "d", &name);
        direct.injection_task = Some(name);
        tasks.push(direct);
    }
    for seed in 0..20 {
        let Ok(split) = split(&plan(SplitBy::InjectionTask, 0.5, seed), &tasks) else { continue };
        for goal in 0..6 {
            let name = format!("injection_task_{goal}");
            let (train, all) =
                train_of(&split, &tasks, |t| t.injection_task.as_ref() == Some(&name));
            assert!(train == 0 || train == all, "{name}: {train} of {all}");
        }
    }
}

#[test]
fn splits_are_the_same_for_good() {
    let tasks = agentdojo();
    let cases = [
        (SplitBy::Pair, 42, 508, "0b47b6d12711"),
        (SplitBy::InjectionTask, 42, 508, "6869d640b735"),
    ];
    for (by, seed, train, hash) in cases {
        let split = split(&plan(by, 0.7, seed), &tasks).unwrap();
        assert_eq!((split.train.len(), split.hash.short()), (train, hash), "{by:?}");
    }
}

#[test]
fn sides_fixed_by_the_environment_are_taken() {
    let tasks = built_in(4);
    let split = split(&plan(SplitBy::Environment, 0.0, 1), &tasks).unwrap();
    for task in &tasks {
        assert_eq!(split.side(&task.id), task.side, "{}", task.id);
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let pair = |train| plan(SplitBy::Pair, train, 1);
    let goals = plan(SplitBy::InjectionTask, 0.5, 1);
    let fixed = plan(SplitBy::Environment, 0.0, 1);
    let twice = [pairs(&[("a", 2, 1)]), pairs(&[("a", 1, 0)])].concat();
    let mut unnamed = pairs(&[("a", 4, 4)]);
    unnamed[1].injection_task = None;
    let mut overlapping = built_in(3);
    overlapping[1].user_task = "same".to_owned();
    let held_out = overlapping.iter().position(|t| t.side == Some(Side::HeldOut)).unwrap();
    overlapping[held_out].user_task = "same".to_owned();
    let one_sided: Vec<Task> =
        built_in(3).into_iter().filter(|t| t.side == Some(Side::Train)).collect();
    let no_attack_held_out: Vec<Task> = built_in(3)
        .into_iter()
        .filter(|t| t.side == Some(Side::Train) || t.family != Family::Direct)
        .collect();
    let cases: [(&str, &SplitPlan, Vec<Task>, &str); 12] = [
        ("no share", &pair(0.0), pairs(&[("a", 3, 3)]), "`split.train` must lie between 0 and 1"),
        ("not a share", &pair(f64::NAN), pairs(&[("a", 3, 3)]), "but is NaN"),
        ("no tasks", &pair(0.5), vec![], "`split.train` leaves no task on the train side"),
        ("one goal", &goals, pairs(&[("a", 4, 1)]), "none of the 4 indirect tasks"),
        ("one benign task", &pair(0.5), pairs(&[("a", 1, 9)]), "none of the 1 benign tasks"),
        ("repeated id", &pair(0.5), twice, "lists task `a/user_task_0` twice"),
        ("no goal", &goals, unnamed, "`a/user_task_0/injection_task_0` names no attacker's goal"),
        ("sides given", &pair(0.5), built_in(3), "has its side fixed by the environment"),
        ("no sides", &fixed, pairs(&[("a", 3, 3)]), "has no side in the environment"),
        ("overlap", &fixed, overlapping, "benign user task `same` of suite `desk` is on both"),
        ("one side only", &fixed, one_sided, "`split.by` leaves no task on the held-out side"),
        ("family lost", &fixed, no_attack_held_out, "none of the 3 direct tasks on the held-out"),
    ];
    for (label, plan, tasks, expected) in cases {
        let message = split(plan, &tasks).expect_err(label).to_string();
        assert!(message.contains(expected), "{label}: {message}");
    }
}

#[test]
fn a_stored_split_that_was_edited_is_refused() {
    let split = split(&plan(SplitBy::Pair, 0.5, 1), &pairs(&[("a", 4, 2)])).unwrap();
    let stored = serde_json::to_string(&split).unwrap();
    assert_eq!(serde_json::from_str::<Split>(&stored).unwrap(), split);
    let moved = stored.replacen("a/user_task", "b/user_task", 1);
    let message = serde_json::from_str::<Split>(&moved).unwrap_err().to_string();
    assert!(message.contains("was changed after it was written"), "{message}");
}

proptest! {
    #[test]
    fn nothing_is_lost_and_listing_order_does_not_matter(
        users in 2_usize..12, goals in 2_usize..8, share in 0.05_f64..0.95, seed: u64,
        by_goal: bool, rotate in 0_usize..50,
    ) {
        let tasks = pairs(&[("a", users, goals), ("b", users + 1, goals)]);
        let by = if by_goal { SplitBy::InjectionTask } else { SplitBy::Pair };
        let plan = plan(by, share, seed);
        let first = split(&plan, &tasks).unwrap();
        let mut all: Vec<_> = first.train.iter().chain(&first.held_out).collect();
        all.sort();
        let mut ids: Vec<_> = tasks.iter().map(|t| &t.id).collect();
        ids.sort();
        prop_assert_eq!(all, ids);
        for family in [Family::Benign, Family::Indirect] {
            let (train, n) = train_of(&first, &tasks, |t| t.family == family);
            prop_assert!(train > 0 && train < n);
        }
        let mut turned = tasks.clone();
        turned.rotate_left(rotate % tasks.len());
        turned.reverse();
        prop_assert_eq!(split(&plan, &turned).unwrap(), first);
    }
}
