//! Runs episodes, or takes them from the archive, and makes each durable before
//! it counts (design section 5).

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use evosafe_agent::{Agent, Purpose, Variant};
use evosafe_archive::Archive;
use evosafe_sandbox::{Harness, Sandbox};
use evosafe_types::{
    BudgetError, CandidateId, ContentHash, Event, Evidence, EvidenceInputs, EvidenceKey, FaultKind,
    Outcome, RunId, Stage, Task, TaskId,
};
use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::SearchError;
use crate::clock::{self, Stopwatch};
use crate::counters::Counters;
use crate::jobs::{Job, Jobs};
use crate::verdict::Verdict;

/// Receives every event, for progress and printing.
pub type EventSink = Arc<dyn Fn(&Event) + Send + Sync>;

/// Times an episode that was lost to a passing infrastructure fault is run again
/// before it counts as unassessed.
const ATTEMPTS: u32 = 2;

/// Runs candidates on tasks of one environment with one victim.
pub struct Evaluator {
    /// Where evidence is.
    pub archive: Arc<Archive>,
    agent: Arc<Agent>,
    jobs: Jobs,
    environment: ContentHash,
    victim: String,
    rollouts: u64,
    loop_id: String,
    runtime: ContentHash,
    paid_by: RunId,
    permits: Arc<Semaphore>,
    /// Most episodes of one list that run or are about to.
    waiting: usize,
    cancel: CancellationToken,
    sink: EventSink,
    /// Why no episode can be run any more, see [`FaultKind::stops_search`].
    halted: OnceLock<(FaultKind, String)>,
    /// What was done here.
    pub counters: Counters,
}

/// What an [`Evaluator`] works on.
pub struct EvaluatorSetup {
    /// Where evidence goes.
    pub archive: Arc<Archive>,
    /// The agent loop with environment and victim.
    pub agent: Arc<Agent>,
    /// The tasks that may be run.
    pub tasks: Vec<Task>,
    /// Environment id.
    pub environment: ContentHash,
    /// Victim id.
    pub victim: String,
    /// Episodes a task, at least 1.
    pub rollouts: u32,
    /// The run that pays.
    pub paid_by: RunId,
    /// Episodes at a time, at least 1.
    pub concurrency: usize,
    /// Stops the search.
    pub cancel: CancellationToken,
    /// Receives events.
    pub sink: EventSink,
}

impl Evaluator {
    /// Makes an evaluator.
    #[must_use]
    pub fn new(setup: EvaluatorSetup) -> Arc<Self> {
        Arc::new(Self {
            archive: setup.archive,
            loop_id: setup.agent.loop_id(),
            agent: setup.agent,
            jobs: Jobs::new(setup.tasks),
            environment: setup.environment,
            victim: setup.victim,
            rollouts: u64::from(setup.rollouts.max(1)),
            runtime: Sandbox::version(),
            paid_by: setup.paid_by,
            permits: Arc::new(Semaphore::new(setup.concurrency.max(1))),
            waiting: 4 * setup.concurrency.max(1),
            cancel: setup.cancel,
            sink: setup.sink,
            halted: OnceLock::new(),
            counters: Counters::default(),
        })
    }

    /// Shows an event, and stores it too if `store`.
    ///
    /// # Errors
    /// If the archive cannot take it.
    pub fn emit(&self, event: &Event, store: bool) -> Result<(), SearchError> {
        (self.sink)(event);
        if store {
            self.archive.append_event(event, clock::unix_millis())?;
        }
        Ok(())
    }

    /// Lets variants of the tasks be run.
    pub(crate) fn admit(&self, variants: impl IntoIterator<Item = Arc<Variant>>) {
        self.jobs.admit(variants);
    }

    /// What comes of work that costs nothing but time, unless the user interrupts first.
    ///
    /// # Errors
    /// If the user interrupts.
    pub async fn unless_cancelled<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> Result<T, SearchError> {
        self.cancel.run_until_cancelled(work).await.ok_or(SearchError::Interrupted)
    }

