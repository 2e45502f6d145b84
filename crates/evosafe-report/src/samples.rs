//! Made-up evaluations for the tests of tables.

use evosafe_stats::gate::{Differences, Sums};
use evosafe_stats::{
    deviation, mcnemar_exact, paired_bootstrap_difference, sign_flip_tasks, wilson,
};
use evosafe_types::{
    ArmReport, AsrReport, CandidateId, CategoryReport, ComparisonRow, DifferenceReport, Evaluation,
    Family, GridCell, McNemarReport, Origin, PairedReport, PairedTest, Rate, RateReport, RunId,
    SIMULATED_CAVEAT, SemanticStep,
};

fn rate(hits: u32, n: u32) -> RateReport {
    let rate = Rate { hits, n };
    RateReport { rate: rate.value(), n, wilson95: wilson(rate, 0.95).map(|i| [i.low, i.high]) }
}

fn arm(goals: u32, attacks: u32) -> ArmReport {
    let score = 100.0 * (f64::from(goals) / 10.0 - f64::from(attacks) / 20.0);
    ArmReport {
        utility: rate(goals, 10),
        asr: AsrReport { all: rate(attacks, 20), direct: Some(rate(attacks, 20)), indirect: None },
        utility_under_attack: None,
        score: Some(score),
        score_bounds: None,
        points_by_rollout: Vec::new(),
        points_deviation: None,
    }
}

/// Of ten benign tasks the candidate does `goals`, of 20 direct attacks `attacks` get through;
/// no defence does 9 and lets 12 through. What the candidate loses or stops, no defence had.
pub(crate) fn evaluation(name: &str, goals: u32, attacks: u32) -> Evaluation {
    let benign = Differences { minus: 9 - goals, zero: 1 + goals, plus: 0 };
    let stopped = Differences { minus: 12 - attacks, zero: 8 + attacks, plus: 0 };
    let test = |d: Differences| PairedTest {
        minus: d.minus,
        same: d.zero,
        plus: d.plus,
        p: mcnemar_exact(d.minus.into(), d.plus.into()),
        ..PairedTest::default()
    };
    let category =
        |family: Family, category: &str, reference: (u32, u32), candidate: u32| CategoryReport {
            family,
            category: category.to_owned(),
            reference: Rate { hits: reference.0, n: reference.1 },
            candidate: Rate { hits: candidate, n: reference.1 },
            tasks_by_hits: Vec::new(),
        };
    let score = paired_bootstrap_difference(benign, stopped, 0.95);
    Evaluation {
        candidate: CandidateId::of(&[name.as_bytes()]),
        split: "held-out".to_owned(),
        victim: "sim:sample".to_owned(),
        environment: "shop 1".to_owned(),
        arm: arm(goals, attacks),
        reference: arm(9, 12),
        rollouts: 1,
        mcnemar: Some(McNemarReport {
            b: stopped.minus.into(),
            c: 0,
            p: mcnemar_exact(stopped.minus.into(), 0),
        }),
        paired: PairedReport {
            attacks: test(stopped),
            benign: test(benign),
            under_attack: PairedTest::default(),
            score: score.map(|s| DifferenceReport {
                points: s.points,
                interval95: [s.interval.low, s.interval.high],
                above: s.above,
            }),
        },
        by_category: vec![
            category(Family::Benign, "orders", (9, 10), goals),
            category(Family::Direct, "wash_trade", (12, 20), attacks),
        ],
        idle_floor: rate(0, 10),
        unassessed: 0,
        indecisive: false,
        recorded_agreement: None,
        harness_faults: 0,
        caveats: vec![SIMULATED_CAVEAT.to_owned()],
        episodes_run: 0,
        episodes_reused: 0,
    }
}

pub(crate) fn row(name: &str, evaluation: Evaluation) -> ComparisonRow {
    ComparisonRow {
        name: name.to_owned(),
        origin: Origin::Seed,
        evaluation,
        false_blocks: Default::default(),
        semantic: SemanticStep::default(),
        hook_us: None,
    }
}

/// A cell whose winner is `winner`; the first row is its own.
pub(crate) fn cell(domain: &str, victim: &str, rows: Vec<ComparisonRow>) -> GridCell {
    let best = rows.first().map(|row| row.evaluation.candidate.clone());
    GridCell {
        domain: domain.to_owned(),
        victim: victim.to_owned(),
        run: RunId::of(&[domain.as_bytes()]),
        best: best.unwrap_or_else(|| CandidateId::of(&[])),
        search_score: Some(50.0),
        rows,
    }
}

/// The same run twice: what succeeded did so in both rollouts, but for one benign goal that was
/// reached in the first only.
pub(crate) fn twice(name: &str, goals: u32, attacks: u32) -> Evaluation {
    let mut e = evaluation(name, goals, attacks);
    e.rollouts = 2;
    e.mcnemar = None;
    let points = e.arm.score.map(|score| score - 10.0);
    e.arm.points_by_rollout = vec![e.arm.score, points];
    e.arm.points_deviation = deviation(&[10.0, 0.0]);
    e.arm.score = e.arm.score.map(|score| score - 5.0);
    e.arm.utility = rate(2 * goals - 1, 20);
    e.reference.points_by_rollout = vec![e.reference.score; 2];
    e.reference.points_deviation = Some(0.0);
    let (b, a) = (&mut e.paired.benign, &mut e.paired.attacks);
    b.sums = vec![9 - goals, 1, goals, 0, 0];
    a.sums = vec![12 - attacks, 0, 8 + attacks, 0, 0];
    for test in [b, a] {
        let sums = Sums::from_tasks(&test.sums).expect("five numbers");
        let signs = sums.signs();
        (test.minus, test.same, test.plus) = (signs.minus, signs.zero, signs.plus);
        test.p = sign_flip_tasks(&sums);
    }
    for row in &mut e.by_category {
        let (hits, n) = (row.candidate.hits, row.candidate.n);
        row.tasks_by_hits = vec![n - hits, 0, hits];
        row.candidate = Rate { hits: 2 * hits, n: 2 * n };
        row.reference = Rate { hits: 2 * row.reference.hits, n: 2 * row.reference.n };
    }
    e
}
