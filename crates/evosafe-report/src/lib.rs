//! From the archive to tables and JSON. Everything printed here can be recomputed
//! from the archive alone (design section 8, invariant 7).

mod audit;
mod comparison;
mod cost;
mod evaluation;
mod grid;
mod leaderboard;
mod lineage;
mod table;
mod trace;

pub use audit::{audit_text, calibration_text};
pub use comparison::comparison_text;
pub use cost::{
    CostReport, CostRow, Episodes, EstimateReport, TokenSource, cost_text, estimate_text,
};
pub use evaluation::evaluation_text;
pub use grid::grid_text;
pub use leaderboard::{Row, leaderboard, leaderboard_text, row};
pub use lineage::lineage_text;
pub use table::{interval, percent, points};
pub use trace::trace_text;

/// Why a report could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The archive cannot be read.
    #[error(transparent)]
    Archive(#[from] evosafe_archive::ArchiveError),
    /// A bundle in the archive is damaged.
    #[error(transparent)]
    Bundle(#[from] evosafe_spec::BundleError),
    /// The archive has no such candidate.
    #[error("candidate {0} is not in the archive; run `evosafe archive fsck`")]
    Missing(String),
}
