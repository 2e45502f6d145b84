//! The tables of a grid: the paper's Tables 1, 3, A5 and A7 in miniature.

use evosafe_stats::gate::{RESAMPLES, SEED, Sums};
use evosafe_stats::{
    ScoreDifference, mcnemar_chi2_cc, mcnemar_chi2_p, mcnemar_exact, pooled_bootstrap_difference,
    sign_flip_tasks,
};
use evosafe_types::{
    ArmReport, ComparisonRow, Evaluation, GridCell, GridReport, PairedTest, RateReport,
};

use crate::document::{Document, Table, Value, column, ends, optional};
use crate::published::published;
use crate::table::{p_value, percent, point_range, points};
use crate::{cross, strata};

/// Bundles that have a row of their own, where the warm start has them.
const SHOWN: [&str; 4] = ["camel", "drift", "progent", "sara"];

/// Scores that are equal on paper may differ in the last bits.
const SLACK: f64 = 1e-9;

/// All that a grid found.
#[must_use]
pub fn grid_document(grid: &GridReport) -> Document {
    let groups = by_domain(grid);
    let mut tables = vec![cells(grid), significance(grid), strata::sources(&groups)];
    tables.push(intervals(grid));
    tables.push(bundles(grid));
    tables.push(strata::risks(&groups));
    let mut notes = notes(grid);
    if !grid.cross.is_empty() {
        let (matrix, long) = cross::tables(grid);
        tables.insert(3, matrix);
        tables.push(long);
        notes.extend(cross::notes(grid));
    }
    let rows = || grid.cells.iter().flat_map(|cell| &cell.rows);
    let mut caveats: Vec<String> = Vec::new();
    for caveat in rows().flat_map(|row| &row.evaluation.caveats) {
        if !caveats.contains(caveat) {
            caveats.push(caveat.clone());
        }
    }
    if rows().any(|row| row.semantic.is_absent()) {
        caveats.push(
            "rows of bundles whose semantic step had no model measure what is left without it"
                .into(),
        );
    }
    caveats.push(
        "bundles are the warm start's: a name is an idea of the defence, not the published system"
            .into(),
    );
    Document {
        title: format!("{} cells on held-out tasks", grid.cells.len()),
        facts: strata::rollouts_fact(rollouts(grid)).into_iter().collect(),
        tables,
        notes,
        caveats,
    }
}

/// Episodes a task; all cells have the same.
fn rollouts(grid: &GridReport) -> u32 {
    let mut rows = grid.cells.iter().flat_map(|cell| &cell.rows);
    rows.next().map_or(1, |row| row.evaluation.rollouts)
}

/// Winners' evaluations, the victims of a domain together.
fn by_domain(grid: &GridReport) -> Vec<(String, Vec<&Evaluation>)> {
    let mut groups: Vec<(String, Vec<&Evaluation>)> = Vec::new();
    for cell in &grid.cells {
        let Some(row) = winner(cell) else { continue };
        match groups.iter_mut().find(|(domain, _)| *domain == cell.domain) {
            Some((_, evaluations)) => evaluations.push(&row.evaluation),
            None => groups.push((cell.domain.clone(), vec![&row.evaluation])),
        }
    }
    groups
}

fn notes(grid: &GridReport) -> Vec<String> {
    let winners: Vec<&ComparisonRow> = grid.cells.iter().filter_map(winner).collect();
    let wins = grid.cells.iter().filter(|cell| wins(cell)).count();
    let indecisive = winners.iter().filter(|row| row.evaluation.indecisive).count();
    let mut notes = vec![
        format!(
            "the winner has the best score, or shares it, in {wins} of {} cells",
            grid.cells.len()
        ),
        format!(
            "mean of the winners: ASR {} %, utility {} %; of no defence: ASR {} %, utility {} %",
            percent(mean(&winners, |row| row.evaluation.arm.asr.all.rate)),
            percent(mean(&winners, |row| row.evaluation.arm.utility.rate)),
            percent(mean(&winners, |row| row.evaluation.reference.asr.all.rate)),
            percent(mean(&winners, |row| row.evaluation.reference.utility.rate)),
        ),
        pooled_test(&winners, rollouts(grid)),
    ];
    if let Some(score) = pooled(&winners) {
        notes.push(format!(
            "mean score against no defence: {} points, 95 % {}, better in {} % of \
             paired bootstrap resamples (every family of every cell by itself)",
            points(Some(score.points)),
            point_range(score.interval.low, score.interval.high),
            percent(Some(score.above))
        ));
    }
    if indecisive > 0 {
        notes
            .push(format!("INDECISIVE: {indecisive} winners, too much was lost to infrastructure"));
    }
    notes
}

