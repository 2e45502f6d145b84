//! The table of a comparison.

use std::fmt::Write as _;

use evosafe_types::{ArmReport, ComparisonRow, RateReport};

use crate::table::{interval, percent, plain, points};

/// The comparison as text, no defence first.
#[must_use]
pub fn comparison_text(rows: &[ComparisonRow]) -> String {
    let Some(first) = rows.first() else { return "there is nothing to compare".to_owned() };
    let of = &first.evaluation;
    let (benign, attacks) = (of.reference.utility.n, of.reference.asr.all.n);
    let mut text = format!(
        "{} tasks of {}: {benign} benign, {attacks} attacks\nvictim {}\n\n",
        of.split, of.environment, of.victim
    );
    let mut table = vec![line("no defence", &of.reference, Default::default())];
    table.extend(rows.iter().map(|row| {
        let faults = row.evaluation.harness_faults.to_string();
        let hook = row.hook_us.map_or_else(String::new, |us| format!("{us:.0}"));
        line(&row.name, &row.evaluation.arm, [faults, hook, costs(row)])
    }));
    text += &plain(
        &[
            "bundle",
            "benign %",
            "under attack %",
            "ASR %",
            "95 %",
            "score",
            "faults",
            "costs goals",
        ],
        &[4, 7],
        table,
    );
    text.push('\n');
    for row in rows.iter().filter(|r| r.evaluation.unassessed > 0) {
        let n = row.evaluation.unassessed;
        let _ = write!(text, "\n{}: {n} tasks unassessed, in neither arm", row.name);
    }
    let absent: Vec<&str> =
        rows.iter().filter(|r| r.semantic.is_absent()).map(|r| r.name.as_str()).collect();
    if !absent.is_empty() {
        let _ = write!(
            text,
            "\nsemantic step absent: {}. These rows measure what is left of the defence without \
             a model; none is the published defence's result",
            absent.join(", ")
        );
    }
    for caveat in &of.caveats {
        let _ = write!(text, "\nnote: {caveat}");
    }
    text
}

fn line(name: &str, arm: &ArmReport, rest: [String; 3]) -> Vec<String> {
    let rate = |r: Option<&RateReport>| r.map_or_else(|| "-".to_owned(), |r| percent(r.rate));
    let mut line = vec![
        name.to_owned(),
        rate(Some(&arm.utility)),
        rate(arm.utility_under_attack.as_ref()),
        rate(Some(&arm.asr.all)),
        interval(arm.asr.all.wilson95),
        points(arm.score),
    ];
    line.extend(rest);
    line
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
