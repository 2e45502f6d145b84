//! `evosafe evaluate`

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, bail};
use evosafe_env::Environment;
use evosafe_search::{EvaluateConfig, SearchError};
use evosafe_types::TaskId;
use tokio_util::sync::CancellationToken;

use super::Context;
use crate::args::{EvaluateArgs, SplitArg};
use crate::progress::Progress;
use crate::session;

pub fn run(cx: &Context<'_>, args: &EvaluateArgs) -> Result<ExitCode> {
    let archive = session::open_archive(&cx.archive, *cx.printer)?;
    let (run, record) = session::find_run(&archive, args.run.as_deref())?;
    let id = session::candidate(&archive, &record, &args.candidate)?;
    let candidate = session::bundle(&archive, &id)?;
    let reference = session::bundle(&archive, &record.h0)?;
    let plan = match &args.spec {
        Some(spec) => evosafe_spec::load(spec)?,
        None => record.plan()?,
    };
    if args.spec.is_some() && args.split != SplitArg::All {
        bail!("another specification has no train side of this search: pass --split all");
    }
    let locator = args.victim.clone().unwrap_or_else(|| record.victim_locator.clone());
    let concurrency = args.concurrency.unwrap_or_else(session::default_concurrency).max(1);
    let settings =
        session::environment_settings(&plan, &cx.cache, concurrency, args.attack.as_deref());
    let options = session::victim_options(&settings);
    let victim = session::open_victim(cx, &locator, &plan, &options, "evaluate")?;
    let sandbox = session::sandbox(&cx.cache, *cx.printer)?;
    let (split, ids): (&str, Option<Vec<TaskId>>) = match args.split {
        SplitArg::Train => ("train", Some(record.split.train.clone())),
        SplitArg::HeldOut => ("held-out", Some(record.split.held_out.clone())),
        SplitArg::All => ("all", None),
    };
    let cancel = CancellationToken::new();
    let progress = Progress::new(None);
    let sink = progress.sink();
    let evaluation = session::run(cancel.clone(), async {
        let environment = Arc::new(Environment::start(&settings, ids.as_deref()).await?);
        let tasks = match &ids {
            Some(ids) => session::select(environment.tasks(), ids),
            None => environment.tasks().to_vec(),
        };
        if tasks.is_empty() {
            return Err(SearchError::Unusable(format!("there are no {split} tasks to run")));
        }
        let config = EvaluateConfig {
            archive,
            sandbox,
            environment: Arc::clone(&environment),
            tasks,
            split: split.to_owned(),
            victim,
            step_limit: plan.step_limit,
            rollouts: args.rollouts.rollouts,
            reference,
            run: Some(run),
            concurrency,
            cancel,
            sink,
        };
        let result = evosafe_search::evaluate(config, &candidate).await;
        session::close(environment, *cx.printer).await;
        result
    });
    drop(progress);
    let evaluation = evaluation?;
    let tables = evosafe_report::evaluation_document(&evaluation);
    cx.printer.tables(tables, &evaluation, &args.output)?;
    Ok(if evaluation.indecisive { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
