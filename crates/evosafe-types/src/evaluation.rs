//! The result of evaluating one candidate against H0: what `evaluate --json` prints
//! and what the archive keeps of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{CandidateId, Origin, RunId, TaskId};

/// A rate with its interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RateReport {
    /// Share in [0, 1]; absent when nothing was assessed.
    pub rate: Option<f64>,
    /// Assessed episodes.
    pub n: u32,
    /// 95 % Wilson interval; over pairs, with the effective sample size of clusters of
    /// one injection task.
    pub wilson95: Option<[f64; 2]>,
}

/// Attack success, by source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AsrReport {
    /// Over both sources.
    #[serde(flatten)]
    pub all: RateReport,
    /// Direct attacks.
    pub direct: Option<RateReport>,
    /// Indirect attacks.
    pub indirect: Option<RateReport>,
}

/// One arm of the comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArmReport {
    /// Task success on benign tasks.
    pub utility: RateReport,
    /// Attack success.
    pub asr: AsrReport,
    /// Task success on attack tasks with a legitimate goal.
    pub utility_under_attack: Option<RateReport>,
    /// `100 * (utility - ASR)`.
    pub score: Option<f64>,
    /// The score if every unassessed episode had gone the worst, and the best, way.
    pub score_bounds: Option<[f64; 2]>,
}

/// Exact McNemar test on paired attack tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct McNemarReport {
    /// Attacks that succeed undefended only.
    pub b: u64,
    /// Attacks that succeed under the candidate only.
    pub c: u64,
    /// Two-sided p-value.
    pub p: f64,
}

/// Agreement of replayed H0 with what was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgreementReport {
    /// Episodes compared.
    pub n: u64,
    /// Episodes in which utility and attack flags both agree.
    pub agree: u64,
    /// The others.
    pub exceptions: Vec<AgreementException>,
}

/// An episode whose replay does not give the recorded flags.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgreementException {
    /// The task.
    pub task: TaskId,
    /// Recorded (task success, attack success).
    pub recorded: (Option<bool>, Option<bool>),
    /// Replayed (task success, attack success).
    pub replayed: (Option<bool>, Option<bool>),
}

/// The result of an evaluation; what `evaluate --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The candidate.
    pub candidate: CandidateId,
    /// `train`, `held-out` or `all`.
    pub split: String,
    /// The victim.
    pub victim: String,
    /// Environment name and version.
    pub environment: String,
    /// The candidate's arm.
    #[serde(flatten)]
    pub arm: ArmReport,
    /// H0's arm, on the same tasks.
    pub reference: ArmReport,
    /// Paired test on attack tasks.
    pub mcnemar: McNemarReport,
    /// Benign tasks that an agent which does nothing passes.
    pub idle_floor: RateReport,
    /// Tasks that one of the arms lost to infrastructure; they count in neither.
    pub unassessed: u64,
    /// Whether too many were lost for a verdict.
    pub indecisive: bool,
    /// Replayed H0 against the recorded flags.
    pub recorded_agreement: Option<AgreementReport>,
    /// Harness faults of the candidate.
    pub harness_faults: u64,
    /// What must be said beside every number.
    pub caveats: Vec<String>,
    /// Episodes run by this process.
    pub episodes_run: u64,
    /// Episodes taken from the archive.
    pub episodes_reused: u64,
}

/// Questions that a harness put to the victim's classifier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SemanticStep {
    /// Questions.
    pub asked: u64,
    /// Those a model answered.
    pub answered: u64,
}

impl SemanticStep {
    /// Whether the harness wanted a model and had none: what was measured is what is left
    /// of it without.
    #[must_use]
    pub fn is_absent(self) -> bool {
        self.asked > 0 && self.answered == 0
    }
}

/// One bundle in a comparison; what `compare --json` prints of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRow {
    /// Name of the bundle.
    pub name: String,
    /// Who wrote it.
    pub origin: Origin,
    /// The table.
    #[serde(flatten)]
    pub evaluation: Evaluation,
    /// Legitimate goals that a rule cost, with and without an attack, by rule.
    pub false_blocks: BTreeMap<String, u32>,
    /// Its semantic step.
    pub semantic: SemanticStep,
    /// Mean time of a hook call on this machine, in microseconds; absent if none was made.
    pub hook_us: Option<f64>,
}

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

/// Searches over domains and victims; what `grid --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GridReport {
    /// Domain by domain.
    pub cells: Vec<GridCell>,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_semantic_step_is_absent_only_where_it_was_wanted() {
        assert!(!SemanticStep::default().is_absent(), "nothing was asked");
        assert!(SemanticStep { asked: 3, answered: 0 }.is_absent());
        assert!(!SemanticStep { asked: 3, answered: 1 }.is_absent());
    }
}
