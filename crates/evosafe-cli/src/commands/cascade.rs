//! `evosafe cascade audit`, `evosafe gate calibrate`

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, bail};
use evosafe_env::Environment;
use evosafe_search::EvaluateConfig;
use evosafe_types::Bundle;
use tokio_util::sync::CancellationToken;

use super::Context;
use crate::args::{AuditArgs, CalibrateArgs};
use crate::progress::Progress;
use crate::session;

pub fn audit(cx: &Context<'_>, args: &AuditArgs) -> Result<ExitCode> {
    let archive = session::open_archive(&cx.archive, *cx.printer)?;
    let (run, record) = session::find_run(&archive, args.run.as_deref())?;
    let plan = record.plan()?;
    let concurrency = args.concurrency.unwrap_or_else(session::default_concurrency).max(1);
    let settings = session::environment_settings(&plan, &cx.cache, concurrency, None);
    let options = session::victim_options(&settings);
    let victim = session::open_victim(cx, &record.victim_locator, &plan, &options, "audit")?;
    let sandbox = session::sandbox(&cx.cache, *cx.printer)?;
    let reference = session::bundle(&archive, &record.h0)?;
    let mut bank: Vec<Bundle> = Vec::new();
    for id in record.candidates.iter().filter(|id| **id != record.h0) {
        bank.push(session::bundle(&archive, id)?);
    }
    let front = record.order[..evosafe_search::audited(&record.order, &plan.cascade)].to_vec();
    let cancel = CancellationToken::new();
    let progress = Progress::new(u32::try_from(bank.len() + 1).ok());
    let sink = progress.sink();
    let report = session::run(cancel.clone(), async {
        let environment = Arc::new(Environment::start(&settings, Some(&front)).await?);
        let config = EvaluateConfig {
            archive,
            sandbox,
            tasks: session::select(environment.tasks(), &front),
            environment: Arc::clone(&environment),
            split: "train".to_owned(),
            victim,
            step_limit: plan.step_limit,
            rollouts: plan.search.rollouts,
            reference,
            run: Some(run),
            concurrency,
            cancel,
            sink,
        };
        let report = evosafe_search::audit(config, &record, &plan.cascade, &bank).await;
        session::close(environment, *cx.printer).await;
        report
    });
    drop(progress);
    let report = report?;
    cx.printer.result(&evosafe_report::audit_text(&report), &report)?;
    let same = |s: &evosafe_types::Spending| s.choice == report.none.choice;
    Ok(if same(&report.nested) { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

pub fn calibrate(cx: &Context<'_>, args: &CalibrateArgs) -> Result<ExitCode> {
    let archive = session::open_archive(&cx.archive, *cx.printer)?;
    let (_, record) = session::find_run(&archive, args.run.as_deref())?;
    let mut plan = record.plan()?.cascade;
    plan.gate = args.gate.unwrap_or(plan.gate);
    plan.margin = args.margin.unwrap_or(plan.margin);
    plan.confidence = args.confidence.unwrap_or(plan.confidence);
    if !(0.0..=200.0).contains(&plan.margin) {
        bail!("--margin {}: must be from 0 to 200 points", plan.margin);
    }
    if !(plan.confidence > 0.5 && plan.confidence < 1.0) {
        bail!("--confidence {}: must be between 0.5 and 1", plan.confidence);
    }
    if plan.gate as usize > record.order.len() {
        bail!("--gate {}: the train side has {} tasks", plan.gate, record.order.len());
    }
    let report = evosafe_search::calibrate(&archive, &record, &plan, args.draws.max(1), args.seed)?;
    cx.printer.result(&evosafe_report::calibration_text(&report), &report)?;
    Ok(ExitCode::SUCCESS)
}
