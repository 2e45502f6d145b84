//! Train and held-out: stratified, seeded, and hashed into every result.

use std::collections::{BTreeMap, BTreeSet};

use evosafe_types::{ContentHash, Family, Side, Task, TaskId};
use serde::{Deserialize, Serialize};

use crate::error::{FormatError, SpecError};
use crate::plan::{SplitBy, SplitPlan};
use crate::rng::Stream;

/// A division of the tasks. Both lists are sorted by id; the order in which the
/// search runs tasks is [`crate::canonical_order`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Split {
    /// Tasks the search may read.
    pub train: Vec<TaskId>,
    /// Tasks that only an evaluation of the held-out side opens.
    pub held_out: Vec<TaskId>,
    /// Hash of both lists.
    pub hash: ContentHash,
}

#[derive(Deserialize)]
struct Stored {
    train: Vec<TaskId>,
    held_out: Vec<TaskId>,
    hash: ContentHash,
}

impl TryFrom<Stored> for Split {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let split = Self::new(stored.train, stored.held_out);
        if split.hash == stored.hash {
            return Ok(split);
        }
        Err(format!(
            "the split was changed after it was written: its lists hash to {}, not {}",
            split.hash.short(),
            stored.hash.short()
        ))
    }
}

impl Split {
    /// Sorts and hashes the two sides.
    #[must_use]
    pub fn new(mut train: Vec<TaskId>, mut held_out: Vec<TaskId>) -> Self {
        train.sort_unstable();
        held_out.sort_unstable();
        let count = (train.len() as u64).to_le_bytes();
        let mut parts: Vec<&[u8]> = vec![b"split 1", &count];
        parts.extend(train.iter().chain(&held_out).map(|id| id.as_str().as_bytes()));
        let hash = ContentHash::of(&parts);
        Self { train, held_out, hash }
    }

    /// The side of a task; `None` if it belongs to neither.
    #[must_use]
    pub fn side(&self, task: &TaskId) -> Option<Side> {
        if self.train.binary_search(task).is_ok() {
            Some(Side::Train)
        } else if self.held_out.binary_search(task).is_ok() {
            Some(Side::HeldOut)
        } else {
            None
        }
    }
}

/// Divides `tasks` as the plan says. The order in which they are listed has no influence.
///
/// Within each family, groups that must stay together are drawn systematically
/// through the strata (suite, category), so that every family, every suite of it and
/// every category of that has its share of train to within one group.
///
/// # Errors
/// If the share is not in (0, 1), ids repeat, `split.by` does not fit the tasks, one side lacks a family that the
/// corpus has, or benign tasks of one user task are on both sides.
pub fn split(plan: &SplitPlan, tasks: &[Task]) -> Result<Split, SpecError> {
    let mut sorted: Vec<&Task> = tasks.iter().collect();
    sorted.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0].id == pair[1].id) {
        return Err(SpecError::DuplicateTask(pair[0].id.clone()));
    }
    // A plan from `load` is fine; one whose `by` was changed afterwards may not be.
    if plan.by != SplitBy::Environment && !(plan.train > 0.0 && plan.train < 1.0) {
        let message = format!("must lie between 0 and 1, both excluded, but is {}", plan.train);
        return Err(FormatError::value("spec.toml", "split.train", message).into());
    }
    let train = match plan.by {
        SplitBy::Environment => fixed(&sorted)?,
        SplitBy::Pair | SplitBy::InjectionTask => drawn(plan, &sorted)?,
    };
    let is_train = |task: &Task| train.contains(&task.id);
    check_sides(plan.by, &sorted, &is_train)?;
    check_overlap(&sorted, &is_train)?;
    let (train, held_out) = sorted.into_iter().partition::<Vec<&Task>, _>(|task| is_train(task));
    let ids = |tasks: Vec<&Task>| tasks.into_iter().map(|task| task.id.clone()).collect();
    Ok(Split::new(ids(train), ids(held_out)))
}

fn misfit(by: SplitBy, task: &Task, problem: &'static str) -> SpecError {
    SpecError::SplitBy { by: by.as_str(), task: task.id.clone(), problem }
}

fn fixed(tasks: &[&Task]) -> Result<BTreeSet<TaskId>, SpecError> {
    let mut train = BTreeSet::new();
    for task in tasks {
        match task.side {
            Some(Side::Train) => {
                train.insert(task.id.clone());
            }
            Some(Side::HeldOut) => {}
            None => {
                let problem = "has no side in the environment; use \"pair\" or \"injection_task\"";
                return Err(misfit(SplitBy::Environment, task, problem));
            }
        }
    }
    Ok(train)
}

/// Tasks that stay on one side together.
type Group<'a> = Vec<&'a Task>;
/// Suite, then category, then groups.
type Strata<'a> = BTreeMap<&'a str, BTreeMap<&'a str, Vec<Group<'a>>>>;

