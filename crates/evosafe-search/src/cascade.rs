//! The nested evaluation cascade (paper section 4.4, design section 6): every stage
//! extends one ordered evidence stream, and only a candidate that is confidently
//! inferior to H0 is stopped early.

use std::sync::Arc;

use evosafe_sandbox::{Harness, Sandbox};
use evosafe_spec::CascadePlan;
use evosafe_stats::gate;
use evosafe_types::{Bundle, CandidateId, ContentHash, Event, Score, Stage, StageOutcome, TaskId};

use crate::SearchError;
use crate::compare;
use crate::evaluator::Evaluator;
use crate::verdict::{Verdict, score};

/// The ordered train corpus and the sizes of its prefixes.
#[derive(Debug, Clone)]
pub struct Corpus {
    /// Train tasks in canonical order.
    pub order: Vec<TaskId>,
    /// Prefix sizes and gate constants.
    pub plan: CascadePlan,
    /// Whether there are no stages: every prefix is the whole train side.
    pub whole: bool,
    /// Variants of train attacks that the corpus grew by: they follow the search prefix and the
    /// wide one.
    pub variants: Vec<TaskId>,
}

impl Corpus {
    /// Hash of the wide prefix and the variants.
    #[must_use]
    pub fn id(&self) -> ContentHash {
        let tasks = self.prefix(Stage::Wide).iter().chain(&self.variants);
        let parts: Vec<&[u8]> = tasks.map(|task| task.as_str().as_bytes()).collect();
        ContentHash::of(&parts)
    }

    /// The tasks of a stage, variants left out.
    #[must_use]
    pub fn prefix(&self, stage: Stage) -> &[TaskId] {
        if self.whole && stage != Stage::Static {
            return &self.order;
        }
        let n = match stage {
            Stage::Static => 0,
            Stage::Smoke => self.plan.smoke as usize,
            Stage::Gate => self.plan.gate as usize,
            Stage::Search => self.plan.search as usize,
            Stage::Wide => self.plan.wide.map_or(self.order.len(), |n| n as usize),
        };
        &self.order[..n.min(self.order.len())]
    }
}

/// How far a candidate came.
#[derive(Debug, Clone)]
pub struct CascadeReport {
    /// The candidate.
    pub candidate: CandidateId,
    /// Every stage it entered, in order.
    pub stages: Vec<(Stage, StageOutcome)>,
    /// Verdicts on the longest prefix it was run on.
    pub verdicts: Vec<Verdict>,
    /// Verdicts on the variants of the corpus, if it came that far.
    pub probes: Vec<Verdict>,
    /// The search score, if it came that far.
    pub search: Option<Score>,
    /// Episodes of the search prefix that the gate made unnecessary.
    pub saved: u64,
}

/// When the gate of a plan stops a candidate.
pub(crate) fn rule(plan: &CascadePlan) -> gate::GateRule {
    gate::GateRule { margin: plan.margin, confidence: plan.confidence }
}

/// The gate's upper bound of the score difference, in points, on the tasks of both arms.
pub(crate) fn bound(
    plan: &CascadePlan,
    verdicts: &[Verdict],
    reference: &[Verdict],
) -> Option<f64> {
    let (benign, malicious) = compare::task_sums(verdicts, reference);
    gate::upper_bound_exact(benign, malicious, plan.confidence)
}

/// Runs candidates through stages 0 to 3.
#[derive(Clone)]
pub struct Cascade {
    /// Runs the episodes.
    pub evaluator: Arc<Evaluator>,
    /// Runs the harnesses.
    pub sandbox: Sandbox,
    /// What they are run on.
    pub corpus: Arc<Corpus>,
    /// Verdicts of H0 on at least the gate prefix; empty while H0 itself is run.
    pub reference: Arc<Vec<Verdict>>,
}

