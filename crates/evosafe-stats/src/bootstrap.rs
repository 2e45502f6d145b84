//! Intervals for paired differences, from the bootstrap distribution of the gate.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

use crate::gate::{
    Confidence, RESAMPLES, SEED, Sums, resample, share_above_zero, upper_bound_exact,
};

/// Episodes of a stratum, tasks times rollouts, up to which intervals are exact: a quarter of a
/// second. The counts that are convolved grow with the cube of it.
pub const MOST_EXACT: u32 = 300;

/// An interval of points; a score difference lies in [-200, 200].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PointInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A score difference, candidate less reference, with what the paired bootstrap says of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ScoreDifference {
    /// The difference observed, in points.
    pub points: f64,
    /// The percentile interval.
    pub interval: PointInterval,
    /// Share of resamples in which the candidate is better, in [0, 1].
    pub above: f64,
}

/// The percentile interval of the score difference, candidate less reference, of the stratified
/// paired bootstrap; exact, see [`crate::gate`]. `confidence` is two-sided. With more than
/// [`MOST_EXACT`] episodes in a stratum it is drawn, with the gate's resamples and seed.
///
/// Tasks are resampled with all their rollouts, which are not independent of each other. It takes tasks as independent: pairs of one injection task are not, and where that
/// matters the interval is too narrow. `None` if a stratum is empty or `confidence` is not in (0, 1).
#[must_use]
pub fn paired_bootstrap_difference(
    benign: impl Into<Sums>,
    malicious: impl Into<Sums>,
    confidence: f64,
) -> Option<ScoreDifference> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let (benign, malicious) = (benign.into(), malicious.into());
    if benign.whole().max(malicious.whole()) > i64::from(MOST_EXACT) {
        return pooled_bootstrap_difference(&[(benign, malicious)], confidence, RESAMPLES, SEED);
    }
    let one_sided = f64::midpoint(1.0, confidence);
    let (points, above) = (observed(&benign, &malicious)?, share_above_zero(&benign, &malicious)?);
    let high = upper_bound_exact(benign.clone(), malicious.clone(), one_sided)?;
    // The lower end is the upper end seen from the other arm, so that swapping the arms
    // mirrors the interval. Nothing has no sign.
    let low = 0.0 - upper_bound_exact(benign.reversed(), malicious.reversed(), one_sided)?;
    Some(ScoreDifference { points, interval: PointInterval { low, high }, above })
}

/// The same for the difference of one rate, such as utility under attack, in points from
/// -100 to 100.
#[must_use]
pub fn paired_bootstrap_rate_difference(
    differences: impl Into<Sums>,
    confidence: f64,
) -> Option<PointInterval> {
    let mut nothing = Sums::new(1);
    nothing.push(0);
    paired_bootstrap_difference(differences, nothing, confidence).map(|d| d.interval)
}

/// The mean score difference over cells of a grid, each `(benign, malicious)`, by drawing
/// `resamples` with `seed`: every stratum of every cell is resampled by itself, so the interval
/// is about these cells with other tasks, not about other cells.
///
/// Drawn because the exact distribution of many strata is too large to write down; for one cell
/// it agrees with [`paired_bootstrap_difference`] to the fineness of the draw. `None` without
/// cells or resamples, if a stratum is empty, or if `confidence` is not in (0, 1).
#[must_use]
pub fn pooled_bootstrap_difference(
    cells: &[(Sums, Sums)],
    confidence: f64,
    resamples: u32,
    seed: u64,
) -> Option<ScoreDifference> {
    if cells.is_empty() || resamples == 0 || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let count = cells.len() as f64;
    let mut points = 0.0;
    for (benign, malicious) in cells {
        points += observed(benign, malicious)? / count;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let tasks = |of: &Sums| (of.sums(), of.whole() as f64);
    let strata: Vec<_> = cells.iter().map(|(b, m)| (tasks(b), tasks(m))).collect();
    let mut means: Vec<f64> = (0..resamples)
        .map(|_| {
            let mut mean =
                |(sums, whole): &(Vec<i64>, f64)| resample(sums, &mut rng) as f64 / whole;
            let mut one = |(benign, malicious): &(_, _)| 100.0 * (mean(benign) - mean(malicious));
            strata.iter().map(&mut one).sum::<f64>() / count
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    let rank = Confidence::new(f64::midpoint(1.0, confidence))?.rank(resamples);
    let high = usize::try_from(rank).ok()? - 1;
    let low = means.len() - 1 - high;
    // Sums that are 0 on paper may differ from it in the last bits.
    let above = means.iter().filter(|mean| **mean > 1e-9).count();
    Some(ScoreDifference {
        points,
        interval: PointInterval { low: *means.get(low)?, high: *means.get(high)? },
        above: above as f64 / f64::from(resamples),
    })
}

fn observed(benign: &Sums, malicious: &Sums) -> Option<f64> {
    Some(100.0 * (benign.mean()? - malicious.mean()?))
}
