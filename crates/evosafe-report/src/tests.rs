//! What the documents say, on made-up results.

use evosafe_types::{
    AblationReport, AblationRun, BlindPass, CandidateId, CrossCell, Evaluation, GridReport, RunId,
    SIMULATED_CAVEAT,
};

use crate::document::{Document, Table, Value};
use crate::render::{Format, render};
use crate::samples::{cell, evaluation, row, twice};
use crate::{ablation_document, comparison_document, evaluation_document, grid_document};

const FORMATS: [Format; 5] =
    [Format::Text, Format::Markdown, Format::Csv, Format::Latex, Format::Json];

fn table<'a>(document: &'a Document, name: &str) -> &'a Table {
    document.tables.iter().find(|t| t.name == name).expect("there is such a table")
}

/// The cells of a column, where the rows have another in common.
fn column(table: &Table, key: &str) -> Vec<Value> {
    let at = table.columns.iter().position(|c| c.key == key).expect("there is such a column");
    table.rows.iter().map(|row| row.cells[at].clone()).collect()
}

fn grid() -> GridReport {
    let lossy = Evaluation { indecisive: true, unassessed: 4, ..evaluation("lossy", 9, 0) };
    GridReport {
        cells: vec![
            cell("shop", "a", vec![row("won", evaluation("one", 9, 5)), row("camel", lossy)]),
            cell(
                "shop",
                "b",
                vec![row("won", evaluation("two", 8, 4)), row("x", evaluation("x", 9, 2))],
            ),
        ],
        cross: Vec::new(),
    }
}

#[test]
fn caveats_stand_in_every_format_of_every_document() {
    let e = evaluation("one", 8, 4);
    let rows = [row("one", e.clone())];
    let ablation = AblationReport { runs: Vec::new(), caveats: vec![SIMULATED_CAVEAT.to_owned()] };
    for document in [
        evaluation_document(&e),
        comparison_document(&rows),
        grid_document(&grid()),
        ablation_document(&ablation),
    ] {
        for format in FORMATS {
            let text = render(&document, format);
            assert!(text.contains(SIMULATED_CAVEAT), "{format:?}: {text}");
        }
    }
}

#[test]
fn an_indecisive_evaluation_says_so_first() {
    let e = Evaluation { indecisive: true, unassessed: 4, ..evaluation("one", 8, 4) };
    let document = evaluation_document(&e);
    assert!(document.notes[0].contains("INDECISIVE"), "{:?}", document.notes);
    let bundles = comparison_document(&[row("one", e)]);
    let verdicts = column(table(&bundles, "bundles"), "verdict");
    assert_eq!(verdicts, [Value::Empty, Value::text("indecisive")]);
}

#[test]
fn the_best_of_a_cell_is_marked_and_never_an_indecisive_one() {
    let document = grid_document(&grid());
    let cells = table(&document, "cells");
    // Cell a: no defence, camel (all attacks stopped, but indecisive), the winner. Cell b: no
    // defence, x, the winner, which loses to x.
    let best = column(cells, "best");
    let expected = [false, false, true, false, true, false].map(Value::Mark);
    assert_eq!(best, expected);
    assert_eq!(column(cells, "verdict")[1], Value::text("indecisive"));
    assert!(document.notes[0].contains("in 1 of 2 cells"), "{:?}", document.notes);
    // 7 and 8 stopped: (15 - 1)^2 / 15.
    assert!(document.notes[2].contains("15 stopped, 0 newly open"), "{:?}", document.notes);
    assert!(document.notes[2].contains("correction 13.1"), "{:?}", document.notes);
    // Scores 90 - 25 and 80 - 20 against 90 - 60.
    assert!(document.notes[3].contains("+32.5 points"), "{:?}", document.notes);
}

#[test]
fn published_rows_stand_beside_ours_where_there_are_some() {
    let mut grid = grid();
    grid.cells[0].domain = "finance".to_owned();
    grid.cells[0].victim = "glm-5".to_owned();
    let document = grid_document(&grid);
    let cells = table(&document, "cells");
    let of = |figures: [f64; 3]| figures.map(Value::Percent).to_vec();
    // No defence, camel, the winner; and nothing for a cell that the paper does not have.
    assert_eq!(column(cells, "published_utility")[..3], of([79.3, 65.5, 83.3]));
    assert_eq!(column(cells, "published_asr")[..3], of([21.4, 18.6, 10.0]));
    assert!(column(cells, "published_asr")[3..].iter().all(|value| *value == Value::Empty));
}

