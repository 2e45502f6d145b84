//! `evosafe compare`

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, bail};
use evosafe_archive::Archive;
use evosafe_env::Environment;
use evosafe_sandbox::Sandbox;
use evosafe_search::{EvaluateConfig, RunRecord, SearchError};
use evosafe_spec::Plan;
use evosafe_types::{Bundle, ComparisonRow, RunId, TaskId};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Context;
use crate::args::{CompareArgs, SplitArg};
use crate::progress::Progress;
use crate::session;

pub fn run(cx: &Context<'_>, args: &CompareArgs) -> Result<ExitCode> {
    let archive = session::open_archive(&cx.archive, *cx.printer)?;
    let found = match &args.spec {
        Some(_) => None,
        None => Some(session::find_run(&archive, args.run.as_deref())?),
    };
    let mut plan = match (&args.spec, &found) {
        (Some(spec), _) => evosafe_spec::load(spec)?,
        (None, Some((_, record))) => record.plan()?,
        (None, None) => bail!("name a specification or a search"),
    };
    session::override_split(&mut plan, args.split);
    let recorded = found.as_ref().map(|(_, record)| record.victim_locator.as_str());
    let locator = session::locator(args.victim.as_deref().or(recorded), &plan)?;
    let seeds = evosafe_spec::seeds()?;
    let h0 = seeds.first().cloned().ok_or_else(|| anyhow::anyhow!("there is no defence"))?;
    let mut bundles: Vec<Bundle> = Vec::new();
    if let Some((_, record)) = &found {
        let best = record.best.as_slice().iter().map(ToString::to_string);
        let named = best.chain(args.candidates.iter().cloned());
        for name in named {
            let id = session::candidate(&archive, record, &name)?;
            bundles.push(session::bundle(&archive, &id)?);
        }
    } else if !args.candidates.is_empty() {
        bail!("--candidate needs a search: leave the specification out");
    }
    for dir in &args.bundles {
        bundles.push(session::read_bundle(dir)?);
    }
    bundles.extend(chosen(&seeds[1..], &args.seeds)?);
    let mut seen = std::collections::BTreeSet::new();
    bundles.retain(|b| !b.is_no_defence() && seen.insert(b.id()));

    let sandbox = session::sandbox(&cx.cache, *cx.printer)?;
    let job = Job {
        plan,
        locator,
        attack: args.attack.clone(),
        side: args.side,
        rollouts: args.rollouts.rollouts,
        concurrency: args.concurrency.unwrap_or_else(session::default_concurrency).max(1),
        found,
        h0,
        bundles,
    };
    let rows = execute(cx, &archive, &sandbox, job)?;
    let document = json!({ "rows": rows });
    cx.printer.tables(evosafe_report::comparison_document(&rows), &document, &args.output)?;
    let indecisive = rows.iter().any(|row| row.evaluation.indecisive);
    Ok(if indecisive { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// A comparison to make.
pub struct Job {
    pub plan: Plan,
    pub locator: String,
    pub attack: Option<String>,
    pub side: SplitArg,
    /// Episodes a task.
    pub rollouts: u32,
    pub concurrency: usize,
    /// The search whose split it is made on; the plan's own without one.
    pub found: Option<(RunId, RunRecord)>,
    pub h0: Bundle,
    pub bundles: Vec<Bundle>,
}

/// Makes a comparison, with progress.
pub fn execute(
    cx: &Context<'_>,
    archive: &Arc<Archive>,
    sandbox: &Sandbox,
    job: Job,
) -> Result<Vec<ComparisonRow>> {
    let Job { plan, locator, attack, side, rollouts, concurrency, found, h0, bundles } = job;
    let settings = session::environment_settings(&plan, &cx.cache, concurrency, attack.as_deref());
    let options = session::victim_options(&settings);
    let victim = session::open_victim(cx, &locator, &plan, &options, "compare")?;
    let cancel = CancellationToken::new();
    let progress = Progress::new(u32::try_from(bundles.len() + 1).ok());
    let sink = progress.sink();
    let rows = session::run(cancel.clone(), async {
        let split = match &found {
            Some((_, record)) => record.split.clone(),
            None => evosafe_spec::split(&plan.split, &session::list_tasks(&settings).await?)?,
        };
        let (side, ids): (&str, Option<Vec<TaskId>>) = match side {
            SplitArg::Train => ("train", Some(split.train)),
            SplitArg::HeldOut => ("held-out", Some(split.held_out)),
            SplitArg::All => ("all", None),
        };
        let environment = Arc::new(Environment::start(&settings, ids.as_deref()).await?);
        let tasks = match &ids {
            Some(ids) => session::select(environment.tasks(), ids),
            None => environment.tasks().to_vec(),
        };
        if tasks.is_empty() {
            return Err(SearchError::Unusable(format!("there are no {side} tasks to run")));
        }
        let config = EvaluateConfig {
            archive: Arc::clone(archive),
            sandbox: sandbox.clone(),
            environment: Arc::clone(&environment),
            tasks,
            split: side.to_owned(),
            victim,
            step_limit: plan.step_limit,
            rollouts,
            reference: h0,
            run: found.map(|(run, _)| run),
            concurrency,
            cancel,
            sink,
        };
        let result = evosafe_search::compare(config, &bundles).await;
        session::close(environment, *cx.printer).await;
        result
    });
    drop(progress);
    Ok(rows?)
}

/// The warm-start bundles asked for.
fn chosen(seeds: &[Bundle], asked: &str) -> Result<Vec<Bundle>> {
    match asked {
        "all" => return Ok(seeds.to_vec()),
        "none" => return Ok(Vec::new()),
        _ => {}
    }
    asked
        .split(',')
        .map(str::trim)
        .map(|name| {
            seeds.iter().find(|b| b.manifest.name == name).cloned().ok_or_else(|| {
                let known: Vec<&str> = seeds.iter().map(|b| b.manifest.name.as_str()).collect();
                anyhow::anyhow!("--seeds: no bundle `{name}`; there are: {}", known.join(", "))
            })
        })
        .collect()
}