impl Cascade {
    /// Stages 0 to 3 for one candidate.
    ///
    /// # Errors
    /// If the user interrupts or the archive fails. Nothing a candidate does is an error.
    pub async fn run(&self, bundle: &Bundle) -> Result<CascadeReport, SearchError> {
        let candidate = bundle.id();
        let mut report = CascadeReport {
            candidate: candidate.clone(),
            stages: Vec::new(),
            verdicts: Vec::new(),
            probes: Vec::new(),
            search: None,
            saved: 0,
        };
        self.started(&candidate, Stage::Static)?;
        let check = self.sandbox.check(bundle).await;
        let harness = match self.sandbox.prepare(bundle) {
            Ok(harness) if check.passed() => harness,
            Ok(_) => {
                let findings: Vec<String> =
                    check.findings.iter().map(ToString::to_string).collect();
                return Ok(self.stop(report, Stage::Static, None, findings.join("; ")));
            }
            Err(error) => return Ok(self.stop(report, Stage::Static, None, error.to_string())),
        };
        report
            .stages
            .push((Stage::Static, StageOutcome::Passed { score: None, upper_bound: None }));
        let stages = if self.corpus.whole {
            &[Stage::Search][..]
        } else {
            &[Stage::Smoke, Stage::Gate, Stage::Search][..]
        };
        for &stage in stages {
            self.started(&candidate, stage)?;
            report.verdicts = self
                .evaluator
                .verdicts(&candidate, &harness, self.corpus.prefix(stage), Some(stage))
                .await?;
            let reached = score(&report.verdicts);
            let mut upper_bound = None;
            if stage == Stage::Smoke
                && let Some(fault) = self.first_fault(&candidate, &report.verdicts)?
            {
                return Ok(self.stop(report, stage, None, fault));
            }
            if stage == Stage::Gate && !self.reference.is_empty() {
                upper_bound = bound(&self.corpus.plan, &report.verdicts, &self.reference);
                if let Some(bound) = upper_bound
                    && rule(&self.corpus.plan).stops(bound)
                {
                    let reason = format!(
                        "confidently inferior to no defence: upper bound {bound:.1} points, margin -{:.1}",
                        self.corpus.plan.margin
                    );
                    return Ok(self.stop(report, stage, Some(bound), reason));
                }
            }
            if stage == Stage::Search {
                report.search = Some(reached);
            }
            report.stages.push((stage, StageOutcome::Passed { score: Some(reached), upper_bound }));
        }
        let variants = &self.corpus.variants;
        if !variants.is_empty() {
            let run = self.evaluator.verdicts(&candidate, &harness, variants, Some(Stage::Search));
            report.probes = run.await?;
        }
        Ok(report)
    }

    /// Stage 4: verdicts on the wide prefix.
    ///
    /// # Errors
    /// If the user interrupts, the archive fails or the bundle no longer builds.
    pub async fn wide(&self, bundle: &Bundle) -> Result<Vec<Verdict>, SearchError> {
        let candidate = bundle.id();
        let harness = self.harness(bundle)?;
        self.started(&candidate, Stage::Wide)?;
        let tasks = self.corpus.prefix(Stage::Wide);
        self.evaluator.verdicts(&candidate, &harness, tasks, Some(Stage::Wide)).await
    }

    /// Prepares a bundle that is known to build.
    ///
    /// # Errors
    /// If it does not.
    pub fn harness(&self, bundle: &Bundle) -> Result<Harness, SearchError> {
        self.sandbox.prepare(bundle).map_err(|error| SearchError::Build {
            candidate: bundle.id().short().to_owned(),
            error,
        })
    }

    fn started(&self, candidate: &CandidateId, stage: Stage) -> Result<(), SearchError> {
        let episodes = self.corpus.prefix(stage).len() as u64 * self.evaluator.rollouts();
        self.evaluator
            .emit(&Event::StageStarted { candidate: candidate.clone(), stage, episodes }, false)
    }

    fn stop(
        &self,
        mut report: CascadeReport,
        stage: Stage,
        upper_bound: Option<f64>,
        reason: String,
    ) -> CascadeReport {
        let reached = (stage != Stage::Static).then(|| score(&report.verdicts));
        let search = self.corpus.prefix(Stage::Search).len() + self.corpus.variants.len();
        let search = search as u64 * self.evaluator.rollouts();
        report.saved = search.saturating_sub(report.verdicts.len() as u64);
        report.stages.push((stage, StageOutcome::Stopped { score: reached, upper_bound, reason }));
        report
    }

    /// The first harness fault in the evidence of the smoke prefix.
    fn first_fault(
        &self,
        candidate: &CandidateId,
        verdicts: &[Verdict],
    ) -> Result<Option<String>, SearchError> {
        for verdict in verdicts {
            let evidence = self.evaluator.evidence(candidate, &verdict.task, verdict.seed)?;
            if let Some(fault) = evidence.and_then(|e| e.transcript.faults.into_iter().next()) {
                return Ok(Some(format!(
                    "harness fault on {} in {:?}: {}: {}",
                    verdict.task, fault.hook, fault.kind, fault.message
                )));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_cascade_every_stage_is_the_whole_train_side() {
        let (margin, confidence, under_attack_margin) = (10.0, 0.95, 0.0);
        let plan = CascadePlan {
            smoke: 3,
            gate: 12,
            search: 30,
            wide: Some(45),
            margin,
            confidence,
            finalists: 4,
            under_attack_margin,
        };
        let order: Vec<TaskId> = (0..60).map(|i| TaskId::new(i.to_string())).collect();
        let sizes = |whole: bool| {
            let (order, plan, variants) = (order.clone(), plan.clone(), Vec::new());
            let corpus = Corpus { order, plan, whole, variants };
            [Stage::Static, Stage::Smoke, Stage::Gate, Stage::Search, Stage::Wide]
                .map(|stage| corpus.prefix(stage).len())
        };
        assert_eq!(sizes(false), [0, 3, 12, 30, 45]);
        assert_eq!(sizes(true), [0, 60, 60, 60, 60]);
    }
}
