//! What the cascade saved and whether it chose well: the candidates of a finished search as a
//! fixed bank, evaluated in full, and the three ways of spending episodes on them compared
//! (paper section 4.4).

use evosafe_spec::CascadePlan;
use evosafe_types::{AuditReport, Bundle, CandidateId, Spending, TaskId};

use crate::SearchError;
use crate::cascade::{bound, rule};
use crate::designer::{Standing, Yardstick, rules};
use crate::evaluate::{Bench, EvaluateConfig};
use crate::run::RunRecord;
use crate::verdict::{Verdict, score};

/// The stages of one way of spending: episodes from, episodes to (a window of the order).
struct Window {
    smoke: std::ops::Range<usize>,
    gate: std::ops::Range<usize>,
    search: std::ops::Range<usize>,
}

/// How a candidate of the bank fares under one way of spending.
struct Fate {
    episodes: u64,
    turns: u64,
    stopped: bool,
    merit: f64,
}

/// Tasks that an audit needs at the front of the canonical order: the staged way takes fresh
/// ones at each stage.
#[must_use]
pub fn audited(order: &[TaskId], plan: &CascadePlan) -> usize {
    let (smoke, gate, search) = sizes(plan);
    order.len().min(smoke + gate + search)
}

/// Runs what is missing of the bank and compares.
///
/// `config` holds the first [`audited`] tasks; `record` is of the search; `bank` the candidates in order, H0 left out.
///
/// # Errors
/// If the user interrupts or the archive fails.
pub async fn audit(
    config: EvaluateConfig,
    record: &RunRecord,
    plan: &CascadePlan,
    bank: &[Bundle],
) -> Result<AuditReport, SearchError> {
    let archive = std::sync::Arc::clone(&config.archive);
    let report = run(config, record, plan, bank).await;
    archive.flush()?;
    report
}

async fn run(
    config: EvaluateConfig,
    record: &RunRecord,
    plan: &CascadePlan,
    bank: &[Bundle],
) -> Result<AuditReport, SearchError> {
    let rollouts = config.rollouts.max(1) as usize;
    let (smoke, gate, search) = sizes(plan);
    let (smoke, gate, search) = (smoke * rollouts, gate * rollouts, search * rollouts);
    let bench = Bench::open(config).await?;
    let by_order = |verdicts: &[Verdict]| -> Vec<Verdict> {
        let of = |id: &TaskId| verdicts.iter().filter(|v| v.task == *id).cloned().collect();
        record.order.iter().flat_map::<Vec<Verdict>, _>(of).collect()
    };
    let reference = by_order(&bench.reference);
    let nested = Window { smoke: 0..smoke, gate: 0..gate, search: 0..search };
    let fresh = Window {
        smoke: 0..smoke,
        gate: smoke..smoke + gate,
        search: smoke + gate..smoke + gate + search,
    };
    let staged_fits = reference.len() >= fresh.search.end;
    let mut fates: [Vec<(CandidateId, Fate)>; 3] = Default::default();
    for bundle in bank {
        let id = bundle.id();
        // What does not build never costs an episode, whichever way they are spent.
        let Ok(harness) = bench.prepare(bundle) else { continue };
        let verdicts = by_order(&bench.evaluator.verdicts(&id, &harness, &bench.ids, None).await?);
        let mut seen = Vec::new();
        for verdict in &verdicts {
            let evidence = bench.evaluator.evidence(&id, &verdict.task, verdict.seed)?;
            seen.push(evidence.map(|e| (e.cost.victim_turns, e.transcript.faults.len())));
        }
        let seen = |at: usize| seen.get(at).copied().flatten().unwrap_or((0, 0));
        let escape = record.escapes.get(&id).copied().unwrap_or(0.0);
        let standing = Standing { rules: rules(bundle), escape };
        let fate = |window: &Window, gated: bool| {
            let rank = (standing, record.rule_price);
            fate(window, plan, gated, rank, (&verdicts, &reference), &seen)
        };
        fates[0].push((id.clone(), fate(&nested, false)));
        if staged_fits {
            fates[1].push((id.clone(), fate(&fresh, true)));
        }
        fates[2].push((id, fate(&nested, true)));
    }
    let [none, staged, nested] = fates.map(|fates| spending(&fates));
    Ok(AuditReport {
        candidates: bank.len() as u64,
        none,
        staged: staged_fits.then_some(staged),
        nested,
    })
}

fn sizes(plan: &CascadePlan) -> (usize, usize, usize) {
    (plan.smoke as usize, plan.gate as usize, plan.search as usize)
}