/// The test of attack success over all cells.
fn pooled_test(winners: &[&ComparisonRow], rollouts: u32) -> String {
    let attacks = || winners.iter().map(|row| &row.evaluation.paired.attacks);
    let sum = |of: fn(&PairedTest) -> u32| attacks().map(|test| u64::from(of(test))).sum::<u64>();
    let (b, c) = (sum(|test| test.minus), sum(|test| test.plus));
    if rollouts == 1 {
        let chi = mcnemar_chi2_cc(b, c).zip(mcnemar_chi2_p(b, c));
        return format!(
            "McNemar pooled over the cells: {b} stopped, {c} newly open, exact p = {}{}",
            p_value(mcnemar_exact(b, c)),
            chi.map_or_else(String::new, |(chi, p)| {
                format!(", chi-squared with continuity correction {chi:.1} (p = {})", p_value(p))
            }),
        );
    }
    let mut tasks: Vec<u32> = Vec::new();
    for of in attacks().map(PairedTest::tasks) {
        tasks.resize(tasks.len().max(of.len()), 0);
        tasks.iter_mut().zip(of).for_each(|(sum, n)| *sum += n);
    }
    let p = Sums::from_tasks(&tasks).map_or(1.0, |sums| sign_flip_tasks(&sums));
    format!(
        "sign-flip test of tasks pooled over the cells: attack succeeds less often in {b}, more \
         often in {c}, exact p = {}",
        p_value(p)
    )
}

fn pooled(winners: &[&ComparisonRow]) -> Option<ScoreDifference> {
    let of = |test: &PairedTest| Sums::from_tasks(&test.tasks());
    let cell = |row: &&ComparisonRow| {
        let paired = &row.evaluation.paired;
        Some((of(&paired.benign)?, of(&paired.attacks)?))
    };
    let cells: Option<Vec<(Sums, Sums)>> = winners.iter().map(cell).collect();
    pooled_bootstrap_difference(&cells?, 0.95, RESAMPLES, SEED)
}

fn mean(rows: &[&ComparisonRow], of: impl Fn(&ComparisonRow) -> Option<f64>) -> Option<f64> {
    crate::table::mean(rows.iter().filter_map(|row| of(row)))
}

/// The row of a cell's winner.
pub(crate) fn winner(cell: &GridCell) -> Option<&ComparisonRow> {
    cell.rows.iter().find(|row| row.evaluation.candidate == cell.best)
}

/// The best held-out score of a cell, of whatever defence or none. An indecisive row decides nothing.
fn top(cell: &GridCell) -> f64 {
    let decided = cell.rows.iter().filter(|row| !row.evaluation.indecisive);
    let scores = decided.filter_map(|row| row.evaluation.arm.score);
    let h0 = cell.rows.first().and_then(|row| row.evaluation.reference.score);
    scores.chain(h0).fold(f64::NEG_INFINITY, f64::max)
}

/// Where the search returned no defence, its row is the reference.
fn wins(cell: &GridCell) -> bool {
    winner(cell).is_some_and(|row| is_best(row, top(cell)))
}

fn is_best(row: &ComparisonRow, top: f64) -> bool {
    let e = &row.evaluation;
    !e.indecisive && e.arm.score.is_some_and(|score| score >= top - SLACK)
}

fn rate(report: Option<&RateReport>) -> Value {
    Value::share(report.and_then(|r| r.rate))
}

