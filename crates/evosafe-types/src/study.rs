//! Results over many searches or candidates: grids, ablations, the cascade, its gate.

use serde::{Deserialize, Serialize};

use crate::evaluation::{is_one, one};
use crate::{ArmReport, CandidateId, ComparisonRow, RateReport, RunId};

/// One domain and victim of a grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridCell {
    /// The domain.
    pub domain: String,
    /// The simulated victim, without `sim:`.
    pub victim: String,
    /// The search.
    pub run: RunId,
    /// Its winner.
    pub best: CandidateId,
    /// The winner's score on the whole train side.
    pub search_score: Option<f64>,
    /// Winner and warm-start bundles on held-out tasks, each against no defence.
    pub rows: Vec<ComparisonRow>,
}

/// The winner of one cell of a grid on the held-out tasks of another, or of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrossCell {
    /// Domain it was searched in.
    pub trained_domain: String,
    /// Victim it was searched with.
    pub trained_victim: String,
    /// Domain it is used in.
    pub domain: String,
    /// Victim it is used with.
    pub victim: String,
    /// The winner.
    pub candidate: CandidateId,
    /// What it does there.
    pub arm: ArmReport,
    /// The score of no defence there, on the same tasks.
    pub reference_score: Option<f64>,
    /// Tasks that one of the arms lost.
    pub unassessed: u64,
    /// Whether too many were lost for a verdict.
    pub indecisive: bool,
}

/// Searches over domains and victims; what `grid --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridReport {
    /// Domain by domain.
    pub cells: Vec<GridCell>,
    /// Every winner in every cell, winner by winner; empty unless asked for.
    pub cross: Vec<CrossCell>,
}

/// Rules of a harness that are keyed to tokens of the train tasks, counted by a static analysis
/// that knows the code and the train tasks and neither scores nor how the code came about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlindPass {
    /// Decisions that depend on a token.
    pub keyed_rules: u32,
    /// Tokens they depend on.
    pub keyed_literals: u32,
    /// Tokens that only choose what is looked at.
    pub tolerated: u32,
}

/// One search of an ablation and what its winner does on held-out tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AblationRun {
    /// The domain.
    pub domain: String,
    /// The simulated victim, without `sim:`.
    pub victim: String,
    /// `full`, or what was taken away.
    pub arm: String,
    /// Run seed.
    pub seed: u64,
    /// The search.
    pub run: RunId,
    /// Its winner.
    pub best: CandidateId,
    /// Candidates evaluated.
    pub candidates: u32,
    /// Proposals that the Criticizer kept out.
    pub rejected: u32,
    /// The winner's score on the whole train side: what the search chose by.
    pub train_score: Option<f64>,
    /// The winner on held-out tasks.
    pub held_out: ArmReport,
    /// The score of no defence there.
    pub reference_score: Option<f64>,
    /// Held-out tasks that one of the arms lost.
    pub unassessed: u64,
    /// Whether too many were lost for a verdict.
    pub indecisive: bool,
    /// The blind pass over the winner.
    pub blind: BlindPass,
}

/// Searches with parts taken away; what `ablate --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AblationReport {
    /// Cell by cell, seed by seed, arm by arm; the full search first.
    pub runs: Vec<AblationRun>,
    /// What must be said beside every number.
    pub caveats: Vec<String>,
}

/// What one way of spending episodes on a bank of candidates costs, and whom it chooses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    /// Episodes.
    pub episodes: u64,
    /// Turns of the victim in them: what tokens are in proportion to where there are none.
    pub victim_turns: u64,
    /// Candidates stopped early.
    pub stopped: u64,
    /// The best of those that were not, by search merit.
    pub choice: Option<CandidateId>,
}

/// The cascade against its alternatives; what `cascade audit --json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditReport {
    /// Candidates of the bank, H0 left out.
    pub candidates: u64,
    /// Every candidate on the whole search prefix.
    pub none: Spending,
    /// Fresh tasks at each stage, the same gate; absent if the train side has too few.
    pub staged: Option<Spending>,
    /// Each stage extends the one before: what a search does.
    pub nested: Spending,
}

/// How often the gate stops one candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationRow {
    /// The candidate.
    pub candidate: CandidateId,
    /// Its tasks that prefixes are drawn from.
    pub tasks: u64,
    /// Its score less H0's on them, in points.
    pub difference: f64,
    /// Whether that is below minus the margin, so that stopping is right.
    pub inferior: bool,
    /// Share of drawn prefixes on which the gate stops it.
    pub stops: RateReport,
    /// The same as a count.
    pub stopped: u32,
}

/// Errors of the gate by simulation; what `gate calibrate --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationReport {
    /// Episodes a task, of which the gate takes the mean.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub rollouts: u32,
    /// Benign tasks of the gate prefix.
    pub benign: u64,
    /// Malicious tasks of the gate prefix.
    pub malicious: u64,
    /// Margin, in points.
    pub margin: f64,
    /// Confidence of the bound.
    pub confidence: f64,
    /// Prefixes drawn for each candidate.
    pub draws: u32,
    /// A/A: H0 against itself with luck of its own. Every stop is false.
    pub same: RateReport,
    /// A/B: stops of candidates that are not inferior.
    pub false_stops: RateReport,
    /// A/B: passes of candidates that are.
    pub missed_stops: RateReport,
    /// By candidate.
    pub rows: Vec<CalibrationRow>,
}
