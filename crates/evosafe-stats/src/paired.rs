//! Tests for tables of paired numbers: held-out scores over five seeds, tasks with several
//! rollouts.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::gate::Sums;

/// Differences up to which [`sign_flip`] goes through all sign patterns.
pub const MAX_SIGN_FLIPS: usize = 20;

/// A paired t-test of mean difference 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairedT {
    /// Mean difference.
    pub mean: f64,
    /// Standard deviation of the differences (n - 1).
    pub deviation: f64,
    /// The statistic.
    pub t: f64,
    /// Two-sided p-value, n - 1 degrees of freedom.
    pub p: f64,
    /// Ends of the 95 % interval of the mean.
    pub interval95: (f64, f64),
}

/// The paired t-test. `None` with fewer than two differences, if a number is not finite, or if
/// all differences are equal, since the test then has nothing to measure its mean by.
#[must_use]
pub fn paired_t(differences: &[f64]) -> Option<PairedT> {
    let n = differences.len() as f64;
    if differences.len() < 2 || !differences.iter().all(|d| d.is_finite()) {
        return None;
    }
    let mean = differences.iter().sum::<f64>() / n;
    let deviation = deviation(differences)?;
    let error = deviation / n.sqrt();
    if differences.iter().all(|d| *d == differences[0]) || error == 0.0 {
        return None;
    }
    let distribution = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    let t = mean / error;
    let half = distribution.inverse_cdf(0.975) * error;
    let p = (2.0 * distribution.sf(t.abs())).min(1.0);
    Some(PairedT { mean, deviation, t, p, interval95: (mean - half, mean + half) })
}

/// The standard deviation of a sample (n - 1). `None` with fewer than two numbers.
#[must_use]
pub fn deviation(of: &[f64]) -> Option<f64> {
    let n = of.len() as f64;
    let mean = of.iter().sum::<f64>() / n;
    let squares: f64 = of.iter().map(|x| (x - mean).powi(2)).sum();
    (of.len() > 1).then(|| (squares / (n - 1.0)).sqrt())
}

/// The exact two-sided p-value, in (0, 1], of the sign-flip test on paired tasks with several
/// rollouts: without an effect a task's summed difference is as likely to have either sign.
///
/// The task is what is exchanged, so rollouts that fall together make no result look surer than it
/// is. With one rollout this is McNemar's exact test, see [`crate::mcnemar_exact`].
#[must_use]
pub fn sign_flip_tasks(of: &Sums) -> f64 {
    let sums: Vec<i64> = of.sums().into_iter().filter(|sum| *sum != 0).collect();
    let total: i64 = sums.iter().map(|sum| sum.abs()).sum();
    let observed = sums.iter().sum::<i64>().abs();
    // A sum of `observed` or more leaves tasks of half the rest, or less, on the other side.
    let most = usize::try_from((total - observed) / 2).unwrap_or(0);
    let mut chance = vec![0.0; most + 1];
    chance[0] = 1.0;
    for sum in sums {
        let step = usize::try_from(sum.abs()).unwrap_or(0);
        for at in (0..=most).rev() {
            let flipped = if at >= step { chance[at - step] } else { 0.0 };
            chance[at] = (chance[at] + flipped) / 2.0;
        }
    }
    // Both sides are alike, and hold the middle term where nothing was observed.
    let both = 2.0 * chance.iter().sum::<f64>();
    both.clamp(f64::MIN_POSITIVE, 1.0)
}

/// An exact sign-flip permutation test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SignFlip {
    /// Share of sign patterns whose sum is at least as far from 0.
    pub two_sided: f64,
    /// Share of sign patterns whose sum is at least as large: the test of "greater".
    pub greater: f64,
}

/// The exact test that differences are as likely to have either sign, by their sum over all `2^n`
/// patterns of signs. It assumes nothing of their distribution; with five seeds its least
/// p-values are 1/16 two-sided and 1/32 one-sided.
///
/// `None` without differences, with more than [`MAX_SIGN_FLIPS`], or if one is not finite.
#[must_use]
pub fn sign_flip(differences: &[f64]) -> Option<SignFlip> {
    let n = differences.len();
    if n == 0 || n > MAX_SIGN_FLIPS || !differences.iter().all(|d| d.is_finite()) {
        return None;
    }
    let observed: f64 = differences.iter().sum();
    // Sums that are equal on paper may differ in the last bits.
    let slack = 1e-12 * differences.iter().map(|d| d.abs()).sum::<f64>();
    let patterns = 1_u32 << n;
    let (mut far, mut large) = (0_u32, 0_u32);
    for pattern in 0..patterns {
        let flipped = differences.iter().enumerate();
        let sum: f64 = flipped.map(|(i, d)| if pattern >> i & 1 == 1 { -d } else { *d }).sum();
        far += u32::from(sum.abs() >= observed.abs() - slack);
        large += u32::from(sum >= observed - slack);
    }
    let share = |count: u32| f64::from(count) / f64::from(patterns);
    Some(SignFlip { two_sided: share(far), greater: share(large) })
}
