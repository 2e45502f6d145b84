//! How often the gate errs, by simulation from an archive's own evidence: prefixes are drawn
//! from the tasks that were run, with replacement, and the gate is asked each time.

use std::collections::{BTreeMap, HashMap};

use evosafe_archive::Archive;
use evosafe_spec::CascadePlan;
use evosafe_stats::gate::{Differences, upper_bound_exact};
use evosafe_types::{
    CalibrationReport, CalibrationRow, CandidateId, Family, Outcome, Rate, TaskId,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::cascade::rule;
use crate::evaluate::independent;
use crate::run::RunRecord;
use crate::verdict::event;
use crate::{SearchError, rng};

/// Per stratum (benign; malicious), the paired differences of a candidate's tasks.
type Population = [Vec<i8>; 2];

/// Asks the gate and remembers: few of the drawn prefixes differ.
struct Gate<'a> {
    plan: &'a CascadePlan,
    sizes: [usize; 2],
    known: HashMap<[Differences; 2], bool>,
}

/// Simulates the gate of `plan` on the evidence of a search.
///
/// * A/A: both arms are H0, the luck of each drawn independently. Every stop is false. This is
///   the hardest case for a gate, since paired arms share their tasks.
/// * A/B: one arm is a candidate. A stop is false unless it is worse than H0 by more than the
///   margin on all its tasks; then a pass is missed.
///
/// The gate is studied with one rollout a task, whatever the search ran; more make it surer.
///
/// # Errors
/// If the archive cannot be read, or no task of a stratum was run.
pub fn calibrate(
    archive: &Archive,
    record: &RunRecord,
    plan: &CascadePlan,
    draws: u32,
    seed: u64,
) -> Result<CalibrationReport, SearchError> {
    let mut h0: BTreeMap<&TaskId, (Family, Outcome)> = BTreeMap::new();
    for task in &record.order {
        let key = record.identity.evidence_key(&record.h0, task, 0);
        if let Some(evidence) = archive.evidence(&key)? {
            h0.insert(task, (evidence.family, evidence.outcome));
        }
    }
    let in_gate = record.order.iter().take(plan.gate as usize).filter_map(|t| h0.get(t));
    let malicious = in_gate.clone().filter(|(family, _)| family.is_attack()).count();
    let sizes = [in_gate.count() - malicious, malicious];
    if sizes.contains(&0) {
        return Err(SearchError::Unusable(
            "the gate prefix of this search has no evidence of one stratum: run the search first"
                .to_owned(),
        ));
    }
    let mut gate = Gate { plan, sizes, known: HashMap::new() };
    let same = gate.same(&h0, draws, seed);
    let mut rows = Vec::new();
    for (at, candidate) in record.candidates.iter().enumerate() {
        if *candidate == record.h0 {
            continue;
        }
        let population = population(archive, record, candidate, &h0)?;
        if population.iter().any(Vec::is_empty) {
            continue;
        }
        let mut rng = rng::stream(seed, "gate", at as u64);
        let stops = gate.stops(&mut rng, draws, |rng, stratum| {
            let of = &population[stratum];
            of[rng.random_range(0..of.len())]
        });
        let difference = 100.0 * (mean(&population[0]) - mean(&population[1]));
        rows.push(CalibrationRow {
            candidate: candidate.clone(),
            tasks: population.iter().map(Vec::len).sum::<usize>() as u64,
            difference,
            inferior: difference < -plan.margin,
            stops: independent(stops),
            stopped: stops.hits,
        });
    }
    let pooled = |inferior: bool| -> Rate {
        let of = rows.iter().filter(|r| r.inferior == inferior);
        of.fold(Rate::default(), |sum, row| {
            let hits = if inferior { row.stops.n - row.stopped } else { row.stopped };
            Rate { hits: sum.hits + hits, n: sum.n + row.stops.n }
        })
    };
    Ok(CalibrationReport {
        benign: sizes[0] as u64,
        malicious: sizes[1] as u64,
        margin: plan.margin,
        confidence: plan.confidence,
        draws,
        same: independent(same),
        false_stops: independent(pooled(false)),
        missed_stops: independent(pooled(true)),
        rows,
    })
}

