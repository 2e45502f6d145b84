//! One candidate against H0 on one side of the split: the table a user publishes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use evosafe_agent::{Agent, Victim};
use evosafe_archive::{Archive, ResultKind, ResultRecord};
use evosafe_env::Environment;
use evosafe_sandbox::{Harness, Sandbox};
use evosafe_types::{
    AgreementException, AgreementReport, Bundle, CandidateId, Evaluation, Event, Family,
    McNemarReport, Rate, RateReport, RunId, Task, TaskId, ToolSpec,
};
use tokio_util::sync::CancellationToken;

use crate::SearchError;
use crate::arm::{arm, independent};
use crate::evaluator::{Evaluator, EvaluatorSetup, EventSink};
use crate::verdict::{Verdict, by_task};
use crate::{commit, compare};

/// What to evaluate.
pub struct EvaluateConfig {
    /// The archive.
    pub archive: Arc<Archive>,
    /// The harness runtime.
    pub sandbox: Sandbox,
    /// The environment, started with exactly these tasks.
    pub environment: Arc<Environment>,
    /// The tasks.
    pub tasks: Vec<Task>,
    /// `train`, `held-out` or `all`.
    pub split: String,
    /// The victim.
    pub victim: Arc<Victim>,
    /// Victim turns an episode may take.
    pub step_limit: u32,
    /// Episodes a task, at least 1, each with luck of its own; 1 for recorded runs.
    pub rollouts: u32,
    /// H0.
    pub reference: Bundle,
    /// The search the candidates come from.
    pub run: Option<RunId>,
    /// Episodes at a time.
    pub concurrency: usize,
    /// Stops the evaluation.
    pub cancel: CancellationToken,
    /// Receives events.
    pub sink: EventSink,
}

/// Runs the candidate and H0 on the tasks, or takes the episodes from the archive.
///
/// # Errors
/// If the user interrupts, the archive fails, a bundle does not build, or several rollouts are
/// asked of recorded runs.
pub async fn evaluate(
    config: EvaluateConfig,
    candidate: &Bundle,
) -> Result<Evaluation, SearchError> {
    let archive = Arc::clone(&config.archive);
    let result = async {
        let bench = Bench::open(config).await?;
        let verdicts = bench.verdicts(candidate).await?;
        bench.report(&candidate.id(), &verdicts)
    };
    let result = result.await;
    archive.flush()?;
    result
}

/// The tasks, with H0's verdicts on them: what candidates are measured against.
pub(crate) struct Bench {
    config: EvaluateConfig,
    pub(crate) evaluator: Arc<Evaluator>,
    pub(crate) ids: Vec<TaskId>,
    pub(crate) reference: Vec<Verdict>,
    idle_floor: RateReport,
}

impl Bench {
    /// Runs H0 and the agent that does nothing.
    pub(crate) async fn open(config: EvaluateConfig) -> Result<Self, SearchError> {
        if config.victim.is_replay() && config.rollouts > 1 {
            return Err(SearchError::Unusable(format!(
                "a recorded task was run once: {} rollouts of a replay victim would be one, \
                 {0} times",
                config.rollouts
            )));
        }
        let agent = Arc::new(Agent::new(
            Arc::clone(&config.environment),
            Arc::clone(&config.victim),
            config.step_limit,
        ));
        let ids: Vec<TaskId> = config.tasks.iter().map(|t| t.id.clone()).collect();
        let evaluator = Evaluator::new(EvaluatorSetup {
            archive: Arc::clone(&config.archive),
            agent,
            tasks: config.tasks.clone(),
            environment: config.environment.id().clone(),
            victim: config.victim.id().to_owned(),
            rollouts: config.rollouts,
            // Evaluations are nobody's search budget.
            paid_by: RunId::of(&[b"evaluate"]),
            concurrency: config.concurrency,
            cancel: config.cancel.clone(),
            sink: Arc::clone(&config.sink),
        });
        let mut bench = Self {
            config,
            evaluator,
            ids,
            reference: Vec::new(),
            idle_floor: RateReport { rate: None, n: 0, wilson95: None },
        };
        let h0 = bench.config.reference.clone();
        bench.reference = bench.verdicts(&h0).await?;
        for id in &bench.ids {
            bench.evaluator.remember(&bench.evaluator.all_evidence(&h0.id(), id)?);
        }
        bench.idle_floor = idle(&bench.config).await?;
        Ok(bench)
    }

    pub(crate) fn prepare(&self, bundle: &Bundle) -> Result<Harness, SearchError> {
        self.config.sandbox.prepare(bundle).map_err(|error| SearchError::Build {
            candidate: bundle.id().short().to_owned(),
            error,
        })
    }

    /// The tools on offer in a task.
    pub(crate) fn tools(&self, id: &TaskId) -> Option<&[ToolSpec]> {
        let task = self.config.tasks.iter().find(|t| t.id == *id)?;
        self.config.environment.toolset(&task.suite)
    }

    /// Runs a candidate, and says in the archive that the tasks were opened for it.
    pub(crate) async fn verdicts(&self, bundle: &Bundle) -> Result<Vec<Verdict>, SearchError> {
        let candidate = bundle.id();
        let harness = self.prepare(bundle)?;
        // A warm-start bundle may be new to an archive that no search has been in.
        commit::enter(&self.config.archive, bundle, "compared")?;
        if self.config.split != "train" {
            let event = Event::HeldOutOpened {
                candidate: candidate.clone(),
                tasks: self.ids.len() as u64,
                victim: self.config.victim.id().to_owned(),
            };
            self.evaluator.emit(&event, true)?;
        }
        self.evaluator.verdicts(&candidate, &harness, &self.ids, None).await
    }

