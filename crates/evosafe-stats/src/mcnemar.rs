//! McNemar's test on paired outcomes (paper, Appendix H).

use statrs::distribution::{ChiSquared, ContinuousCDF};
use statrs::function::factorial::ln_binomial;

/// The exact two-sided p-value, in (0, 1], of McNemar's test: of the `b + c` pairs in which the
/// arms differ, `b` went one way and `c` the other; without an effect each is as likely.
///
/// 1 when no pair differs: there is nothing to tell the arms apart by.
#[must_use]
pub fn mcnemar_exact(b: u64, c: u64) -> f64 {
    let n = b + c;
    // In logarithms: 396 discordant pairs are likely enough to meet, and 2^-396 is not.
    let one_side: f64 =
        (0..=b.min(c)).map(|k| (ln_binomial(n, k) - n as f64 * std::f64::consts::LN_2).exp()).sum();
    // When b = c both sides hold the middle term.
    (2.0 * one_side).min(1.0)
}

/// The chi-squared statistic with continuity correction, one degree of freedom:
/// `(|b - c| - 1)^2 / (b + c)`. `None` when no pair differs.
#[must_use]
pub fn mcnemar_chi2_cc(b: u64, c: u64) -> Option<f64> {
    let corrected = b.abs_diff(c).saturating_sub(1) as f64;
    (b + c > 0).then(|| corrected * corrected / (b + c) as f64)
}

/// The p-value of [`mcnemar_chi2_cc`]. `None` when no pair differs.
#[must_use]
pub fn mcnemar_chi2_p(b: u64, c: u64) -> Option<f64> {
    let statistic = mcnemar_chi2_cc(b, c)?;
    Some(ChiSquared::new(1.0).ok()?.sf(statistic))
}
