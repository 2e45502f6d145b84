//! Intervals, paired tests and the confidence gate. Pure: no I/O, and randomness comes
//! in as a seed.
//!
//! Rates get Wilson intervals and paired outcomes McNemar's test, as in the paper's
//! Appendix H; the gate is the one of section 4.4 with the constants of Appendix A.
//! Nothing here returns NaN: what cannot be computed is `None`.

mod bootstrap;
pub mod gate;
mod interval;
mod mcnemar;
mod paired;

pub use bootstrap::{
    MOST_EXACT, PointInterval, ScoreDifference, paired_bootstrap_difference,
    paired_bootstrap_rate_difference, pooled_bootstrap_difference,
};
pub use interval::{Interval, clustered_wilson, wilson};
pub use mcnemar::{mcnemar_chi2_cc, mcnemar_chi2_p, mcnemar_exact};
pub use paired::{
    MAX_SIGN_FLIPS, PairedT, SignFlip, deviation, paired_t, sign_flip, sign_flip_tasks,
};
