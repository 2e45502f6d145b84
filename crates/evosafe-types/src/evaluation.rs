//! The result of evaluating one candidate against H0: what `evaluate --json` prints
//! and what the archive keeps of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{CandidateId, Family, Origin, Rate, TaskId};

/// A rate with its interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RateReport {
    /// Share in [0, 1]; absent when nothing was assessed.
    pub rate: Option<f64>,
    /// Assessed episodes.
    pub n: u32,
    /// 95 % Wilson interval; over pairs, with the effective sample size of clusters of
    /// one injection task, and of tasks where each was run several times.
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
    /// The score of each rollout by itself, in points; empty with one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points_by_rollout: Vec<Option<f64>>,
    /// Their standard deviation (n - 1): how much luck of the victim is in one rollout of these
    /// tasks. Absent with one rollout, or if one of them has no score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points_deviation: Option<f64>,
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

/// A paired test of one event over the tasks that both arms assessed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PairedTest {
    /// Tasks in which H0 had the event and the candidate did not; of several rollouts, in which
    /// H0 had it in more of them.
    pub minus: u32,
    /// Tasks in which both or neither had it, or both equally often.
    pub same: u32,
    /// Tasks in which the candidate had it and H0 did not, or in more rollouts.
    pub plus: u32,
    /// Two-sided and exact; 1 when no pair differs. With one rollout McNemar's test, with several
    /// the sign-flip test of the tasks' differences, which for one is McNemar's.
    pub p: f64,
    /// McNemar's chi-squared with continuity correction; absent when no pair differs, and with
    /// several rollouts, for which it does not hold.
    pub chi2_cc: Option<f64>,
    /// Its p-value, one degree of freedom.
    pub chi2_p: Option<f64>,
    /// 95 % interval of the difference of the rates, candidate less H0, in points from -100 to
    /// 100: paired bootstrap over tasks, exact or drawn.
    pub interval95: Option<[f64; 2]>,
    /// With several rollouts, how many tasks have each sum of differences over them, from minus
    /// to plus the number of rollouts: all that the test rests on. Empty with one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sums: Vec<u32>,
}

impl PairedTest {
    /// How many tasks have each sum of differences, whatever the number of rollouts.
    #[must_use]
    pub fn tasks(&self) -> Vec<u32> {
        match self.sums.is_empty() {
            true => vec![self.minus, self.same, self.plus],
            false => self.sums.clone(),
        }
    }
}

/// A score difference, candidate less H0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DifferenceReport {
    /// In points.
    pub points: f64,
    /// 95 % percentile interval of the paired bootstrap, stratified as the gate is.
    pub interval95: [f64; 2],
    /// Share of resamples in which the candidate is better.
    pub above: f64,
}

/// The candidate against H0, task by task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PairedReport {
    /// Attack success.
    pub attacks: PairedTest,
    /// Task success on benign tasks.
    pub benign: PairedTest,
    /// Task success on attack tasks with a legitimate goal.
    pub under_attack: PairedTest,
    /// The score; absent if a family is missing.
    pub score: Option<DifferenceReport>,
}

/// One kind of task in both arms: task success where benign, else attack success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryReport {
    /// The family; of attacks, their source.
    pub family: Family,
    /// Risk category, or kind of work.
    pub category: String,
    /// H0.
    pub reference: Rate,
    /// The candidate.
    pub candidate: Rate,
    /// With several rollouts, in how many tasks the candidate had the event in none, one, ... all
    /// of them. Empty with one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks_by_hits: Vec<u32>,
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
    /// Episodes a task.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub rollouts: u32,
    /// Paired test on attack tasks; absent with several rollouts, which are not independent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcnemar: Option<McNemarReport>,
    /// Paired tests.
    pub paired: PairedReport,
    /// By family and category, sorted, over tasks that both arms assessed.
    pub by_category: Vec<CategoryReport>,
    /// Benign tasks that an agent which does nothing passes.
    pub idle_floor: RateReport,
    /// Tasks of which one of the arms lost a rollout to infrastructure; they count in neither.
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

pub(crate) fn one() -> u32 {
    1
}

/// Results of one rollout read and are written as before there could be more.
pub(crate) fn is_one(rollouts: &u32) -> bool {
    *rollouts == 1
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
    /// Legitimate goals that a rule cost, with and without an attack, by rule; episodes, so that
    /// a task can count in each of its rollouts.
    pub false_blocks: BTreeMap<String, u32>,
    /// Its semantic step.
    pub semantic: SemanticStep,
    /// Mean time of a hook call on this machine, in microseconds; absent if none was made.
    pub hook_us: Option<f64>,
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
