//! `evosafe cost`, `evosafe estimate`

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use evosafe_archive::{Archive, calls_folder};
use evosafe_env::Environment;
use evosafe_llm::{CostTable, GroupBy};
use evosafe_report::{CostReport, Episodes, EstimateReport, TokenSource};
use evosafe_spec::Plan;
use evosafe_types::{Usage, Usd};

use super::Context;
use crate::args::{CostArgs, EstimateArgs};
use crate::{models, session};

pub fn cost(cx: &Context<'_>, args: &CostArgs) -> Result<ExitCode> {
    let file = calls_folder(&cx.archive).join(models::LEDGER);
    if !file.exists() {
        bail!("no call of a live model was made in archive {}", cx.archive.display());
    }
    let read = |by: &[GroupBy]| -> Result<CostTable> { Ok(CostTable::read(&file, by)?.0) };
    let report = CostReport::new(
        read(&[GroupBy::Level, GroupBy::Role, GroupBy::Model])?,
        read(&[GroupBy::Level, GroupBy::Phase, GroupBy::Stage])?,
        read(&[GroupBy::Level, GroupBy::Candidate])?,
        args.top,
    );
    cx.printer.result(&evosafe_report::cost_text(&report), &report)?;
    Ok(ExitCode::SUCCESS)
}

pub fn estimate(cx: &Context<'_>, args: &EstimateArgs) -> Result<ExitCode> {
    let mut plan = evosafe_spec::load(&args.spec)?;
    plan.budget.candidates = args.candidates.or(plan.budget.candidates);
    let locator = session::locator(args.victim.as_deref(), &plan)?;
    let config = models::config(&locator, &plan, &cx.models)?
        .with_context(|| format!("victim `{locator}` costs nothing: name a live model"))?;
    let book = models::prices(&cx.models)?;
    let price = book.price(&config.model);
    let seeds = evosafe_spec::seeds()?.len();
    let candidates = plan.budget.candidates.with_context(|| {
        format!(
            "the specification caps no candidates: pass --candidates N, seeds included ({seeds} of them)"
        )
    })?;
    let settings = session::environment_settings(&plan, &cx.cache, 1, None);
    let (tasks, prompt) = session::run(tokio_util::sync::CancellationToken::new(), async {
        let tasks = session::list_tasks(&settings).await?;
        let environment = Environment::start(&settings, None).await?;
        let suite = tasks.first().map_or("", |t| t.suite.as_str());
        let tools = environment.toolset(suite).unwrap_or_default();
        let bytes: usize = tools
            .iter()
            .map(|t| t.name.len() + t.description.len() + t.input_schema.to_string().len())
            .sum();
        environment.shutdown().await;
        // Four bytes a token, and some for instruction and system prompt.
        Ok((tasks, bytes as u64 / 4 + 300))
    })?;
    let train = evosafe_spec::split(&plan.split, &tasks)?.train.len() as u64;
    let episodes = episodes(&plan, train, candidates);
    let recorded = recorded(cx, &config.model)?;
    let (source, [low, high]) = match recorded {
        Some((n, mean)) => (TokenSource::Recorded { episodes: n }, [mean, mean]),
        None => (TokenSource::Assumed { prompt }, [assumed(prompt, 3), assumed(prompt, 8)]),
    };
    let usd = |episodes: u64, tokens: &Usage| -> Option<Usd> {
        let one = price?.cost(tokens).nanos();
        Some(Usd::from_nanos(one.saturating_mul(episodes)))
    };
    let report = EstimateReport {
        spec: plan.name.clone(),
        model: config.model,
        candidates,
        source,
        tokens_an_episode: [low, high],
        usd: [usd(episodes.total()[0], &low), usd(episodes.total()[1], &high)],
        episodes,
        prices_as_of: price.map(|_| book.as_of.clone()),
    };
    cx.printer.result(&evosafe_report::estimate_text(&report), &report)?;
    Ok(ExitCode::SUCCESS)
}

/// Fewest and most episodes: every candidate stopped at the gate, or none.
fn episodes(plan: &Plan, train: u64, candidates: u32) -> Episodes {
    let rollouts = u64::from(plan.search.rollouts);
    let wide = plan.cascade.wide.map_or(train, u64::from).min(train);
    let (gate, search) = (u64::from(plan.cascade.gate), u64::from(plan.cascade.search));
    let others = u64::from(candidates.saturating_sub(1));
    let finalists = u64::from(plan.cascade.finalists).min(others);
    let variants = u64::from(plan.search.adaptive_probes);
    // A finalist was on the search prefix before.
    let more = wide.saturating_sub(search);
    Episodes {
        reference: wide * rollouts,
        // A candidate, H0 among them, is run on a variant once, or dropped before.
        cascade: [
            others * gate * rollouts,
            (others * search + u64::from(candidates) * variants) * rollouts,
        ],
        wide: [0, (finalists + others.div_ceil(u64::from(plan.search.batch))) * more * rollouts],
    }
}

/// Tokens of an episode of so many turns: each turn reads all before it again.
fn assumed(prompt: u64, turns: u64) -> Usage {
    let (reply, result) = (150, 350);
    let history = turns * (turns - 1) / 2 * (reply + result);
    Usage { input: turns * prompt + history, output: turns * reply, ..Usage::default() }
}

/// Mean tokens of the episodes that H0 had with this model in the archive's searches.
fn recorded(cx: &Context<'_>, model: &str) -> Result<Option<(u64, Usage)>> {
    let Ok(archive) = Archive::open_read(&cx.archive) else { return Ok(None) };
    let (mut n, mut sum) = (0, Usage::default());
    for (run, value) in archive.runs()? {
        let record = evosafe_search::RunRecord::from_value(&run, value)?;
        if !record.identity.victim.contains(&format!(":{model}@")) {
            continue;
        }
        for task in &record.order {
            let key = record.identity.evidence_key(&record.h0, task, 0);
            if let Some(evidence) = archive.evidence(&key)?
                && evidence.cost.tokens.total() > 0
            {
                n += 1;
                sum += evidence.cost.tokens;
            }
        }
    }
    let mean = |total: u64| total / n.max(1);
    Ok((n > 0).then(|| {
        let mean = Usage {
            input: mean(sum.input),
            cached_input: mean(sum.cached_input),
            cache_creation: mean(sum.cache_creation),
            output: mean(sum.output),
            ..Usage::default()
        };
        (n, mean)
    }))
}