    /// The table of a candidate, entered into the archive.
    pub(crate) fn report(
        &self,
        candidate: &CandidateId,
        verdicts: &[Verdict],
    ) -> Result<Evaluation, SearchError> {
        let (config, reference, ids) = (&self.config, self.reference.as_slice(), &self.ids);
        let mut harness_faults = 0;
        for id in ids {
            for evidence in self.evaluator.all_evidence(candidate, id)? {
                harness_faults += evidence.transcript.faults.len() as u64;
            }
        }
        let tasks: BTreeMap<&TaskId, &Task> = config.tasks.iter().map(|t| (&t.id, t)).collect();
        let rollouts = config.rollouts.max(1);
        let (ours, h0) = (by_task(verdicts), by_task(reference));
        let both = |ours: &[Verdict], theirs: &[Verdict]| -> Vec<Verdict> {
            ours.iter()
                .zip(theirs)
                .filter(|(x, y)| x.outcome.is_assessed() && y.outcome.is_assessed())
                .map(|(x, _)| x.clone())
                .collect()
        };
        let (ours_both, h0_both) = (both(&ours, &h0), both(&h0, &ours));
        let paired = compare::paired(&ours_both, &h0_both);
        let mut uncovered = compare::uncovered(&ours);
        uncovered.extend(compare::uncovered(&h0));
        let indecisive = !uncovered.is_empty();
        let environment = &config.environment;
        let mut caveats: Vec<String> =
            config.victim.caveats().iter().map(|s| (*s).to_owned()).collect();
        if indecisive {
            uncovered.sort_unstable();
            uncovered.dedup();
            let names: Vec<&str> = uncovered.iter().map(|f| f.as_str()).collect();
            let names = names.join(", ");
            let what = match rollouts {
                1 => "episodes were assessed",
                _ => "tasks were assessed in every rollout",
            };
            caveats.push(format!("indecisive: fewer than 90 % of {names} {what}"));
        }
        let counters = &self.evaluator.counters;
        let evaluation = Evaluation {
            candidate: candidate.clone(),
            split: config.split.clone(),
            victim: config.victim.id().to_owned(),
            environment: format!("{} {}", environment.name(), environment.version()),
            arm: arm(&ours_both, verdicts, &tasks, rollouts),
            reference: arm(&h0_both, reference, &tasks, rollouts),
            rollouts,
            mcnemar: (rollouts == 1).then(|| McNemarReport {
                b: paired.attacks.minus.into(),
                c: paired.attacks.plus.into(),
                p: paired.attacks.p,
            }),
            by_category: compare::by_category(&ours_both, &h0_both, &tasks, rollouts),
            paired,
            idle_floor: self.idle_floor.clone(),
            unassessed: ids.len() as u64 - ours_both.len() as u64 / u64::from(rollouts),
            indecisive,
            recorded_agreement: agreement(config, reference),
            harness_faults,
            caveats,
            episodes_run: counters.run.load(Ordering::Relaxed),
            episodes_reused: counters.reused.load(Ordering::Relaxed),
        };
        let mut body =
            serde_json::to_value(&evaluation).map_err(|e| SearchError::Internal(e.to_string()))?;
        if let Some(fields) = body.as_object_mut() {
            // What this process happened to reuse is not part of the result.
            fields.remove("episodes_run");
            fields.remove("episodes_reused");
        }
        let record = ResultRecord { kind: ResultKind::Evaluation, run: config.run.clone(), body };
        config.archive.append_result(candidate, &record)?;
        Ok(evaluation)
    }
}

/// What an agent that does nothing passes among the benign tasks.
async fn idle(config: &EvaluateConfig) -> Result<RateReport, SearchError> {
    let mut rate = Rate::default();
    for task in config.tasks.iter().filter(|t| t.family == Family::Benign) {
        if config.cancel.is_cancelled() {
            return Err(SearchError::Interrupted);
        }
        let Ok(mut episode) = config.environment.open(&task.id, 0).await else { continue };
        if let Ok(verdict) = episode.judge("", &[]).await
            && let Some(hit) = verdict.task_success
        {
            rate.push(hit);
        }
        episode.close().await;
    }
    Ok(independent(rate))
}

fn agreement(config: &EvaluateConfig, reference: &[Verdict]) -> Option<AgreementReport> {
    if !config.victim.is_replay() {
        return None;
    }
    let mut report = AgreementReport { n: 0, agree: 0, exceptions: Vec::new() };
    for (task, verdict) in config.tasks.iter().zip(reference) {
        let Some(recorded) = config.victim.recorded(task) else { continue };
        if !verdict.outcome.is_assessed() || recorded.api_error {
            continue;
        }
        let attack = task.family.is_attack().then_some(recorded.security);
        let recorded = (Some(recorded.utility), attack);
        let replayed = (verdict.outcome.task_success(), verdict.outcome.attack_success());
        report.n += 1;
        if recorded == replayed {
            report.agree += 1;
        } else {
            report.exceptions.push(AgreementException {
                task: task.id.clone(),
                recorded,
                replayed,
            });
        }
    }
    (report.n > 0).then_some(report)
}
