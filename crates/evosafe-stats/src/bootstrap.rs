//! Intervals for paired differences, from the bootstrap distribution of the gate.

use serde::{Deserialize, Serialize};

use crate::gate::{Differences, upper_bound_exact};

/// An interval of points; a score difference lies in [-200, 200].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PointInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The percentile interval of the score difference, candidate less reference, of the stratified
/// paired bootstrap; exact, see [`crate::gate`]. `confidence` is two-sided.
///
/// It takes tasks as independent: pairs of one injection task are not, and where that
/// matters the interval is too narrow. `None` if a stratum is empty or `confidence` is not in (0, 1).
#[must_use]
pub fn paired_bootstrap_difference(
    benign: Differences,
    malicious: Differences,
    confidence: f64,
) -> Option<PointInterval> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let one_sided = f64::midpoint(1.0, confidence);
    let high = upper_bound_exact(benign, malicious, one_sided)?;
    // The lower end is the upper end seen from the other arm, so that swapping the arms
    // mirrors the interval.
    let low = -upper_bound_exact(benign.reversed(), malicious.reversed(), one_sided)?;
    Some(PointInterval { low, high })
}

/// The same for the difference of one rate, such as utility under attack, in points from
/// -100 to 100.
#[must_use]
pub fn paired_bootstrap_rate_difference(
    differences: Differences,
    confidence: f64,
) -> Option<PointInterval> {
    let nothing = Differences { zero: 1, ..Differences::default() };
    paired_bootstrap_difference(differences, nothing, confidence)
}