#[test]
fn sources_and_risks_pool_the_victims_of_a_domain() {
    let document = grid_document(&grid());
    let sources = table(&document, "sources");
    assert_eq!(column(sources, "residual"), [Value::Of(9, 40)]);
    assert_eq!(column(sources, "no_defence"), [Value::Percent(60.0)]);
    let risks = table(&document, "risks");
    assert_eq!(column(risks, "category"), [Value::text("orders"), Value::text("wash_trade")]);
    assert_eq!(column(risks, "ours"), [Value::Of(17, 20), Value::Of(9, 40)]);
}

#[test]
fn the_cross_matrix_has_winners_in_rows_and_cells_in_columns() {
    let mut grid = grid();
    let place = |i: usize| (["a", "b"][i]).to_owned();
    for (trained, deployed, goals, attacks) in
        [(0, 0, 9, 5), (0, 1, 9, 9), (1, 0, 8, 8), (1, 1, 8, 4)]
    {
        let e = evaluation("any", goals, attacks);
        grid.cross.push(CrossCell {
            trained_domain: "shop".to_owned(),
            trained_victim: place(trained),
            domain: "shop".to_owned(),
            victim: place(deployed),
            candidate: CandidateId::of(&[b"any"]),
            arm: e.arm,
            reference_score: Some(30.0),
            unassessed: 0,
            indecisive: false,
        });
    }
    let document = grid_document(&grid);
    let cross = table(&document, "cross");
    let scores = |values: Vec<Value>| -> Vec<i64> {
        let round = |v: &Value| match v {
            Value::Points(x) => Some(x.round() as i64),
            _ => None,
        };
        values.iter().filter_map(round).collect()
    };
    assert_eq!(scores(column(cross, "shop_a")), [65, 40, 30], "two winners, then no defence");
    assert_eq!(scores(column(cross, "shop_b")), [45, 60, 30]);
    let note = document.notes.iter().find(|n| n.contains("in its own cell")).expect("a note");
    assert!(note.contains("in its own cell +32.5"), "{note}");
    assert!(note.contains("same domain with another victim +12.5"), "{note}");
    assert!(note.contains("same victim in another domain -"), "{note}");
    assert!(document.notes.iter().any(|n| n.contains("in 2 of 2 cells")), "{:?}", document.notes);
}

#[test]
fn ablations_are_paired_by_seed_and_cell() {
    let mut runs = Vec::new();
    // Held-out points of an arm are 90 - 5 * attacks.
    for (seed, full, without, rules) in [(1, 4, 6, 1), (2, 5, 8, 3), (3, 4, 5, 2)] {
        for (arm, attacks, rules) in [("full", full, 0), ("no-criticizer", without, rules)] {
            for victim in ["a", "b"] {
                runs.push(AblationRun {
                    domain: "shop".to_owned(),
                    victim: victim.to_owned(),
                    arm: arm.to_owned(),
                    seed,
                    run: RunId::of(&[arm.as_bytes()]),
                    best: CandidateId::of(&[arm.as_bytes()]),
                    candidates: 60,
                    rejected: 0,
                    train_score: Some(70.0),
                    held_out: evaluation("any", 9, attacks).arm,
                    reference_score: Some(30.0),
                    unassessed: 0,
                    indecisive: false,
                    blind: BlindPass { keyed_rules: rules, ..BlindPass::default() },
                });
            }
        }
    }
    // A seed that the full search lost is in neither arm.
    let lost = AblationRun { seed: 4, indecisive: true, ..runs[0].clone() };
    let unpaired = AblationRun { seed: 4, ..runs[2].clone() };
    runs.extend([lost, unpaired]);
    let document = ablation_document(&AblationReport { runs, caveats: Vec::new() });
    let differences = table(&document, "differences");
    let round = |v: &Value| match v {
        Value::Points(x) => (x * 100.0).round() as i64,
        _ => 0,
    };
    let means: Vec<i64> = column(differences, "difference").iter().map(round).collect();
    // -10, -15 and -5 points; no search score differs; 1, 3 and 2 rules more.
    assert_eq!(means, [-1000, 0, 200]);
    assert_eq!(column(differences, "seeds"), [Value::Count(3), Value::Count(3), Value::Count(3)]);
    assert_eq!(column(differences, "sign_flip_p")[0], Value::P(0.25), "the least of three seeds");
    // t with 2 degrees of freedom: 4.3027 * 5 / sqrt(3) = 12.42 on either side of -10.
    let Value::PointRange(low, high) = column(differences, "t95")[0] else { panic!("an interval") };
    assert!((low + 22.42).abs() < 0.01 && (high - 2.42).abs() < 0.01, "{low} {high}");
    assert_eq!(column(differences, "t95")[1], Value::Empty, "nothing varies");
    assert!(document.notes.iter().any(|n| n.contains("1 runs")), "{:?}", document.notes);
    let rules = column(table(&document, "arms"), "keyed_rules");
    assert_eq!(rules[0], Value::Number(0.0));
}

