//! `evosafe search`

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use evosafe_archive::Archive;
use evosafe_env::Environment;
use evosafe_sandbox::Sandbox;
use evosafe_search::{Ablations, DesignerKind, SearchConfig, SearchError, SearchSummary};
use evosafe_spec::Plan;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Context;
use crate::args::SearchArgs;
use crate::progress::Progress;
use crate::{models, roles, session};

/// A search to run.
pub struct Job {
    pub plan: Plan,
    pub locator: String,
    pub seed: u64,
    pub designer: DesignerKind,
    pub ablations: Ablations,
    pub concurrency: usize,
}

pub fn run(cx: &Context<'_>, args: &SearchArgs) -> Result<ExitCode> {
    let mut plan = evosafe_spec::load(&args.spec)?;
    override_plan(&mut plan, args);
    let designer = roles::designer(args.designer, &plan);
    let job = Job {
        locator: session::locator(args.victim.as_deref(), &plan)?,
        plan,
        seed: args.seed,
        designer,
        ablations: args.ablations.into(),
        concurrency: args.concurrency.unwrap_or_else(session::default_concurrency).max(1),
    };
    let archive = session::open_archive(&cx.archive, *cx.printer)?;
    let sandbox = session::sandbox(&cx.cache, *cx.printer)?;
    let summary = execute(cx, &archive, &sandbox, job)?;
    cx.printer.result(&text(&summary), &document(&summary))?;
    Ok(if summary.indecisive() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Runs a search to its end, with progress.
pub fn execute(
    cx: &Context<'_>,
    archive: &Arc<Archive>,
    sandbox: &Sandbox,
    job: Job,
) -> Result<SearchSummary> {
    let Job { plan, locator, seed, designer, ablations, concurrency } = job;
    let settings = session::environment_settings(&plan, &cx.cache, concurrency, None);
    let options = session::victim_options(&settings);
    // Victim and outer roles share one ledger, one budget and one recording.
    let mut live = None;
    let victim = session::open_victim_with(cx, &locator, &plan, &options, "search", &mut live)?;
    let outer = roles::outer(cx, &plan, &locator, designer, !ablations.no_criticizer, &mut live)?;
    let cancel = CancellationToken::new();
    let progress = Progress::new(plan.budget.candidates);
    let sink = progress.sink();
    let summary = session::run(cancel.clone(), async {
        let tasks = session::list_tasks(&settings).await?;
        let split = evosafe_spec::split(&plan.split, &tasks)?;
        let train = session::select(&tasks, &split.train);
        let environment = Arc::new(Environment::start(&settings, Some(&split.train)).await?);
        let result = evosafe_search::search(SearchConfig {
            budget: plan.budget.clone(),
            environment: Arc::clone(&environment),
            tasks: train,
            split,
            victim,
            victim_locator: models::portable(&locator, &cx.models),
            archive: Arc::clone(archive),
            sandbox: sandbox.clone(),
            seeds: evosafe_spec::seeds()?,
            library: evosafe_spec::mechanisms()?,
            seed,
            designer,
            ablations,
            outer,
            concurrency,
            cancel,
            sink,
            plan,
        })
        .await;
        session::close(environment, *cx.printer).await;
        result
    });
    drop(progress);
    if matches!(summary, Err(SearchError::Interrupted)) {
        cx.printer.note("to go on, run the same command again: nothing is run twice");
    }
    Ok(summary?)
}

fn override_plan(plan: &mut Plan, args: &SearchArgs) {
    session::override_split(plan, args.split);
    if let Some(n) = args.candidates {
        plan.budget.candidates = Some(n);
    }
    if let Some(n) = args.episodes {
        plan.budget.episodes = Some(n);
    }
    if let Some(seconds) = args.time_limit {
        plan.budget.wall_clock = Some(Duration::from_secs(seconds));
    }
}

fn document(s: &SearchSummary) -> serde_json::Value {
    let mut value = json!({
        "run": s.run,
        "best": s.best,
        "search_score": s.search.points(),
        "wide_score": s.wide.points(),
        "h0_score": s.h0_search.points(),
        "h0_wide_score": s.h0_wide.points(),
        "candidates": s.candidates,
        "rejected_by_criticizer": s.rejected,
        "episodes_run": s.episodes_run,
        "episodes_reused": s.episodes_reused,
        "episodes_saved_by_gate": s.episodes_saved,
        "unassessed": s.unassessed,
        "indecisive": s.indecisive(),
        "token_keyed_rules": s.blind.keyed_rules,
        "elapsed_s": (s.elapsed_s * 10.0).round() / 10.0,
        "ended": s.reason,
    });
    if let Some(corpus) = &s.corpus {
        value["adaptive_probes"] = json!({
            "corpus_version": corpus.version,
            "variants": corpus.variants,
            "asr": corpus.winner.asr().value(),
            "h0_asr": corpus.h0.asr().value(),
        });
    }
    value
}

fn text(s: &SearchSummary) -> String {
    use evosafe_report::{percent, points};
    let arm = |score: &evosafe_types::Score| {
        format!(
            "score {}  utility {} %  ASR {} %  utility under attack {} %",
            points(score.points()),
            percent(score.utility.value()),
            percent(score.asr().value()),
            percent(score.utility_under_attack.value())
        )
    };
    let indecisive = if s.indecisive() {
        "\nINDECISIVE: fewer than 90 % of a family's episodes were assessed, of the winner or of no defence"
    } else {
        ""
    };
    let probes = s.corpus.as_ref().map_or_else(String::new, |corpus| {
        format!(
            "\nprobes      {} variants of train attacks in {} corpus versions: ASR {} %, no defence {} %",
            corpus.variants,
            corpus.version,
            percent(corpus.winner.asr().value()),
            percent(corpus.h0.asr().value())
        )
    });
    format!(
        "best        {}\n  train     {}\n  no defence {}\n\
         candidates  {}, {} proposals rejected by the Criticizer\n\
         episodes    {} run, {} reused, {} saved by the cascade, {} unassessed\n\
         blind pass  {} rules of the winner are keyed to tokens of the train tasks{probes}\n\
         ended       {} after {:.0} s{indecisive}\n\n\
         next: evosafe evaluate best --split held-out ; evosafe lineage ; evosafe show best",
        s.best.short(),
        arm(&s.wide),
        arm(&s.h0_wide),
        s.candidates,
        s.rejected,
        s.episodes_run,
        s.episodes_reused,
        s.episodes_saved,
        s.unassessed,
        s.blind.keyed_rules,
        s.reason,
        s.elapsed_s
    )
}
