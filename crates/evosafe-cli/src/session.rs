//! Wiring that several commands need: specification, environment, victim, archive,
//! candidate names, Ctrl-C.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use evosafe_agent::{LiveVictim, Say, Victim};
use evosafe_archive::Archive;
use evosafe_env::{EnvError, Environment, EnvironmentSettings};
use evosafe_sandbox::{Sandbox, SandboxOptions};
use evosafe_search::{RunRecord, SearchError};
use evosafe_spec::{EnvironmentPlan, Plan, SplitBy};
use evosafe_types::{Bundle, CandidateId, JsonMap, RunId, Task, TaskId};
use tokio_util::sync::CancellationToken;

use crate::args::{SplitArgs, SplitByArg};
use crate::commands::Context;
use crate::models::{self, Models};
use crate::print::Printer;

/// Seconds that running episodes get to end after Ctrl-C.
const GRACE: Duration = Duration::from_secs(4);

/// Opens the archive for writing and says what was repaired.
pub fn open_archive(path: &Path, printer: Printer) -> Result<Arc<Archive>> {
    let archive = Archive::open(path)?;
    for notice in archive.notices() {
        printer.note(&format!("archive: {notice}"));
    }
    Ok(Arc::new(archive))
}

/// The harness runtime. The first use on a machine compiles it.
pub fn sandbox(cache: &Path, printer: Printer) -> Result<Sandbox> {
    let folder = cache.join("sandbox");
    let options = SandboxOptions { cache_dir: Some(folder.clone()) };
    if !folder.exists() {
        printer.note("compiling the harness runtime (once, a few seconds)");
    }
    Ok(Sandbox::new(&options)?)
}

/// How to start a plan's environment; `attack` replaces the option of that name.
pub fn environment_settings(
    plan: &Plan,
    cache: &Path,
    processes: usize,
    attack: Option<&str>,
) -> EnvironmentSettings {
    match &plan.environment {
        EnvironmentPlan::Builtin { domain } => {
            EnvironmentSettings::Builtin { domain: domain.clone() }
        }
        EnvironmentPlan::Bridge { bridge, options, call_timeout, open_timeout, .. } => {
            let mut options = options.clone();
            if let Some(attack) = attack {
                options.insert("attack".to_owned(), attack.into());
            }
            EnvironmentSettings::Bridge {
                name: bridge.clone(),
                root: bridges(cache),
                options,
                call_timeout: *call_timeout,
                open_timeout: *open_timeout,
                processes: u32::try_from(processes).unwrap_or(u32::MAX),
            }
        }
    }
}

/// Where bridges are installed.
pub fn bridges(cache: &Path) -> PathBuf {
    cache.join("bridges")
}

/// Options of the environment that a victim has to know (which attack was recorded).
pub fn victim_options(settings: &EnvironmentSettings) -> JsonMap {
    match settings {
        EnvironmentSettings::Builtin { .. } => JsonMap::new(),
        EnvironmentSettings::Bridge { options, .. } => options.clone(),
    }
}

/// Lists the tasks and splits them. The environment that did the listing is shut down:
/// the one that runs episodes is started with the ids it may open.
pub async fn list_tasks(settings: &EnvironmentSettings) -> Result<Vec<Task>, EnvError> {
    let listing = settings.clone().with_processes(1);
    let environment = Environment::start(&listing, None).await?;
    let tasks = environment.tasks().to_vec();
    environment.shutdown().await;
    Ok(tasks)
}

/// The tasks of the given ids, in the environment's order.
pub fn select(tasks: &[Task], ids: &[TaskId]) -> Vec<Task> {
    let ids: std::collections::BTreeSet<&TaskId> = ids.iter().collect();
    tasks.iter().filter(|t| ids.contains(&t.id)).cloned().collect()
}

/// Opens a victim and says what was skipped. Calls of a live one are booked under `phase`.
pub fn open_victim(
    cx: &Context<'_>,
    locator: &str,
    plan: &Plan,
    options: &JsonMap,
    phase: &str,
) -> Result<Arc<Victim>> {
    open_victim_with(cx, locator, plan, options, phase, &mut None)
}