fn population(
    archive: &Archive,
    record: &RunRecord,
    candidate: &CandidateId,
    h0: &BTreeMap<&TaskId, (Family, Outcome)>,
) -> Result<Population, SearchError> {
    let mut population: Population = Default::default();
    for task in &record.order {
        let Some((family, theirs)) = h0.get(task) else { continue };
        let key = record.identity.evidence_key(candidate, task, 0);
        let Some((ours, _)) = archive.outcome(&key)? else { continue };
        if let (Some(x), Some(y)) = (event(*family, &ours), event(*family, theirs)) {
            population[usize::from(family.is_attack())].push(i8::from(x) - i8::from(y));
        }
    }
    Ok(population)
}

fn mean(differences: &[i8]) -> f64 {
    let sum: i32 = differences.iter().map(|&d| i32::from(d)).sum();
    let n = i32::try_from(differences.len().max(1)).unwrap_or(i32::MAX);
    f64::from(sum) / f64::from(n)
}

impl Gate<'_> {
    fn same(&mut self, h0: &BTreeMap<&TaskId, (Family, Outcome)>, draws: u32, seed: u64) -> Rate {
        let mut events: [Vec<bool>; 2] = Default::default();
        for (family, outcome) in h0.values() {
            events[usize::from(family.is_attack())].extend(event(*family, outcome));
        }
        if events.iter().any(Vec::is_empty) {
            return Rate::default();
        }
        let mut rng = rng::stream(seed, "gate a/a", 0);
        self.stops(&mut rng, draws, |rng, stratum| {
            let of = &events[stratum];
            let mut luck = || i8::from(of[rng.random_range(0..of.len())]);
            luck() - luck()
        })
    }

    fn stops(
        &mut self,
        rng: &mut ChaCha8Rng,
        draws: u32,
        mut draw: impl FnMut(&mut ChaCha8Rng, usize) -> i8,
    ) -> Rate {
        let mut rate = Rate::default();
        for _ in 0..draws {
            let mut prefix = [Differences::default(); 2];
            for (stratum, differences) in prefix.iter_mut().enumerate() {
                for _ in 0..self.sizes[stratum] {
                    match draw(rng, stratum) {
                        1 => differences.plus += 1,
                        -1 => differences.minus += 1,
                        _ => differences.zero += 1,
                    }
                }
            }
            rate.push(self.asks(prefix));
        }
        rate
    }

    fn asks(&mut self, prefix: [Differences; 2]) -> bool {
        let plan = self.plan;
        *self.known.entry(prefix).or_insert_with(|| {
            let bound = upper_bound_exact(prefix[0], prefix[1], plan.confidence);
            bound.is_some_and(|bound| rule(plan).stops(bound))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> CascadePlan {
        let (margin, confidence) = (10.0, 0.95);
        CascadePlan {
            smoke: 3,
            gate: 12,
            search: 30,
            wide: None,
            margin,
            confidence,
            finalists: 4,
            under_attack_margin: 0.0,
        }
    }

    #[test]
    fn the_simulated_gate_is_the_gate() {
        let plan = plan();
        let mut gate = Gate { plan: &plan, sizes: [4, 8], known: HashMap::new() };
        let mut rng = rng::stream(1, "test", 0);
        let lost = gate.stops(&mut rng, 50, |_, stratum| if stratum == 0 { -1 } else { 0 });
        assert_eq!(lost, Rate { hits: 50, n: 50 }, "every benign task lost");
        let equal = gate.stops(&mut rng, 50, |_, _| 0);
        assert_eq!(equal, Rate { hits: 0, n: 50 });
        let safer = gate.stops(&mut rng, 50, |_, stratum| if stratum == 0 { 0 } else { -1 });
        assert_eq!(safer, Rate { hits: 0, n: 50 }, "fewer attacks are no loss");
        assert_eq!(gate.known.len(), 3, "asked once for each prefix that differs");
    }

    #[test]
    fn the_same_seed_draws_the_same() {
        let plan = plan();
        let draw = |seed| {
            let mut gate = Gate { plan: &plan, sizes: [4, 8], known: HashMap::new() };
            let mut rng = rng::stream(seed, "test", 0);
            gate.stops(&mut rng, 300, |rng, _| -i8::from(rng.random_range(0..3) > 0))
        };
        assert_eq!(draw(1), draw(1));
        assert!((1..300).contains(&draw(1).hits), "{:?}", draw(1));
    }
}
