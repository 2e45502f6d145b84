//! From the archive to tables and JSON. Everything printed here can be recomputed
//! from the archive alone (design section 8, invariant 7).

mod ablation;
mod audit;
mod comparison;
mod cost;
mod cross;
mod document;
mod estimate;
mod evaluation;
mod grid;
mod leaderboard;
mod lineage;
mod published;
mod render;
#[cfg(test)]
mod samples;
mod strata;
mod table;
#[cfg(test)]
mod tests;
mod trace;

pub use ablation::ablation_document;
pub use audit::{audit_text, calibration_text};
pub use comparison::comparison_document;
pub use cost::{CostReport, CostRow, cost_text};
pub use document::{Column, Document, Parts, Row as TableRow, Table, Value};
pub use estimate::{
    Episodes, EstimateReport, RoleEstimate, RoleSource, TokenSource, VictimEstimate, estimate_text,
};
pub use evaluation::evaluation_document;
pub use grid::grid_document;
pub use leaderboard::{Row, leaderboard, leaderboard_document, row};
pub use lineage::lineage_text;
pub use render::{Format, render};
pub use table::{percent, points};
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
