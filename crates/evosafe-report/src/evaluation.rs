//! The tables of an evaluation.

use evosafe_types::{ArmReport, Evaluation, RateReport};

use crate::document::{Document, Table, Value, column, ends};
use crate::strata;
use crate::table::{percent, point_range, points};

/// Picks a rate of an arm.
type Measure = fn(&ArmReport) -> Option<&RateReport>;

/// What an evaluation found: rates of both arms, paired tests, sources and risk categories.
#[must_use]
pub fn evaluation_document(e: &Evaluation) -> Document {
    let groups = [(e.environment.clone(), vec![e])];
    let mut document = Document {
        title: format!("candidate {} on {} tasks", e.candidate.short(), e.split),
        facts: vec![("environment", e.environment.clone()), ("victim", e.victim.clone())],
        tables: vec![summary(e), tests(e), strata::sources(&groups), strata::risks(&groups)],
        notes: Vec::new(),
        caveats: e.caveats.clone(),
    };
    document.facts.extend(strata::rollouts_fact(e.rollouts));
    if e.rollouts > 1 {
        document.tables.insert(2, rollouts(e));
        document.notes.push(
            "intervals take the rollouts of a task, and attacks of one attacker's goal, as one \
             cluster; the deviation over rollouts is the victim's luck on these tasks"
                .to_owned(),
        );
    }
    if e.indecisive {
        document.notes.push("verdict: INDECISIVE, too much was lost to infrastructure".to_owned());
    }
    if let Some(score) = &e.paired.score {
        document.notes.push(format!(
            "score against no defence: {} points, 95 % {}, better in {} % of paired \
             bootstrap resamples",
            points(Some(score.points)),
            point_range(score.interval95[0], score.interval95[1]),
            percent(Some(score.above))
        ));
    }
    document.notes.push(format!(
        "idle floor: an agent that does nothing passes {} % of {} benign tasks",
        percent(e.idle_floor.rate),
        e.idle_floor.n
    ));
    if e.unassessed > 0 {
        document.notes.push(format!(
            "unassessed: {} tasks, in neither arm; intervals beside the score are the worst and \
             best case",
            e.unassessed
        ));
    }
    if e.harness_faults > 0 {
        document.notes.push(format!("harness faults: {} (failed closed)", e.harness_faults));
    }
    if let Some(agreement) = &e.recorded_agreement {
        document.notes.push(format!(
            "no defence replayed as recorded: {} of {} episodes",
            agreement.agree, agreement.n
        ));
        document.notes.extend(agreement.exceptions.iter().take(20).map(|exception| {
            format!(
                "  differs: {} recorded {:?}, replayed {:?}",
                exception.task, exception.recorded, exception.replayed
            )
        }));
    }
    document
}

fn summary(e: &Evaluation) -> Table {
    let columns = vec![
        column("measure", ""),
        column("candidate", "candidate"),
        ends("candidate_95", "95 %"),
        column("no_defence", "no defence"),
        ends("no_defence_95", "95 %"),
        column("n", "n"),
    ];
    let mut table = Table::new("summary", "Both arms, on the tasks that both assessed", columns);
    let measures: [(&str, Measure); 5] = [
        ("utility %", |a| Some(&a.utility)),
        ("utility under attack %", |a| a.utility_under_attack.as_ref()),
        ("ASR %", |a| Some(&a.asr.all)),
        ("ASR direct %", |a| a.asr.direct.as_ref()),
        ("ASR indirect %", |a| a.asr.indirect.as_ref()),
    ];
    for (name, of) in measures {
        let (ours, h0) = (of(&e.arm), of(&e.reference));
        let rate = |r: Option<&RateReport>| Value::share(r.and_then(|r| r.rate));
        let interval = |r: Option<&RateReport>| Value::range(r.and_then(|r| r.wilson95));
        table.push(vec![
            Value::text(name),
            rate(ours),
            interval(ours),
            rate(h0),
            interval(h0),
            ours.map_or(Value::Empty, |r| Value::Count(r.n.into())),
        ]);
    }
    let worst = |a: &ArmReport| Value::point_range(a.score_bounds.filter(|_| e.unassessed > 0));
    table.push(vec![
        Value::text("score"),
        Value::points(e.arm.score),
        worst(&e.arm),
        Value::points(e.reference.score),
        worst(&e.reference),
        Value::Empty,
    ]);
    if e.rollouts > 1 {
        let (ours, h0) = (strata::deviation(&e.arm), strata::deviation(&e.reference));
        let name = Value::text("score, s.d. over rollouts");
        table.push(vec![name, ours, Value::Empty, h0, Value::Empty, Value::Empty]);
    }
    table
}

/// The score of each rollout by itself.
fn rollouts(e: &Evaluation) -> Table {
    let columns = vec![
        column("rollout", "rollout"),
        column("candidate", "candidate"),
        column("no_defence", "no defence"),
        column("difference", "difference"),
    ];
    let mut table = Table::new("rollouts", "Score by rollout", columns);
    let both = e.arm.points_by_rollout.iter().zip(&e.reference.points_by_rollout);
    for (at, (ours, h0)) in both.enumerate() {
        table.push(vec![
            Value::Count(at as u64),
            Value::points(*ours),
            Value::points(*h0),
            Value::points(ours.zip(*h0).map(|(a, b)| a - b)),
        ]);
    }
    table
}

fn tests(e: &Evaluation) -> Table {
    let mut columns = vec![column("event", "")];
    columns.extend(strata::test_columns(e.rollouts));
    let title = match e.rollouts {
        1 => "Paired: McNemar, exact and with continuity correction; bootstrap of the difference",
        _ => "Paired by task: sign-flip test, exact; bootstrap of the difference, whole tasks",
    };
    let mut table = Table::new("tests", title, columns);
    for (event, test) in [
        ("attack succeeds", &e.paired.attacks),
        ("benign goal reached", &e.paired.benign),
        ("goal reached under attack", &e.paired.under_attack),
    ] {
        let mut cells = vec![Value::text(event)];
        cells.extend(strata::test_cells(test, e.rollouts));
        table.push(cells);
    }
    if let Some(score) = &e.paired.score {
        let mut cells = vec![Value::text("score")];
        cells.resize(table.columns.len() - 2, Value::Empty);
        cells.extend([Value::Points(score.points), Value::point_range(Some(score.interval95))]);
        table.push(cells);
    }
    table
}
