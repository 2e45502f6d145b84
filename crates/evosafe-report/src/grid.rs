//! The table of a grid: the paper's Table 1 in miniature.

use std::fmt::Write as _;

use evosafe_stats::{mcnemar_chi2_cc, mcnemar_exact};
use evosafe_types::{ArmReport, ComparisonRow, GridCell, GridReport};

use crate::table::{percent, plain, points};

/// Bundles that have a row of their own, where the warm start has them.
const SHOWN: [&str; 4] = ["camel", "drift", "progent", "sara"];

/// The grid as text: per cell no defence, some published defences, the best other bundle and
/// the winner of the search; `*` marks the best score of a cell.
#[must_use]
pub fn grid_text(grid: &GridReport) -> String {
    let mut rows = Vec::new();
    for cell in &grid.cells {
        rows.extend(lines(cell));
    }
    let header =
        ["domain", "victim", "defence", "utility %", "ASR %", "direct / indirect", "score"];
    let mut text = plain(&header, &[1, 2], rows);
    let wins = grid.cells.iter().filter(|cell| wins(cell)).count();
    let winners: Vec<&ComparisonRow> = grid.cells.iter().filter_map(winner).collect();
    let sum = |of: fn(&ComparisonRow) -> u64| winners.iter().map(|row| of(row)).sum::<u64>();
    let (b, c) = (sum(|row| row.evaluation.mcnemar.b), sum(|row| row.evaluation.mcnemar.c));
    let _ = write!(
        text,
        "\n\nthe winner has the best score, or shares it, in {wins} of {} cells\n\
         mean of the winners: ASR {} %, utility {} %; of no defence: ASR {} %, utility {} %\n\
         McNemar pooled over the cells: {b} stopped, {c} newly open, exact p = {:.1e}{}\n\
         bundles are the warm start's: a name is an idea of the defence, not the published system",
        grid.cells.len(),
        percent(mean(&winners, |row| row.evaluation.arm.asr.all.rate)),
        percent(mean(&winners, |row| row.evaluation.arm.utility.rate)),
        percent(mean(&winners, |row| row.evaluation.reference.asr.all.rate)),
        percent(mean(&winners, |row| row.evaluation.reference.utility.rate)),
        mcnemar_exact(b, c),
        mcnemar_chi2_cc(b, c).map_or_else(String::new, |chi| format!(
            ", chi-squared with continuity correction {chi:.1}"
        )),
    );
    for caveat in winners.first().iter().flat_map(|row| &row.evaluation.caveats) {
        let _ = write!(text, "\nnote: {caveat}");
    }
    text
}

fn mean(rows: &[&ComparisonRow], of: impl Fn(&ComparisonRow) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = rows.iter().filter_map(|row| of(row)).collect();
    #[expect(clippy::cast_precision_loss, reason = "a grid has few cells")]
    let n = values.len() as f64;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / n)
}

fn winner(cell: &GridCell) -> Option<&ComparisonRow> {
    cell.rows.iter().find(|row| row.evaluation.candidate == cell.best)
}

/// The best held-out score of a cell, of whatever defence or none.
fn top(cell: &GridCell) -> f64 {
    let scores = cell.rows.iter().filter_map(|row| row.evaluation.arm.score);
    let h0 = cell.rows.first().and_then(|row| row.evaluation.reference.score);
    scores.chain(h0).fold(f64::NEG_INFINITY, f64::max)
}

/// Where the search returned no defence, its row is the reference.
fn wins(cell: &GridCell) -> bool {
    let h0 = || cell.rows.first().and_then(|row| row.evaluation.reference.score);
    let ours = winner(cell).map_or_else(h0, |row| row.evaluation.arm.score);
    ours.is_some_and(|score| score >= top(cell) - 1e-9)
}

fn lines(cell: &GridCell) -> Vec<Vec<String>> {
    let Some(first) = cell.rows.first() else { return Vec::new() };
    let top = top(cell);
    let line = |name: &str, arm: &ArmReport| {
        let rate = |r: &Option<evosafe_types::RateReport>| {
            r.as_ref().map_or_else(|| "-".to_owned(), |r| percent(r.rate))
        };
        let best = arm.score.is_some_and(|score| score >= top - 1e-9);
        vec![
            cell.domain.clone(),
            cell.victim.clone(),
            name.to_owned(),
            percent(arm.utility.rate),
            percent(arm.asr.all.rate),
            format!("{} / {}", rate(&arm.asr.direct), rate(&arm.asr.indirect)),
            format!("{}{}", points(arm.score), if best { "*" } else { " " }),
        ]
    };
    let others = cell.rows.iter().filter(|row| row.evaluation.candidate != cell.best);
    let (shown, rest): (Vec<_>, Vec<_>) =
        others.partition(|row| SHOWN.contains(&row.name.as_str()));
    let best = rest.into_iter().max_by(|a, b| {
        let score = |row: &ComparisonRow| row.evaluation.arm.score.unwrap_or(f64::NEG_INFINITY);
        score(a).total_cmp(&score(b))
    });
    let mut lines = vec![line("no defence", &first.evaluation.reference)];
    lines.extend(shown.into_iter().chain(best).map(|row| line(&row.name, &row.evaluation.arm)));
    lines.extend(winner(cell).map(|row| line("evosafe", &row.evaluation.arm)));
    lines
}