fn drawn(plan: &SplitPlan, tasks: &[&Task]) -> Result<BTreeSet<TaskId>, SpecError> {
    let mut groups: BTreeMap<(bool, &str, &str), Group<'_>> = BTreeMap::new();
    for task in tasks {
        if task.side.is_some() {
            let problem = "has its side fixed by the environment; use \"environment\"";
            return Err(misfit(plan.by, task, problem));
        }
        let name = match (task.family, plan.by) {
            (Family::Benign, _) => task.user_task.as_str(),
            (_, SplitBy::InjectionTask) => match (&task.injection_task, task.family) {
                (Some(goal), _) => goal,
                // The user's request is the goal.
                (None, Family::Direct) => &task.user_task,
                (None, _) => return Err(misfit(plan.by, task, "names no attacker's goal")),
            },
            _ => task.id.as_str(),
        };
        groups.entry((task.family.is_attack(), &task.suite, name)).or_default().push(task);
    }
    let mut families: BTreeMap<Family, Strata<'_>> = BTreeMap::new();
    for group in groups.into_values() {
        let first = group[0];
        let suites = families.entry(first.family).or_default();
        let categories = suites.entry(&first.suite).or_default();
        categories.entry(&first.category).or_default().push(group);
    }
    let mut train = BTreeSet::new();
    for (family, strata) in families {
        let mut stream = Stream::new(plan.seed, &format!("split {}", family.as_str()));
        let groups = line_up(strata, &mut stream);
        let chosen = systematic(groups.len(), plan.train, stream.unit());
        let chosen = groups.iter().zip(chosen).filter(|(_, chosen)| *chosen);
        train.extend(chosen.flat_map(|(group, _)| group.iter().map(|task| task.id.clone())));
    }
    Ok(train)
}

/// All groups of a family in one line: strata together, everything else at random.
fn line_up<'a>(strata: Strata<'a>, stream: &mut Stream) -> Vec<Group<'a>> {
    let mut suites: Vec<_> = strata.into_values().collect();
    stream.shuffle(&mut suites);
    let mut line = Vec::new();
    for suite in suites {
        let mut categories: Vec<_> = suite.into_values().collect();
        stream.shuffle(&mut categories);
        for mut groups in categories {
            stream.shuffle(&mut groups);
            line.extend(groups);
        }
    }
    line
}

/// Marks a share of `n` places in a line so that any stretch of it holds that share
/// to within one place; `start` in [0, 1) moves the pattern. Two places or more always
/// give at least one to either side.
fn systematic(n: usize, share: f64, start: f64) -> Vec<bool> {
    let reached = |places: usize| (places as f64).mul_add(share, start).floor();
    let mut marks: Vec<bool> = (0..n).map(|i| reached(i + 1) > reached(i)).collect();
    let same = |mark: bool| marks.iter().all(|m| *m == mark);
    if n > 1 && (same(true) || same(false)) {
        // The line is in random order, so its end is a random place.
        marks[n - 1] = !marks[n - 1];
    }
    marks
}

fn check_sides(
    by: SplitBy,
    tasks: &[&Task],
    is_train: &dyn Fn(&Task) -> bool,
) -> Result<(), SpecError> {
    let key = if by == SplitBy::Environment { "by" } else { "train" };
    for side in [Side::Train, Side::HeldOut] {
        let here = |task: &&&Task| is_train(task) == (side == Side::Train);
        if tasks.iter().filter(here).count() == 0 {
            return Err(SpecError::EmptySide { key, side, what: "no task".to_owned() });
        }
        for family in Family::ALL {
            let all = tasks.iter().filter(|task| task.family == family).count();
            if all > 0 && !tasks.iter().filter(here).any(|task| task.family == family) {
                let what = format!("none of the {all} {} tasks", family.as_str());
                return Err(SpecError::EmptySide { key, side, what });
            }
        }
    }
    Ok(())
}

fn check_overlap(tasks: &[&Task], is_train: &dyn Fn(&Task) -> bool) -> Result<(), SpecError> {
    let mut seen: BTreeMap<(&str, &str), (&Task, bool)> = BTreeMap::new();
    for task in tasks.iter().filter(|task| task.family == Family::Benign) {
        let side = is_train(task);
        let (first, first_side) =
            *seen.entry((&task.suite, &task.user_task)).or_insert((task, side));
        if first_side != side {
            let (train, held_out) = if side { (*task, first) } else { (first, *task) };
            return Err(SpecError::Overlap {
                what: format!("benign user task `{}` of suite `{}`", task.user_task, task.suite),
                train: train.id.clone(),
                held_out: held_out.id.clone(),
            });
        }
    }
    Ok(())
}
