//! Tables of templates, and the suites that are generated from them.

use evosafe_types::{Family, Side, Task, TaskId};

use super::case::Case;
use super::draw::Draw;
use super::{Definition, Stage};

/// A template and its share of the corpus. `S` is the domain's scene, `G` its goals.
pub(crate) struct Row<S, G> {
    /// Family of its tasks.
    pub family: Family,
    /// Risk category, or kind of work.
    pub category: &'static str,
    /// Distinguishes templates of one category.
    pub variant: &'static str,
    /// Sets the scene and writes the task.
    pub build: fn(&mut S) -> Case<G>,
    /// Number of train tasks.
    pub train: usize,
    /// Number of held-out tasks.
    pub held: usize,
}

/// Writes a table of rows: `Family "category" "variant" build: train, held;`.
macro_rules! rows {
    ($($family:ident $category:literal $variant:literal $build:path: $train:literal, $held:literal;)+) => {
        &[$($crate::builtin::templates::Row {
            family: evosafe_types::Family::$family,
            category: $category,
            variant: $variant,
            build: $build,
            train: $train,
            held: $held,
        }),+]
    };
}
pub(crate) use rows;

/// All tasks of a table, train side first, in the order of the table.
pub(crate) fn definitions<S, G>(
    domain: &str,
    rows: &[Row<S, G>],
    scene: fn(Draw) -> S,
    stage: fn(S, Option<G>, Option<G>) -> Stage,
) -> Vec<Definition> {
    let mut all = Vec::new();
    for (side, side_name) in [(Side::Train, "train"), (Side::HeldOut, "held-out")] {
        for row in rows {
            let n = if side == Side::Train { row.train } else { row.held };
            for index in 0..n {
                let family = row.family.as_str();
                let name = format!("{}.{}.{}", row.category, row.variant, index + 1);
                let mut scene =
                    scene(Draw::new(side, &[domain, side_name, family, &name]).at_turn(index));
                let case = (row.build)(&mut scene);
                let task = Task {
                    id: TaskId::new(format!("{domain}/{side_name}/{family}/{name}")),
                    family: row.family,
                    category: row.category.to_owned(),
                    suite: domain.to_owned(),
                    user_task: format!("{side_name}/{family}/{name}"),
                    injection_task: (family != "benign").then(|| row.category.to_owned()),
                    side: Some(side),
                };
                all.push(Definition {
                    task,
                    instruction: case.instruction,
                    script: case.script,
                    stage: stage(scene, case.goal, case.harm),
                });
            }
        }
    }
    all
}