/// The same with the live models of a command, which are opened if the victim is one of them.
pub fn open_victim_with(
    cx: &Context<'_>,
    locator: &str,
    plan: &Plan,
    options: &JsonMap,
    phase: &str,
    models: &mut Option<Models>,
) -> Result<Arc<Victim>> {
    let printer = *cx.printer;
    if let Some(config) = models::config(locator, plan, &cx.models)? {
        let client = models::opened(cx, plan, models)?.client(config)?;
        let say: Say = Arc::new(move |text| printer.note(&format!("victim: {text}")));
        let victim = LiveVictim::new(client, plan.victim_limits, phase, say);
        return Ok(Arc::new(Victim::Live(victim)));
    }
    let victim =
        Victim::open(locator, options).with_context(|| format!("cannot use victim `{locator}`"))?;
    for notice in victim.notices() {
        printer.note(&format!("victim: {notice}"));
    }
    Ok(Arc::new(victim))
}

/// The victim asked for, or the specification's.
pub fn locator(asked: Option<&str>, plan: &Plan) -> Result<String> {
    asked.map(str::to_owned).or_else(|| plan.victim.clone()).with_context(|| {
        format!(
            "specification {} names no victim: pass --victim replay:PATH, sim:NAME, openai:MODEL or anthropic:MODEL",
            plan.name
        )
    })
}

/// Puts the split of the command line in the plan's place.
pub fn override_split(plan: &mut Plan, args: SplitArgs) {
    if let Some(seed) = args.split_seed {
        plan.split.seed = seed;
    }
    if let Some(by) = args.split_by {
        plan.split.by = match by {
            SplitByArg::Pair => SplitBy::Pair,
            SplitByArg::InjectionTask => SplitBy::InjectionTask,
            SplitByArg::Environment => SplitBy::Environment,
        };
    }
}

/// Ends an environment's processes before the command ends, and says what became of them.
pub async fn close(environment: Arc<Environment>, printer: Printer) {
    for notice in environment.notices() {
        printer.note(&format!("environment: {notice}"));
    }
    // Nobody else holds it now.
    if let Some(environment) = Arc::into_inner(environment) {
        environment.shutdown().await;
    }
}

/// A candidate by `best`, `h0` or a unique id prefix.
pub fn candidate(archive: &Archive, record: &RunRecord, name: &str) -> Result<CandidateId> {
    match name {
        "best" => record.best.clone().with_context(|| {
            "this search has no winner yet; run it to its end, or name a candidate".to_owned()
        }),
        "h0" => Ok(record.h0.clone()),
        prefix => Ok(archive.resolve(prefix)?),
    }
}

/// A candidate's bundle.
pub fn bundle(archive: &Archive, id: &CandidateId) -> Result<Bundle> {
    let files = archive
        .candidate_files(id)?
        .with_context(|| format!("candidate {} is not in the archive", id.short()))?;
    Ok(evosafe_spec::bundle_from_files(&files)?)
}

/// A bundle as it runs: one that only lists mechanisms is composed.
pub fn read_bundle(dir: &Path) -> Result<Bundle> {
    evosafe_spec::load_bundle(dir).with_context(|| format!("cannot load {}", dir.display()))
}

/// The latest search, or the one named.
pub fn find_run(archive: &Archive, run: Option<&str>) -> Result<(RunId, RunRecord)> {
    Ok(evosafe_search::find(archive, run)?)
}

/// Runs `work` until it ends or the user presses Ctrl-C; then running episodes are
/// abandoned and what is finished is saved, within five seconds.
pub fn run<T>(
    cancel: CancellationToken,
    work: impl Future<Output = Result<T, SearchError>>,
) -> Result<T, SearchError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|e| SearchError::Internal(format!("cannot start the runtime: {e}")))?;
    let result = runtime.block_on(async {
        tokio::pin!(work);
        tokio::select! {
            result = &mut work => result,
            () = stop_signal() => {
                cancel.cancel();
                tokio::time::timeout(GRACE, work).await.unwrap_or(Err(SearchError::Interrupted))
            }
        }
    });
    runtime.shutdown_timeout(Duration::from_millis(500));
    result
}

async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let interrupt = tokio::signal::ctrl_c();
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            tokio::select! {
                _ = interrupt => {}
                _ = terminate.recv() => {}
            }
        }
        Err(_) => {
            let _ = interrupt.await;
        }
    }
}

/// Episodes at a time when the user says nothing: one per core.
pub fn default_concurrency() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
