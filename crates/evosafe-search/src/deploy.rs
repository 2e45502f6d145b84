//! What leaves the building is checked before it does: every finalist (whoever is the best so
//! far, and the runners-up at the end) is compiled to its `harness.wasm` in the background, and the hook calls of its evidence are run through that
//! file (design section 3).

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use evosafe_agent::{Variant, rerun};
use evosafe_archive::{ResultKind, ResultRecord};
use evosafe_env::Environment;
use evosafe_sandbox::{CompileError, Harness, Sandbox};
use evosafe_types::{Bundle, CandidateId, Event, Language, Stage, Task};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::SearchError;
use crate::evaluator::Evaluator;
use crate::search::Search;

/// Checks at a time while the search runs: they must not take its cores.
const AT_A_TIME: usize = 1;

/// Checks under way. Dropping it ends them.
pub(crate) struct Deployments {
    running: JoinSet<Result<Checked, SearchError>>,
    /// Members whose check was started.
    begun: BTreeSet<usize>,
    permits: Arc<Semaphore>,
}

impl Default for Deployments {
    fn default() -> Self {
        Self {
            running: JoinSet::new(),
            begun: BTreeSet::new(),
            permits: Arc::new(Semaphore::new(AT_A_TIME)),
        }
    }
}

/// What the check of one candidate found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Checked {
    /// Place among the members.
    index: usize,
    candidate: CandidateId,
    /// Episodes of its evidence that were run again.
    episodes: u64,
    /// Hook calls in them.
    hook_calls: u64,
    /// Each names candidate, task, hook and call.
    differences: Vec<String>,
    /// Why there is no `harness.wasm`.
    failed: Option<String>,
}

/// What a check needs.
struct Job {
    index: usize,
    bundle: Bundle,
    sandbox: Sandbox,
    evaluator: Arc<Evaluator>,
    environment: Arc<Environment>,
    tasks: Vec<Task>,
    variants: Vec<Arc<Variant>>,
}

impl Search {
    /// Starts the check of a member, unless this search has made it before. Harnesses
    /// without code, and those that are components already, have nothing to compile.
    pub(crate) fn deploy(&mut self, index: usize) -> Result<(), SearchError> {
        let bundle = self.members[index].bundle.clone();
        let compiles = bundle.code.is_some() && bundle.manifest.language == Language::Javascript;
        if !compiles || !self.deployments.begun.insert(index) {
            return Ok(());
        }
        let known = self.config.archive.results(&bundle.id())?;
        let made =
            |r: &ResultRecord| r.kind == ResultKind::Build && r.run.as_ref() == Some(&self.run);
        if known.iter().any(made) {
            return Ok(());
        }
        let wide = self.cascade.corpus.prefix(Stage::Wide);
        let tasks: Vec<Task> =
            self.config.tasks.iter().filter(|task| wide.contains(&task.id)).cloned().collect();
        let job = Job {
            index,
            bundle,
            sandbox: self.config.sandbox.clone(),
            evaluator: Arc::clone(&self.evaluator),
            environment: Arc::clone(&self.config.environment),
            tasks,
            variants: self.adaptive.variants.clone(),
        };
        let permits = Arc::clone(&self.deployments.permits);
        self.deployments.running.spawn(async move {
            let permit = permits.acquire_owned().await;
            let _permit = permit.map_err(|e| SearchError::Internal(e.to_string()))?;
            check(job).await
        });
        Ok(())
    }

    /// Waits for all checks and enters what they found, in candidate order.
    pub(crate) async fn join_deployments(&mut self) -> Result<(), SearchError> {
        // Nothing else wants the cores now.
        self.deployments.permits.add_permits(self.config.concurrency.saturating_sub(AT_A_TIME));
        let mut all = Vec::new();
        loop {
            let joined = tokio::select! {
                biased;
                () = self.config.cancel.cancelled() => return Err(SearchError::Interrupted),
                joined = self.deployments.running.join_next() => joined,
            };
            let Some(joined) = joined else { break };
            all.push(joined.map_err(|e| SearchError::Internal(e.to_string()))??);
        }
        all.sort_by_key(|checked| checked.index);
        for checked in all {
            // The machine failed, not the candidate: said, but nothing is known of it.
            if let Some(why) = &checked.failed {
                let id = checked.candidate.short();
                let message = format!("candidate {id} has no harness.wasm: {why}");
                self.evaluator.emit(&Event::Warning { message }, true)?;
                continue;
            }
            let body = json!({
                "episodes": checked.episodes,
                "hook_calls": checked.hook_calls,
                "differences": checked.differences,
            });
            let fresh = self.result(&checked.candidate, ResultKind::Build, body)?;
            for message in checked.differences {
                self.evaluator.emit(&Event::Warning { message }, fresh)?;
            }
        }
        Ok(())
    }
}

async fn check(job: Job) -> Result<Checked, SearchError> {
    let Job { index, bundle, sandbox, evaluator, environment, tasks, variants } = job;
    let candidate = bundle.id();
    let built = tokio::task::spawn_blocking(move || compiled(&sandbox, &bundle)).await;
    let built = built.map_err(|e| SearchError::Internal(e.to_string()))?;
    let (episodes, hook_calls, differences) = (0, 0, Vec::new());
    let mut checked = Checked { index, candidate, episodes, hook_calls, differences, failed: None };
    let harness = match built {
        Ok(harness) => harness,
        Err(error) => {
            checked.failed = Some(error.to_string());
            return Ok(checked);
        }
    };
    let plain = tasks.iter().map(|task| (task, None));
    for (task, variant) in plain.chain(variants.iter().map(|v| (v.task(), Some(v)))) {
        let Some(tools) = environment.toolset(&task.suite) else { continue };
        let tools = match variant {
            Some(variant) => Cow::Owned(variant.tools(tools)),
            None => Cow::Borrowed(tools),
        };
        for evidence in evaluator.all_evidence(&checked.candidate, &task.id)? {
            if !evidence.outcome.is_assessed() {
                continue;
            }
            checked.episodes += 1;
            match rerun(&harness, &tools, &evidence.transcript).await {
                Ok(calls) => checked.hook_calls += u64::from(calls),
                Err(difference) => checked.differences.push(format!(
                    "harness.wasm of candidate {} differs on task {}: {difference}",
                    checked.candidate.short(),
                    task.id
                )),
            }
        }
    }
    Ok(checked)
}

fn compiled(sandbox: &Sandbox, bundle: &Bundle) -> Result<Harness, CompileError> {
    let wasm = sandbox.build(bundle)?;
    Ok(sandbox.prepare_component(bundle, &wasm)?)
}
