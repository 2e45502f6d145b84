//! Intervals for shares.

use evosafe_types::Rate;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// An interval of shares, in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The Wilson score interval of a rate (paper, Appendix H): stays inside [0, 1] and keeps
/// its coverage for small samples near 0 and 1, where the normal approximation fails.
///
/// `confidence` is two-sided, in (0, 1). `None` when nothing was assessed.
#[must_use]
pub fn wilson(rate: Rate, confidence: f64) -> Option<Interval> {
    score_interval(rate.value()?, f64::from(rate.n), confidence)
}

/// The Wilson interval of the pooled rate of clusters, such as the pairs of one
/// injection task, whose episodes tend to fall together.
///
/// The sample size is divided by the design effect: the variance of the pooled rate as a
/// ratio estimate between clusters, `k/(k-1) * sum((hits_i - p n_i)^2) / n^2`, over the
/// variance `p(1-p)/n` of as many independent episodes. It is kept between 1 (clustering
/// is never taken for a gain in precision) and `n`, so that there is never less than one
/// effective observation.
///
/// At the boundary, where no episode or every episode is a hit, and with a single
/// cluster, nothing is seen of how episodes of one cluster hang together. There each
/// cluster counts as one observation, the cautious reading: the interval of 0 hits can then be
/// wider than that of 1 hit among the same episodes.
///
/// Clusters without episodes are left out. `None` when nothing was assessed.
#[must_use]
pub fn clustered_wilson(clusters: &[Rate], confidence: f64) -> Option<Interval> {
    let pooled = clusters.iter().fold(Rate::default(), |sum, rate| sum.merge(*rate));
    let share = pooled.value()?;
    let n = f64::from(pooled.n);
    let filled: Vec<&Rate> = clusters.iter().filter(|rate| rate.n > 0).collect();
    let count = filled.len() as f64;
    let independent = share * (1.0 - share) / n;
    let effective = if filled.len() < 2 || independent == 0.0 {
        count
    } else {
        let between: f64 = filled
            .iter()
            .map(|rate| (f64::from(rate.hits) - share * f64::from(rate.n)).powi(2))
            .sum();
        let clustered = count / (count - 1.0) * between / (n * n);
        (n / (clustered / independent).max(1.0)).max(1.0)
    };
    score_interval(share, effective, confidence)
}

fn score_interval(share: f64, n: f64, confidence: f64) -> Option<Interval> {
    let z = normal_quantile(confidence)?;
    let z2 = z * z;
    let scale = 1.0 + z2 / n;
    let middle = (share + z2 / (2.0 * n)) / scale;
    let half = z / scale * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    // At 0 and 1 one end is the boundary itself; rounding would leave it a hair away.
    let low = if share == 0.0 { 0.0 } else { (middle - half).max(0.0) };
    let high = if share == 1.0 { 1.0 } else { (middle + half).min(1.0) };
    Some(Interval { low, high })
}

/// How many standard deviations hold `confidence` of a normal distribution, both sides.
fn normal_quantile(confidence: f64) -> Option<f64> {
    let inside = confidence > 0.0 && confidence < 1.0;
    inside.then(|| Normal::standard().inverse_cdf(f64::midpoint(1.0, confidence)))
}