/// Gated: through the stages; else the search window and nothing else.
fn fate(
    window: &Window,
    plan: &CascadePlan,
    gated: bool,
    (standing, rule_price): (Standing, f64),
    (verdicts, reference): (&[Verdict], &[Verdict]),
    seen: &dyn Fn(usize) -> (u32, usize),
) -> Fate {
    let cut = |range: &std::ops::Range<usize>, of: &[Verdict]| -> Vec<Verdict> {
        of.get(range.start..range.end.min(of.len())).unwrap_or_default().to_vec()
    };
    let (mut run, mut stopped) = (std::collections::BTreeSet::new(), false);
    if gated {
        run.extend(window.smoke.clone());
        stopped = window.smoke.clone().any(|at| seen(at).1 > 0);
        if !stopped {
            run.extend(window.gate.clone());
            let (ours, theirs) = (cut(&window.gate, verdicts), cut(&window.gate, reference));
            stopped = bound(plan, &ours, &theirs).is_some_and(|b| rule(plan).stops(b));
        }
    }
    let searched = cut(&window.search, verdicts);
    if !stopped {
        run.extend(window.search.clone());
    }
    let reference = score(&cut(&window.search, reference));
    let under_attack_margin = plan.under_attack_margin;
    let yardstick = Yardstick { reference, under_attack_margin, rule_price };
    let merit = yardstick.merit(&score(&searched), standing).filter(|_| !stopped);
    Fate {
        episodes: run.len() as u64,
        turns: run.iter().map(|&at| u64::from(seen(at).0)).sum(),
        stopped,
        merit: merit.unwrap_or(f64::NEG_INFINITY),
    }
}

fn spending(fates: &[(CandidateId, Fate)]) -> Spending {
    // Of equals the first, as for candidates that came in this order.
    let best = fates.iter().reduce(|a, b| if b.1.merit > a.1.merit { b } else { a });
    Spending {
        episodes: fates.iter().map(|(_, f)| f.episodes).sum(),
        victim_turns: fates.iter().map(|(_, f)| f.turns).sum(),
        stopped: fates.iter().filter(|(_, f)| f.stopped).count() as u64,
        choice: best.filter(|(_, f)| f.merit.is_finite()).map(|(id, _)| id.clone()),
    }
}

#[cfg(test)]
mod tests {
    use evosafe_types::{Family, Outcome};

    use super::*;

    /// Benign, direct, indirect in turn; benign tasks succeed or not, attacks never do.
    fn verdicts(n: usize, succeeds: bool) -> Vec<Verdict> {
        let of = |at: usize| {
            let family = Family::ALL[at % 3];
            let attack_success = family.is_attack().then_some(false);
            let task_success = (!family.is_attack()).then_some(succeeds);
            let outcome = Outcome::Assessed { task_success, attack_success };
            Verdict { task: TaskId::new(at.to_string()), seed: 0, family, outcome }
        };
        (0..n).map(of).collect()
    }

    #[test]
    fn a_stopped_candidate_costs_what_it_was_run_on() {
        let (margin, confidence) = (10.0, 0.95);
        let plan = CascadePlan {
            smoke: 3,
            gate: 12,
            search: 30,
            wide: None,
            margin,
            confidence,
            finalists: 4,
            under_attack_margin: 0.0,
        };
        let nested = Window { smoke: 0..3, gate: 0..12, search: 0..30 };
        let fresh = Window { smoke: 0..3, gate: 3..15, search: 15..45 };
        let reference = verdicts(45, true);
        let run = |window: &Window, gated: bool, succeeds: bool, faults: usize| {
            let seen = |at: usize| (2, if at == 1 { faults } else { 0 });
            let ours = verdicts(45, succeeds);
            let fate =
                fate(window, &plan, gated, (Standing::default(), 0.0), (&ours, &reference), &seen);
            (fate.episodes, fate.turns, fate.stopped)
        };
        assert_eq!(run(&nested, false, false, 1), (30, 60, false), "no cascade, no stops");
        assert_eq!(run(&nested, true, true, 0), (30, 60, false), "each stage extends the last");
        assert_eq!(run(&fresh, true, true, 0), (45, 90, false), "each stage is fresh");
        assert_eq!(run(&nested, true, false, 0), (12, 24, true), "stopped at the gate");
        assert_eq!(run(&fresh, true, false, 0), (15, 30, true));
        assert_eq!(run(&nested, true, true, 1), (3, 6, true), "a fault in the smoke stage");
    }
}
