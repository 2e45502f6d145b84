//! The tables of a comparison.

use evosafe_types::{ArmReport, ComparisonRow, RateReport};

use crate::document::{Document, Table, Value, column, ends, optional};
use crate::strata;

/// Bundles against no defence on the same tasks, no defence first.
#[must_use]
pub fn comparison_document(rows: &[ComparisonRow]) -> Document {
    let Some(first) = rows.first() else {
        return Document { title: "there is nothing to compare".to_owned(), ..Document::default() };
    };
    let of = &first.evaluation;
    let tasks = |episodes: u32| episodes / of.rollouts.max(1);
    let (benign, attacks) = (tasks(of.reference.utility.n), tasks(of.reference.asr.all.n));
    let mut document = Document {
        title: format!("{} tasks: {benign} benign, {attacks} attacks", of.split),
        facts: vec![("environment", of.environment.clone()), ("victim", of.victim.clone())],
        tables: vec![bundles(rows), tests(rows)],
        notes: Vec::new(),
        caveats: of.caveats.clone(),
    };
    document.facts.extend(strata::rollouts_fact(of.rollouts));
    if of.rollouts > 1 {
        document.tables.push(rollouts(rows));
    }
    for row in rows {
        let e = &row.evaluation;
        if e.unassessed > 0 {
            let verdict = if e.indecisive { ": INDECISIVE" } else { "" };
            let note =
                format!("{}: {} tasks unassessed, in neither arm{verdict}", row.name, e.unassessed);
            document.notes.push(note);
        }
        for caveat in &e.caveats {
            if !document.caveats.contains(caveat) {
                document.caveats.push(caveat.clone());
            }
        }
    }
    let absent: Vec<&str> =
        rows.iter().filter(|r| r.semantic.is_absent()).map(|r| r.name.as_str()).collect();
    if !absent.is_empty() {
        document.caveats.push(format!(
            "semantic step absent: {}. These rows measure what is left of the defence without \
             a model; none is the published defence's result",
            absent.join(", ")
        ));
    }
    document
}

fn bundles(rows: &[ComparisonRow]) -> Table {
    let several = rows.first().is_some_and(|row| row.evaluation.rollouts > 1);
    let mut columns = vec![
        column("bundle", "bundle"),
        column("utility", "benign %"),
        column("utility_under_attack", "under attack %"),
        column("asr", "ASR %"),
        ends("asr_95", "95 %"),
        column("score", "score"),
    ];
    columns.extend(several.then(|| column("score_deviation", "s.d.")));
    columns.extend([
        column("faults", "faults"),
        column("hook_us", "us a hook"),
        optional("unassessed", "unassessed"),
        optional("verdict", "verdict"),
        column("costs", "costs goals"),
    ]);
    let mut table = Table::new("bundles", "Bundles against no defence", columns);
    let Some(first) = rows.first() else { return table };
    let line = |name: &str, arm: &ArmReport| {
        let rate = |r: Option<&RateReport>| Value::share(r.and_then(|r| r.rate));
        let mut cells = vec![
            Value::text(name),
            rate(Some(&arm.utility)),
            rate(arm.utility_under_attack.as_ref()),
            rate(Some(&arm.asr.all)),
            Value::range(arm.asr.all.wilson95),
            Value::points(arm.score),
        ];
        cells.extend(several.then(|| strata::deviation(arm)));
        cells
    };
    let mut none = line("no defence", &first.evaluation.reference);
    none.extend(vec![Value::Empty; 5]);
    table.push(none);
    for row in rows {
        let e = &row.evaluation;
        let mut cells = line(&row.name, &e.arm);
        cells.extend([
            Value::Count(e.harness_faults),
            row.hook_us.map_or(Value::Empty, |us| Value::Count(us.round() as u64)),
            Value::some(e.unassessed),
            Value::verdict(e.indecisive),
            Value::text(costs(row)),
        ]);
        table.push(cells);
    }
    table
}

/// The score of each rollout by itself.
fn rollouts(rows: &[ComparisonRow]) -> Table {
    let columns =
        vec![column("bundle", "bundle"), column("rollout", "rollout"), column("score", "score")];
    let mut table = Table::new("rollouts", "Score by rollout", columns).detail();
    let none = rows.first().map(|row| ("no defence", &row.evaluation.reference));
    let arms = rows.iter().map(|row| (row.name.as_str(), &row.evaluation.arm));
    for (name, arm) in none.into_iter().chain(arms) {
        for (at, points) in arm.points_by_rollout.iter().enumerate() {
            table.push(vec![Value::text(name), Value::Count(at as u64), Value::points(*points)]);
        }
    }
    table
}

fn tests(rows: &[ComparisonRow]) -> Table {
    let rollouts = rows.first().map_or(1, |row| row.evaluation.rollouts);
    let mut columns = vec![column("bundle", "bundle")];
    columns.extend(strata::test_columns(rollouts));
    columns.extend([column("score_difference", "score"), ends("score_difference95", "95 %")]);
    let title = "Attack success and score, paired with no defence";
    let mut table = Table::new("tests", title, columns).detail();
    for row in rows {
        let paired = &row.evaluation.paired;
        let score = paired.score.as_ref();
        let mut cells = vec![Value::text(&row.name)];
        cells.extend(strata::test_cells(&paired.attacks, rollouts));
        cells.push(Value::points(score.map(|s| s.points)));
        cells.push(Value::point_range(score.map(|s| s.interval95)));
        table.push(cells);
    }
    table
}

/// The rules that cost goals, the costliest first.
fn costs(row: &ComparisonRow) -> String {
    let mut rules: Vec<(&String, &u32)> = row.false_blocks.iter().collect();
    rules.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let named: Vec<String> = rules
        .iter()
        .take(3)
        .map(|(rule, n)| format!("{} {n}", rule.chars().take(32).collect::<String>()))
        .collect();
    named.join(", ")
}
