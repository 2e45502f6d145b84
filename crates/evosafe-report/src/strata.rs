//! Tables by attack source and risk category (the paper's Tables 3 and A5), and the paired
//! tests beside them (Table A7).

use std::collections::BTreeMap;

use evosafe_stats::{clustered_wilson, wilson};
use evosafe_types::{ArmReport, CategoryReport, Evaluation, Family, PairedTest, Rate};

use crate::document::{Column, Table, Value, column, ends, share};

/// Where an attack comes from, in words.
fn source(family: Family) -> &'static str {
    match family {
        Family::Benign => "none",
        Family::Direct => "the user's request",
        Family::Indirect => "tool output",
    }
}

/// No defence and candidate.
type Arms = (Rate, Rate);

fn add(to: &mut Arms, reference: Rate, candidate: Rate) {
    *to = (to.0.merge(reference), to.1.merge(candidate));
}

/// Attack success by source, pooled within each group (the victims of a domain).
pub(crate) fn sources(groups: &[(String, Vec<&Evaluation>)]) -> Table {
    let columns = vec![
        column("domain", "domain"),
        column("source", "source of the attack"),
        column("no_defence", "no defence %"),
        column("ours", "defended %"),
        ends("ours_wilson95", "95 %"),
        column("change", "change"),
        share("residual", "residual"),
    ];
    let mut table = Table::new("sources", "Attack success by source", columns);
    for (group, evaluations) in groups {
        for family in [Family::Direct, Family::Indirect] {
            let (mut arms, mut tasks) = (Arms::default(), Vec::new());
            let of = evaluations.iter().flat_map(|e| &e.by_category);
            for row in of.filter(|row| row.family == family) {
                add(&mut arms, row.reference, row.candidate);
                tasks.extend(clusters(row));
            }
            let (h0, ours) = arms;
            let interval = match tasks.is_empty() {
                true => wilson(ours, 0.95),
                false => clustered_wilson(&tasks, 0.95),
            };
            if h0.n == 0 {
                continue;
            }
            table.push(vec![
                Value::text(group),
                Value::text(source(family)),
                Value::share(h0.value()),
                Value::share(ours.value()),
                Value::range(interval.map(|i| [i.low, i.high])),
                change(h0, ours),
                Value::Of(u64::from(ours.hits), u64::from(ours.n)),
            ]);
        }
    }
    table
}

/// Attack success by risk category and source, and task success by kind of benign work.
pub(crate) fn risks(groups: &[(String, Vec<&Evaluation>)]) -> Table {
    let columns = vec![
        column("domain", "domain"),
        column("source", "source of the attack"),
        column("category", "category"),
        share("no_defence", "no defence"),
        column("no_defence_percent", "%"),
        share("ours", "defended"),
        column("ours_percent", "%"),
        column("change", "change"),
    ];
    let title = "Attack success by risk category; where no attack is, task success by kind of work";
    let mut table = Table::new("risks", title, columns).detail();
    for (group, evaluations) in groups {
        let mut rows: BTreeMap<(Family, &str), Arms> = BTreeMap::new();
        for row in evaluations.iter().flat_map(|e| &e.by_category) {
            let arms = rows.entry((row.family, &row.category)).or_default();
            add(arms, row.reference, row.candidate);
        }
        for ((family, category), (h0, ours)) in rows {
            let of = |rate: Rate| Value::Of(u64::from(rate.hits), u64::from(rate.n));
            table.push(vec![
                Value::text(group),
                Value::text(source(family)),
                Value::text(category),
                of(h0),
                Value::share(h0.value()),
                of(ours),
                Value::share(ours.value()),
                change(h0, ours),
            ]);
        }
    }
    table
}

fn change(h0: Rate, ours: Rate) -> Value {
    let difference = ours.value().zip(h0.value()).map(|(a, b)| 100.0 * (a - b));
    Value::points(difference)
}

/// Of several rollouts, the candidate's task by task.
fn clusters(row: &CategoryReport) -> impl Iterator<Item = Rate> {
    let rollouts = row.tasks_by_hits.len().saturating_sub(1);
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let of = row.tasks_by_hits.iter().enumerate();
    of.flat_map(move |(hits, &tasks)| {
        let task = Rate { hits: count(hits), n: count(rollouts) };
        std::iter::repeat_n(task, tasks as usize)
    })
}

/// Columns of [`test_cells`].
pub(crate) fn test_columns(rollouts: u32) -> Vec<Column> {
    let mut columns = match rollouts {
        1 => vec![
            column("reference_only", "no defence only"),
            column("candidate_only", "defended only"),
            column("mcnemar_p", "exact p"),
            column("chi2_cc", "chi-squared"),
            column("chi2_p", "p"),
        ],
        _ => vec![
            column("reference_more", "no defence more often"),
            column("candidate_more", "defended more often"),
            column("sign_flip_p", "exact p"),
        ],
    };
    columns.extend([column("difference", "difference"), ends("difference95", "95 %")]);
    columns
}

/// A paired test: in how many tasks only one of the arms had the event, or had it in more
/// rollouts; the test, and the difference of the rates.
pub(crate) fn test_cells(test: &PairedTest, rollouts: u32) -> Vec<Value> {
    let mut cells =
        vec![Value::Count(test.minus.into()), Value::Count(test.plus.into()), Value::P(test.p)];
    if rollouts == 1 {
        cells.push(test.chi2_cc.map_or(Value::Empty, Value::Number));
        cells.push(test.chi2_p.map_or(Value::Empty, Value::P));
    }
    cells.extend([Value::points(difference(test)), Value::point_range(test.interval95)]);
    cells
}

/// The difference of the rates in points; `None` without tasks.
fn difference(test: &PairedTest) -> Option<f64> {
    let tasks = test.tasks();
    let n: u32 = tasks.iter().sum();
    // From minus to plus the number of rollouts.
    let middle = tasks.len() as f64 / 2.0 - 0.5;
    let of = |(at, &tasks): (usize, &u32)| (at as f64 - middle) * f64::from(tasks);
    let sum: f64 = tasks.iter().enumerate().map(of).sum();
    (n > 0).then(|| 100.0 * sum / (f64::from(n) * middle))
}

/// The standard deviation of an arm's score over rollouts.
pub(crate) fn deviation(arm: &ArmReport) -> Value {
    arm.points_deviation.map_or(Value::Unknown, Value::Number)
}

/// What stands beside tables of several rollouts.
pub(crate) fn rollouts_fact(rollouts: u32) -> Option<(&'static str, String)> {
    (rollouts > 1).then(|| ("rollouts", format!("{rollouts} a task; n counts episodes")))
}