/// Keys of the columns of a table.
fn keys(table: &Table) -> Vec<&str> {
    table.columns.iter().map(|column| column.key.as_str()).collect()
}

#[test]
fn several_rollouts_have_tests_of_tasks_and_a_deviation() {
    let document = evaluation_document(&twice("one", 8, 4));
    assert_eq!(document.table_names(), ["summary", "tests", "rollouts", "sources", "risks"]);
    let tests = table(&document, "tests");
    assert!(!keys(tests).iter().any(|key| key.contains("mcnemar") || key.contains("chi2")));
    // Two tasks: one lost in both rollouts, one in one of them: a quarter of four patterns each.
    let more = column(tests, "reference_more");
    assert_eq!(more[..3], [8, 2, 0].map(Value::Count));
    assert_eq!(column(tests, "sign_flip_p")[1], Value::P(0.5));
    assert_eq!(column(tests, "difference")[..2], [Value::Points(-40.0), Value::Points(-15.0)]);
    let summary = table(&document, "summary");
    let deviation = Value::Number(50.0_f64.sqrt());
    assert_eq!(column(summary, "candidate").last(), Some(&deviation));
    let rollouts = table(&document, "rollouts");
    let rounded = column(rollouts, "difference").into_iter().map(|value| match value {
        Value::Points(x) => x.round(),
        _ => f64::NAN,
    });
    assert_eq!(rounded.collect::<Vec<_>>(), [30.0, 20.0]);
    // Of attacks that always end alike, the interval is that of tasks and not of episodes.
    let once = evaluation_document(&evaluation("one", 8, 4));
    let width = |document: &Document| match column(table(document, "sources"), "ours_wilson95")[0] {
        Value::Range(low, high) => high - low,
        _ => 0.0,
    };
    assert!(width(&document) >= width(&once) && width(&once) > 0.0);
    assert!(!once.table_names().contains(&"rollouts"));

    let compared = comparison_document(&[row("one", twice("one", 8, 4))]);
    assert_eq!(compared.title, "held-out tasks: 5 benign, 10 attacks");
    let deviations = column(table(&compared, "bundles"), "score_deviation");
    assert_eq!(deviations, [Value::Number(0.0), deviation]);
    assert_eq!(table(&compared, "rollouts").rows.len(), 4);
    let once = comparison_document(&[row("one", evaluation("one", 8, 4))]);
    assert!(!keys(table(&once, "bundles")).contains(&"score_deviation"));
}

#[test]
fn a_grid_of_several_rollouts_pools_tasks() {
    let cells = [("a", 8, 4), ("b", 9, 10)]
        .map(|(victim, goals, attacks)| {
            cell("shop", victim, vec![row("won", twice(victim, goals, attacks))])
        })
        .to_vec();
    let document = grid_document(&GridReport { cells, cross: Vec::new() });
    let tests = table(&document, "significance");
    assert_eq!(column(tests, "less_often"), [Value::Count(8), Value::Count(2)]);
    assert!(!keys(tests).contains(&"mcnemar_p"));
    // Ten tasks all one way: 2 / 2^10.
    let note = &document.notes[2];
    assert!(note.contains("less often in 10, more often in 0, exact p = 0.002"), "{note}");
    assert!(document.notes[3].contains("points"), "{:?}", document.notes);
}

#[test]
fn one_rollout_reads_and_writes_as_before_there_could_be_more() {
    let e = evaluation("one", 8, 4);
    let text = serde_json::to_string(&e).expect("plain fields");
    for key in ["rollouts", "points_by_rollout", "points_deviation", "sums", "tasks_by_hits"] {
        assert!(!text.contains(&format!("\"{key}\"")), "{key}: {text}");
    }
    assert!(text.contains("\"mcnemar\":{\"b\":8,\"c\":0,"), "{text}");
    assert_eq!(serde_json::from_str::<Evaluation>(&text).expect("it reads"), e);
    let twice = twice("two", 8, 4);
    let text = serde_json::to_string(&twice).expect("plain fields");
    assert!(text.contains("\"rollouts\":2") && !text.contains("mcnemar"), "{text}");
    assert_eq!(serde_json::from_str::<Evaluation>(&text).expect("it reads"), twice);
}