/// Per cell no defence, some published defences, the best other bundle and the winner.
fn cells(grid: &GridReport) -> Table {
    let columns = vec![
        column("domain", "domain"),
        column("victim", "victim"),
        column("defence", "defence"),
        column("utility", "utility %"),
        column("asr", "ASR %"),
        column("direct", "direct %"),
        column("indirect", "indirect %"),
        column("score", "score"),
        column("best", "best"),
        optional("published_utility", "paper: utility %"),
        optional("published_asr", "paper: ASR %"),
        optional("unassessed", "unassessed"),
        optional("verdict", "verdict"),
    ];
    let title = "Defences by cell; the best score of a cell is marked. The paper's figures are of the \
                 real models, and only its no-defence rows were used for the profiles";
    let mut table = Table::new("cells", title, columns);
    for cell in &grid.cells {
        let Some(first) = cell.rows.first() else { continue };
        let top = top(cell);
        let mut line = |name: &str, arm: &ArmReport, best: bool, lost: u64, indecisive: bool| {
            let paper = published(&cell.domain, &cell.victim, name);
            let cells = vec![
                Value::text(&cell.domain),
                Value::text(&cell.victim),
                Value::text(name),
                rate(Some(&arm.utility)),
                rate(Some(&arm.asr.all)),
                rate(arm.asr.direct.as_ref()),
                rate(arm.asr.indirect.as_ref()),
                Value::points(arm.score),
                Value::Mark(best),
                paper.map_or(Value::Empty, |p| Value::Percent(p.utility)),
                paper.map_or(Value::Empty, |p| Value::Percent(p.asr)),
                Value::some(lost),
                Value::verdict(indecisive),
            ];
            table.push_strong(cells, best);
        };
        let h0 = &first.evaluation.reference;
        let best = h0.score.is_some_and(|score| score >= top - SLACK);
        line("no defence", h0, best, 0, false);
        let mut of = |name: &str, row: &ComparisonRow| {
            let e = &row.evaluation;
            line(name, &e.arm, is_best(row, top), e.unassessed, e.indecisive);
        };
        for row in others(cell) {
            of(&row.name, row);
        }
        if let Some(row) = winner(cell) {
            of("evosafe", row);
        }
    }
    table
}

/// Some published defences and the best other bundle.
fn others(cell: &GridCell) -> Vec<&ComparisonRow> {
    let others = cell.rows.iter().filter(|row| row.evaluation.candidate != cell.best);
    let (shown, rest): (Vec<_>, Vec<_>) =
        others.partition(|row| SHOWN.contains(&row.name.as_str()));
    let best = rest.into_iter().max_by(|a, b| {
        let score = |row: &ComparisonRow| row.evaluation.arm.score.unwrap_or(f64::NEG_INFINITY);
        score(a).total_cmp(&score(b))
    });
    shown.into_iter().chain(best).collect()
}

/// Table A7: attack success of no defence and winner, with intervals, and the paired tests.
fn significance(grid: &GridReport) -> Table {
    let once = rollouts(grid) == 1;
    let mut columns = vec![
        column("domain", "domain"),
        column("victim", "victim"),
        column("no_defence_asr", "no defence ASR %"),
        ends("no_defence_wilson95", "95 %"),
        column("asr", "ASR %"),
        ends("wilson95", "95 %"),
    ];
    columns.extend(match once {
        true => vec![
            column("stopped", "stopped"),
            column("newly_open", "newly open"),
            column("mcnemar_p", "exact p"),
            column("chi2_cc", "chi-squared"),
        ],
        false => vec![
            column("less_often", "less often"),
            column("more_often", "more often"),
            column("sign_flip_p", "exact p"),
            column("score_deviation", "s.d."),
        ],
    });
    columns.extend([column("score_difference", "score"), ends("score_difference95", "95 %")]);
    let title = match once {
        true => "Winners against no defence: McNemar on attacks, paired bootstrap of the score",
        false => {
            "Winners against no defence: sign-flip test of attack tasks, the score's deviation over \
             rollouts, paired bootstrap of the score"
        }
    };
    let mut table = Table::new("significance", title, columns);
    for cell in &grid.cells {
        let Some(row) = winner(cell) else { continue };
        let e = &row.evaluation;
        let score = e.paired.score.as_ref();
        let attacks = &e.paired.attacks;
        table.push(vec![
            Value::text(&cell.domain),
            Value::text(&cell.victim),
            rate(Some(&e.reference.asr.all)),
            Value::range(e.reference.asr.all.wilson95),
            rate(Some(&e.arm.asr.all)),
            Value::range(e.arm.asr.all.wilson95),
            Value::Count(attacks.minus.into()),
            Value::Count(attacks.plus.into()),
            Value::P(attacks.p),
            match once {
                true => attacks.chi2_cc.map_or(Value::Empty, Value::Number),
                false => strata::deviation(&e.arm),
            },
            Value::points(score.map(|s| s.points)),
            Value::point_range(score.map(|s| s.interval95)),
        ]);
    }
    table
}

