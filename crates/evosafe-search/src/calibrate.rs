//! How often the gate errs, by simulation from an archive's own evidence: prefixes are drawn
//! from the tasks that were run, with replacement, and the gate is asked each time.

use std::collections::{BTreeMap, HashMap};

use evosafe_archive::Archive;
use evosafe_spec::CascadePlan;
use evosafe_stats::gate::{Sums, upper_bound_exact};
use evosafe_types::{CalibrationReport, CalibrationRow, CandidateId, Family, Rate, TaskId};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::arm::independent;
use crate::cascade::rule;
use crate::run::RunRecord;
use crate::verdict::event;
use crate::{SearchError, rng};

/// Per stratum (benign; malicious), a candidate's tasks by the sum of their paired differences
/// over the rollouts.
type Population = [Vec<i32>; 2];

/// H0's tasks: their family, and in how many rollouts what their stratum counts happened; `None`
/// where a rollout is missing or was lost.
type Reference<'a> = BTreeMap<&'a TaskId, (Family, Option<i32>)>;

/// Asks the gate and remembers: few of the drawn prefixes differ.
struct Gate<'a> {
    plan: &'a CascadePlan,
    rollouts: u32,
    sizes: [usize; 2],
    known: HashMap<[Sums; 2], bool>,
}

/// Simulates the gate of `plan` on the evidence of a search.
///
/// * A/A: both arms are H0, the luck of each drawn independently. Every stop is false. This is
///   the hardest case for a gate, since paired arms share their tasks.
/// * A/B: one arm is a candidate. A stop is false unless it is worse than H0 by more than the
///   margin on all its tasks; then a pass is missed.
///
/// What is drawn is whole tasks, with all the rollouts that the search ran, and the gate takes
/// their means as it does in the search.
///
/// # Errors
/// If the archive cannot be read, no task of a stratum was run, or the search's specification
/// is no longer accepted.
pub fn calibrate(
    archive: &Archive,
    record: &RunRecord,
    plan: &CascadePlan,
    draws: u32,
    seed: u64,
) -> Result<CalibrationReport, SearchError> {
    let rollouts = record.plan()?.search.rollouts.max(1);
    let mut h0 = Reference::new();
    for task in &record.order {
        let key = record.identity.evidence_key(&record.h0, task, 0);
        if let Some(family) = archive.evidence(&key)?.map(|evidence| evidence.family) {
            let hits = hits(archive, record, &record.h0, (task, family), rollouts)?;
            h0.insert(task, (family, hits));
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
    let mut gate = Gate { plan, rollouts, sizes, known: HashMap::new() };
    let same = gate.same(&h0, draws, seed);
    let mut rows = Vec::new();
    for (at, candidate) in record.candidates.iter().enumerate() {
        if *candidate == record.h0 {
            continue;
        }
        let population = population(archive, record, candidate, &h0, rollouts)?;
        if population.iter().any(Vec::is_empty) {
            continue;
        }
        let mut rng = rng::stream(seed, "gate", at as u64);
        let stops = gate.stops(&mut rng, draws, |rng, stratum| {
            let of = &population[stratum];
            of[rng.random_range(0..of.len())]
        });
        let mean = |stratum: usize| mean(&population[stratum], rollouts);
        let difference = 100.0 * (mean(0) - mean(1));
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
        rollouts,
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
    h0: &Reference<'_>,
    rollouts: u32,
) -> Result<Population, SearchError> {
    let mut population: Population = Default::default();
    for task in &record.order {
        let Some(&(family, Some(theirs))) = h0.get(task) else { continue };
        if let Some(ours) = hits(archive, record, candidate, (task, family), rollouts)? {
            population[usize::from(family.is_attack())].push(ours - theirs);
        }
    }
    Ok(population)
}

/// In how many rollouts of a task what its stratum counts happened; `None` if one of them is
/// missing or was lost: half a task is no task to the gate.
fn hits(
    archive: &Archive,
    record: &RunRecord,
    candidate: &CandidateId,
    (task, family): (&TaskId, Family),
    rollouts: u32,
) -> Result<Option<i32>, SearchError> {
    let mut hits = 0;
    for seed in 0..u64::from(rollouts) {
        let key = record.identity.evidence_key(candidate, task, seed);
        let outcome = archive.outcome(&key)?;
        let Some(hit) = outcome.and_then(|(outcome, _)| event(family, &outcome)) else {
            return Ok(None);
        };
        hits += i32::from(hit);
    }
    Ok(Some(hits))
}

fn mean(sums: &[i32], rollouts: u32) -> f64 {
    let sum: i32 = sums.iter().sum();
    let n = u32::try_from(sums.len().max(1)).unwrap_or(u32::MAX);
    f64::from(sum) / (f64::from(n) * f64::from(rollouts))
}

impl Gate<'_> {
    fn same(&mut self, h0: &Reference<'_>, draws: u32, seed: u64) -> Rate {
        let mut hits: Population = Default::default();
        for (family, of) in h0.values() {
            hits[usize::from(family.is_attack())].extend(of);
        }
        if hits.iter().any(Vec::is_empty) {
            return Rate::default();
        }
        let mut rng = rng::stream(seed, "gate a/a", 0);
        self.stops(&mut rng, draws, |rng, stratum| {
            let of = &hits[stratum];
            let mut luck = || of[rng.random_range(0..of.len())];
            luck() - luck()
        })
    }

    fn stops(
        &mut self,
        rng: &mut ChaCha8Rng,
        draws: u32,
        mut draw: impl FnMut(&mut ChaCha8Rng, usize) -> i32,
    ) -> Rate {
        let mut rate = Rate::default();
        for _ in 0..draws {
            let mut prefix = [Sums::new(self.rollouts), Sums::new(self.rollouts)];
            for (stratum, sums) in prefix.iter_mut().enumerate() {
                for _ in 0..self.sizes[stratum] {
                    sums.push(draw(rng, stratum));
                }
            }
            rate.push(self.asks(prefix));
        }
        rate
    }

    fn asks(&mut self, prefix: [Sums; 2]) -> bool {
        let plan = self.plan;
        *self.known.entry(prefix).or_insert_with_key(|[benign, malicious]| {
            let bound = upper_bound_exact(benign.clone(), malicious.clone(), plan.confidence);
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
        let mut gate = Gate { plan: &plan, rollouts: 1, sizes: [4, 8], known: HashMap::new() };
        let mut rng = rng::stream(1, "test", 0);
        let lost = gate.stops(&mut rng, 50, |_, stratum| if stratum == 0 { -1 } else { 0 });
        assert_eq!(lost, Rate { hits: 50, n: 50 }, "every benign task lost");
        let equal = gate.stops(&mut rng, 50, |_, _| 0);
        assert_eq!(equal, Rate { hits: 0, n: 50 });
        let safer = gate.stops(&mut rng, 50, |_, stratum| if stratum == 0 { 0 } else { -1 });
        assert_eq!(safer, Rate { hits: 0, n: 50 }, "fewer attacks are no loss");
        assert_eq!(gate.known.len(), 3, "asked once for each prefix that differs");
        // Of three rollouts each lost one: 33 points, and certain. One attack more is not enough.
        let mut gate = Gate { plan: &plan, rollouts: 3, sizes: [4, 8], known: HashMap::new() };
        let lost = gate.stops(&mut rng, 50, |_, stratum| if stratum == 0 { -1 } else { 0 });
        assert_eq!(lost, Rate { hits: 50, n: 50 });
        let mut turn = 0;
        let once = gate.stops(&mut rng, 1, |_, _| {
            turn += 1;
            i32::from(turn == 12)
        });
        assert_eq!(once, Rate { hits: 0, n: 1 });
    }

    #[test]
    fn the_same_seed_draws_the_same() {
        let plan = plan();
        let draw = |seed| {
            let mut gate = Gate { plan: &plan, rollouts: 1, sizes: [4, 8], known: HashMap::new() };
            let mut rng = rng::stream(seed, "test", 0);
            gate.stops(&mut rng, 300, |rng, _| -i32::from(rng.random_range(0..3) > 0))
        };
        assert_eq!(draw(1), draw(1));
        assert!((1..300).contains(&draw(1).hits), "{:?}", draw(1));
    }
}
