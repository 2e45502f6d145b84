//! What a Designer expected of its candidate, and what came.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use evosafe_types::{Outcome, TaskId};
use serde::{Deserialize, Serialize};

use super::view::cut;

/// One expectation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flip {
    /// A train task.
    pub task: TaskId,
    /// What becomes of it that was not so under the parent.
    pub becomes: Becomes,
}

/// How an outcome changes against the parent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Becomes {
    /// The attack no longer reaches its goal.
    AttackStopped,
    /// It does now.
    AttackSucceeds,
    /// The user's goal is reached.
    GoalReached,
    /// It no longer is.
    GoalLost,
}

/// Outcomes of a candidate: rates of (user's goal, attacker's goal) over the rollouts of a task.
pub(crate) type Rates = BTreeMap<TaskId, (Option<f64>, Option<f64>)>;

/// Means over the assessed rollouts of each task.
pub(crate) fn rates<'o>(outcomes: impl IntoIterator<Item = (TaskId, &'o Outcome)>) -> Rates {
    let mut all: BTreeMap<TaskId, [Vec<bool>; 2]> = BTreeMap::new();
    for (task, outcome) in outcomes {
        let [goal, attack] = all.entry(task).or_default();
        goal.extend(outcome.task_success());
        attack.extend(outcome.attack_success());
    }
    let mean = |of: &Vec<bool>| {
        let hits = u32::try_from(of.iter().filter(|hit| **hit).count()).unwrap_or(u32::MAX);
        let n = u32::try_from(of.len()).unwrap_or(u32::MAX);
        (n > 0).then(|| f64::from(hits) / f64::from(n))
    };
    all.into_iter().map(|(task, [goal, attack])| (task, (mean(&goal), mean(&attack)))).collect()
}

/// How a prediction fared, on tasks that both candidates were run on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Scored {
    /// Predictions.
    pub predicted: u32,
    /// Of these, on tasks that both were run on.
    pub tested: u32,
    /// Of these, come true.
    pub came_true: u32,
    /// Changes of any kind, predicted or not.
    pub changes: u32,
}

/// Compares a candidate with its parent.
pub(crate) fn scored(predicted: &[Flip], parent: &Rates, ours: &Rates) -> Scored {
    let changed = |task: &TaskId| -> Option<Vec<Becomes>> {
        let ((goal0, attack0), (goal1, attack1)) = (parent.get(task)?, ours.get(task)?);
        let of = |before: &Option<f64>, after: &Option<f64>, down: Becomes, up: Becomes| {
            let (before, after) = before.zip(*after)?;
            (before != after).then_some(if after < before { down } else { up })
        };
        let goal = of(goal0, goal1, Becomes::GoalLost, Becomes::GoalReached);
        let attack = of(attack0, attack1, Becomes::AttackStopped, Becomes::AttackSucceeds);
        Some(goal.into_iter().chain(attack).collect())
    };
    let mut scored = Scored {
        predicted: u32::try_from(predicted.len()).unwrap_or(u32::MAX),
        ..Scored::default()
    };
    for flip in predicted {
        if let Some(changes) = changed(&flip.task) {
            scored.tested += 1;
            scored.came_true += u32::from(changes.contains(&flip.becomes));
        }
    }
    let changes: usize = ours.keys().filter_map(changed).map(|changes| changes.len()).sum();
    scored.changes = u32::try_from(changes).unwrap_or(u32::MAX);
    scored
}

/// One line of `predictions.md`.
pub(super) fn line(candidate: &str, hypothesis: &str, scored: &Scored) -> String {
    let mut text = String::new();
    let Scored { predicted, tested, came_true, changes } = scored;
    let _ = writeln!(
        text,
        "- {candidate}: {predicted} predicted, {tested} tested, {came_true} came true; {changes} changes in all. {}",
        cut(&hypothesis.replace('\n', " "), 300)
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictions_are_held_against_what_changed() {
        let outcome =
            |goal, attack| Outcome::Assessed { task_success: goal, attack_success: attack };
        let id = |name: &str| TaskId::new(name);
        let before = [
            (id("a"), outcome(Some(true), Some(true))),
            (id("b"), outcome(Some(true), None)),
            (id("c"), outcome(None, Some(true))),
        ];
        let after = [
            (id("a"), outcome(Some(true), Some(false))),
            (id("b"), outcome(Some(false), None)),
            (id("c"), outcome(None, Some(true))),
        ];
        let of = |all: &[(TaskId, Outcome)]| rates(all.iter().map(|(t, o)| (t.clone(), o)));
        let flip = |task: &str, becomes| Flip { task: id(task), becomes };
        let predicted = [
            flip("a", Becomes::AttackStopped),
            flip("c", Becomes::AttackStopped),
            flip("b", Becomes::GoalReached),
            flip("never run", Becomes::GoalReached),
        ];
        let scored = scored(&predicted, &of(&before), &of(&after));
        assert_eq!(scored, Scored { predicted: 4, tested: 3, came_true: 1, changes: 2 });
    }
}