/// Wilson intervals of all rates of no defence and winner.
fn intervals(grid: &GridReport) -> Table {
    let columns = vec![
        column("domain", "domain"),
        column("victim", "victim"),
        column("defence", "defence"),
        column("utility", "utility %"),
        ends("utility95", "95 %"),
        column("asr", "ASR %"),
        ends("asr95", "95 %"),
        column("direct", "direct %"),
        ends("direct95", "95 %"),
        column("indirect", "indirect %"),
        ends("indirect95", "95 %"),
    ];
    let title = match rollouts(grid) {
        1 => "Wilson intervals of no defence and winner, clustered by attacker goal",
        _ => "Wilson intervals of no defence and winner, clustered by task and attacker goal",
    };
    let mut table = Table::new("intervals", title, columns).detail();
    for cell in &grid.cells {
        let Some(e) = winner(cell).map(|row| &row.evaluation) else { continue };
        for (name, arm) in [("no defence", &e.reference), ("evosafe", &e.arm)] {
            let mut cells =
                vec![Value::text(&cell.domain), Value::text(&cell.victim), Value::text(name)];
            let asr = &arm.asr;
            let of =
                [Some(&arm.utility), Some(&asr.all), asr.direct.as_ref(), asr.indirect.as_ref()];
            for report in of {
                cells.push(rate(report));
                cells.push(Value::range(report.and_then(|r| r.wilson95)));
            }
            table.push(cells);
        }
    }
    table
}

/// Every bundle in every cell.
fn bundles(grid: &GridReport) -> Table {
    let columns = vec![
        column("domain", "domain"),
        column("victim", "victim"),
        column("bundle", "bundle"),
        column("winner", "winner"),
        column("utility", "utility %"),
        column("utility_under_attack", "under attack %"),
        column("asr", "ASR %"),
        ends("asr95", "95 %"),
        column("score", "score"),
        column("best", "best"),
        column("faults", "faults"),
        optional("unassessed", "unassessed"),
        optional("verdict", "verdict"),
        column("semantic_step_absent", "semantic step absent"),
    ];
    let mut table =
        Table::new("bundles", "Winner and all warm-start bundles by cell", columns).detail();
    for cell in &grid.cells {
        let top = top(cell);
        for row in &cell.rows {
            let e = &row.evaluation;
            let cells = vec![
                Value::text(&cell.domain),
                Value::text(&cell.victim),
                Value::text(&row.name),
                Value::Mark(e.candidate == cell.best),
                rate(Some(&e.arm.utility)),
                rate(e.arm.utility_under_attack.as_ref()),
                rate(Some(&e.arm.asr.all)),
                Value::range(e.arm.asr.all.wilson95),
                Value::points(e.arm.score),
                Value::Mark(is_best(row, top)),
                Value::Count(e.harness_faults),
                Value::some(e.unassessed),
                Value::verdict(e.indecisive),
                Value::Mark(row.semantic.is_absent()),
            ];
            table.push_strong(cells, is_best(row, top));
        }
    }
    table
}