    /// Whether the user asked to stop.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// What stops the search.
    pub(crate) fn stop(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Episodes a task.
    #[must_use]
    pub fn rollouts(&self) -> u64 {
        self.rollouts
    }

    /// Key of the evidence of `candidate` on a rollout of `task`.
    #[must_use]
    pub fn key(&self, candidate: &CandidateId, task: &TaskId, seed: u64) -> EvidenceKey {
        EvidenceInputs {
            candidate,
            runtime: &self.runtime,
            victim: &self.victim,
            environment: &self.environment,
            task,
            seed,
            agent_loop: &self.loop_id,
        }
        .key()
    }

    /// Stored evidence of `candidate` on one rollout of `task`.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn evidence(
        &self,
        candidate: &CandidateId,
        task: &TaskId,
        seed: u64,
    ) -> Result<Option<Evidence>, SearchError> {
        Ok(self.archive.evidence(&self.key(candidate, task, seed))?)
    }

    /// Stored evidence of `candidate` on all rollouts of `task`, in order.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn all_evidence(
        &self,
        candidate: &CandidateId,
        task: &TaskId,
    ) -> Result<Vec<Evidence>, SearchError> {
        let rollouts = (0..self.rollouts).map(|seed| self.evidence(candidate, task, seed));
        rollouts.filter_map(Result::transpose).collect()
    }

    /// Lets the environment know what it answered in these episodes.
    pub fn remember(&self, evidence: &[Evidence]) {
        for episode in evidence {
            if let Outcome::Assessed { task_success, attack_success } = episode.outcome {
                let verdict = evosafe_env::Verdict { task_success, attack_success };
                let Evidence { task, seed, transcript, .. } = episode;
                self.agent.environment().remember(task, *seed, transcript, verdict);
            }
        }
    }

    /// How many episodes of `tasks` are still to be paid for by this run, or were: those whose
    /// evidence no other run has paid for.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn charge(&self, candidate: &CandidateId, tasks: &[TaskId]) -> Result<u64, SearchError> {
        let mut charge = 0;
        for (task, seed) in self.episodes(tasks) {
            let paid = self.archive.outcome(&self.key(candidate, task, seed))?;
            if paid.is_none_or(|(_, by)| by == self.paid_by) {
                charge += 1;
            }
        }
        Ok(charge)
    }

    /// Every rollout of every task, in order.
    fn episodes<'t>(&self, tasks: &'t [TaskId]) -> impl Iterator<Item = (&'t TaskId, u64)> {
        let rollouts = self.rollouts;
        tasks.iter().flat_map(move |task| (0..rollouts).map(move |seed| (task, seed)))
    }

    /// Verdicts of `candidate` on all rollouts of `tasks`, in their order. Episodes that the archive
    /// has are not run again.
    ///
    /// # Errors
    /// If the user interrupts, or the archive fails. What finished before is durable.
    pub async fn verdicts(
        self: &Arc<Self>,
        candidate: &CandidateId,
        harness: &Harness,
        tasks: &[TaskId],
        stage: Option<Stage>,
    ) -> Result<Vec<Verdict>, SearchError> {
        let mut slots: Vec<Option<Verdict>> = Vec::new();
        let mut failed = None;
        let mut running = JoinSet::new();
        for (slot, (id, seed)) in self.episodes(tasks).enumerate() {
            slots.push(None);
            let Some(job) = self.jobs.get(id) else {
                return Err(SearchError::Unusable(format!(
                    "task {id} is not among the tasks this process may open"
                )));
            };
            let key = self.key(candidate, id, seed);
            if let Some((outcome, _)) = self.archive.outcome(&key)? {
                // A later stage asks again for what an earlier one ran: no news.
                if self.counters.first(&key) {
                    self.counters.reused.fetch_add(1, Ordering::Relaxed);
                    let assessed = self.count_assessed(&outcome);
                    self.emit(&finished(candidate, true, assessed, 0), false)?;
                }
                let (task, family) = (id.clone(), job.task.family);
                slots[slot] = Some(Verdict { task, seed, family, outcome });
                continue;
            }
            let this = Arc::clone(self);
            let (candidate, harness) = (candidate.clone(), harness.clone());
            // What is not yet running waits as a number, not as a copy of its task.
            if running.len() >= self.waiting
                && let Some(joined) = running.join_next().await
            {
                match finished_episode(joined) {
                    Ok((slot, verdict)) => slots[slot] = Some(verdict),
                    Err(error) => {
                        failed = Some(error);
                        break;
                    }
                }
            }
            running.spawn(async move {
                let outcome = this.episode((&candidate, stage), &harness, &job, seed, key).await?;
                let (task, family) = (job.task.id, job.task.family);
                Ok::<_, SearchError>((slot, Verdict { task, seed, family, outcome }))
            });
        }
        // To the last one even after an error: what is under way may be paid for already.
        while let Some(joined) = running.join_next().await {
            match finished_episode(joined) {
                Ok((slot, verdict)) => slots[slot] = Some(verdict),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        Ok(slots.into_iter().flatten().collect())
    }

    async fn episode(
        &self,
        (candidate, stage): (&CandidateId, Option<Stage>),
        harness: &Harness,
        Job { task, variant }: &Job,
        seed: u64,
        key: EvidenceKey,
    ) -> Result<Outcome, SearchError> {
        let permit = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(SearchError::Interrupted),
            permit = self.permits.acquire() => permit,
        };
        let _permit = permit.map_err(|e| SearchError::Internal(e.to_string()))?;
        // What is under way ends; nothing more begins.
        if let Some(halt) = self.halted.get() {
            return Err(halted(halt));
        }
        let watch = Stopwatch::start();
        let purpose = Purpose { candidate: Some(candidate), stage };
        let mut attempt = 0;
        let result = loop {
            attempt += 1;
            let run = async {
                match variant {
                    Some(variant) => self.agent.run_variant(harness, variant, seed, purpose).await,
                    None => self.agent.run(harness, task, seed, purpose).await,
                }
            };
            let result = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(SearchError::Interrupted),
                result = run => result,
            };
            if let Outcome::Unassessed { fault, detail } = &result.outcome
                && fault.stops_search()
            {
                let halt = self.halted.get_or_init(|| (*fault, detail.clone()));
                return Err(halted(halt));
            }
            if is_evidence(&result.outcome) || attempt == ATTEMPTS {
                break result;
            }
        };
        let outcome = result.outcome.clone();
        let assessed = self.count_assessed(&outcome);
        if is_evidence(&outcome) {
            let evidence = Evidence {
                key,
                candidate: candidate.clone(),
                victim: self.victim.clone(),
                environment: self.environment.clone(),
                task: task.id.clone(),
                family: task.family,
                category: task.category.clone(),
                seed,
                outcome: result.outcome,
                transcript: result.transcript,
                cost: result.cost,
            };
            self.counters.first(&evidence.key);
            let (archive, paid_by) = (Arc::clone(&self.archive), self.paid_by.clone());
            tokio::task::spawn_blocking(move || archive.record_evidence(&evidence, &paid_by))
                .await
                .map_err(|e| SearchError::Internal(e.to_string()))??;
        } else if let Outcome::Unassessed { fault, detail } = &outcome
            && *fault != FaultKind::Cancelled
        {
            let message = format!("task {} is unassessed: {fault}: {detail}", task.id);
            self.emit(&Event::Warning { message }, true)?;
        }
        self.counters.run.fetch_add(1, Ordering::Relaxed);
        self.emit(&finished(candidate, false, assessed, watch.millis()), true)?;
        Ok(outcome)
    }

    fn count_assessed(&self, outcome: &Outcome) -> bool {
        let assessed = outcome.is_assessed();
        if !assessed {
            self.counters.unassessed.fetch_add(1, Ordering::Relaxed);
        }
        assessed
    }
}

/// The error that ends a search.
fn halted((fault, detail): &(FaultKind, String)) -> SearchError {
    match fault {
        FaultKind::CallBudget => BudgetError::Calls(detail.clone()).into(),
        _ => SearchError::Model(detail.clone()),
    }
}

/// The place of an episode in its list, and its verdict.
type Slot = Result<(usize, Verdict), SearchError>;

fn finished_episode(joined: Result<Slot, JoinError>) -> Slot {
    joined.map_err(|e| SearchError::Internal(e.to_string()))?
}

/// Whether an outcome may be stored. A passing fault is not evidence: the episode is asked
/// for again by the next stage or run.
fn is_evidence(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Assessed { .. } => true,
        Outcome::Unassessed { fault, .. } => fault.is_permanent(),
    }
}

fn finished(candidate: &CandidateId, reused: bool, assessed: bool, millis: u64) -> Event {
    Event::EpisodeFinished { candidate: candidate.clone(), reused, assessed, millis }
}
