//! `evosafe estimate`

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use evosafe_env::Environment;
use evosafe_llm::Role;
use evosafe_report::{
    Episodes, EstimateReport, RoleEstimate, RoleSource, TokenSource, VictimEstimate,
};
use evosafe_search::{CommandDesigner, Forecast, Outlook, caches, talk};
use evosafe_spec::Plan;
use evosafe_types::{ModelConfig, Price, ToolSpec};

use super::Context;
use crate::args::EstimateArgs;
use crate::past::{Past, Sum, times};
use crate::{models, roles, session};

/// Turns of an assumed episode, low and high, and tokens of its replies and results.
const TURNS: [usize; 2] = [3, 8];
const REPLY: u64 = 150;
const RESULT: u64 = 350;

pub fn run(cx: &Context<'_>, args: &EstimateArgs) -> Result<ExitCode> {
    let mut plan = evosafe_spec::load(&args.spec)?;
    plan.budget.candidates = args.candidates.or(plan.budget.candidates);
    let locator = session::locator(args.victim.as_deref(), &plan)?;
    let victim = models::config(&locator, &plan, &cx.models)?;
    let designer = roles::designer(args.designer, &plan);
    let cast = roles::cast(&plan, designer)?;
    let models = [cast.designer, cast.criticizer, cast.analyzer];
    if victim.is_none() && cast.command.is_none() && models.iter().all(Option::is_none) {
        bail!("victim `{locator}` costs nothing: name a live model");
    }
    let seeds = if args.no_warm_start { 1 } else { evosafe_spec::seeds()?.len() };
    let candidates = plan.budget.candidates.with_context(|| {
        format!(
            "the specification caps no candidates: pass --candidates N, seeds included ({seeds} of them)"
        )
    })?;
    let corpus = Corpus::of(cx, &plan)?;
    let past = Past::open(cx);
    let book = models::prices(&cx.models)?;
    let mut report = EstimateReport {
        spec: plan.name.clone(),
        candidates,
        victim: None,
        roles: Vec::new(),
        not_estimated: Vec::new(),
        together: [None, None],
        prices_as_of: None,
    };
    let outlook = Outlook {
        plan: &plan,
        candidates,
        seeds: u32::try_from(seeds).unwrap_or(u32::MAX),
        designer,
        tools: &corpus.tools,
    };
    let table =
        |name: &str| plan.models.get(name).with_context(|| format!("no table [models.{name}]"));
    let mut priced = Vec::new();
    if let Some(config) = &victim {
        let found = book.price(&config.model);
        priced.push(found.is_some());
        let price = found.as_ref();
        let episodes = episodes(&plan, corpus.train, candidates);
        let (estimate, turns) = victim_estimate(config, price, episodes, corpus.prompt, &past)?;
        let calls = [0, 1].map(|i| estimate.episodes.total()[i] * turns[i]);
        match past.questions(&config.model, calls)? {
            Some((seen, asked)) => report.roles.push(questions(config, price, &seen, asked)),
            None => report.not_estimated.push(format!(
                "questions of harnesses to the victim as a classifier (this archive's ledger has none): \
                 up to {} an episode",
                plan.limits.classify_calls
            )),
        }
        report.victim = Some(estimate);
    }
    for (role, name) in [
        (Role::Designer, cast.designer),
        (Role::Criticizer, cast.criticizer),
        (Role::Analyzer, cast.analyzer),
    ] {
        let Some(name) = name else { continue };
        let config = table(name)?;
        let price = book.price(&config.model);
        priced.push(price.is_some());
        let forecast = match role {
            Role::Designer => outlook.designer(config),
            Role::Criticizer => outlook.criticizer(config),
            _ => outlook.analyzer(config),
        };
        let measured = past.measured(role, &config.model)?;
        report.roles.push(role_estimate(config, price.as_ref(), forecast, measured));
    }
    if let Some(command) = cast.command {
        report.roles.push(command_estimate(command, &outlook, &past)?);
    }
    if report.roles.iter().any(|role| role.role == "designer") && cast.mixed.len() > 1 {
        report.not_estimated.push(format!(
            "how a mixed search shares its slots: typical is one in {}, most is all",
            cast.mixed.len()
        ));
    }
    report
        .not_estimated
        .push("retries, and what an API reads from a cache without being asked to".to_owned());
    report.prices_as_of = priced.contains(&true).then(|| book.as_of.clone());
    let report = report.summed();
    cx.printer.result(&evosafe_report::estimate_text(&report), &report)?;
    Ok(ExitCode::SUCCESS)
}

/// What the environment says about the size of things.
struct Corpus {
    /// Train tasks.
    train: u64,
    /// Tokens of tools, system prompt and instruction of an episode.
    prompt: u64,
    /// Tools of all suites.
    tools: Vec<ToolSpec>,
}

impl Corpus {
    fn of(cx: &Context<'_>, plan: &Plan) -> Result<Self> {
        let settings = session::environment_settings(plan, &cx.cache, 1, None);
        let (tasks, prompt, tools) =
            session::run(tokio_util::sync::CancellationToken::new(), async {
                let tasks = session::list_tasks(&settings).await?;
                let environment = Environment::start(&settings, None).await?;
                let toolset = |suite: &str| environment.toolset(suite).unwrap_or_default();
                let bytes: usize = toolset(tasks.first().map_or("", |t| t.suite.as_str()))
                    .iter()
                    .map(|t| t.name.len() + t.description.len() + t.input_schema.to_string().len())
                    .sum();
                let suites: BTreeSet<&str> = tasks.iter().map(|t| t.suite.as_str()).collect();
                let tools: Vec<ToolSpec> = suites.into_iter().flat_map(toolset).cloned().collect();
                environment.shutdown().await;
                // Four bytes a token, and some for instruction and system prompt.
                Ok((tasks, bytes as u64 / 4 + 300, tools))
            })?;
        let train = evosafe_spec::split(&plan.split, &tasks)?.train.len() as u64;
        Ok(Self { train, prompt, tools })
    }
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

/// The victim's turns, and how many an episode has, low and high.
fn victim_estimate(
    config: &ModelConfig,
    price: Option<&Price>,
    episodes: Episodes,
    prompt: u64,
    past: &Past,
) -> Result<(VictimEstimate, [u64; 2])> {
    let recorded = past.undefended(&config.model)?;
    let (source, low, high) = match recorded {
        Some(seen) => {
            (TokenSource::Recorded { episodes: seen.conversations }, seen.mean(), seen.mean())
        }
        None => {
            let assumed = |turns: usize, cached: bool| {
                Sum::of(&talk(prompt, &vec![(REPLY, RESULT); turns], cached), price)
            };
            let (low, high) = (assumed(TURNS[0], caches(config)), assumed(TURNS[1], false));
            (TokenSource::Assumed { prompt }, low, high)
        }
    };
    let total = episodes.total();
    let usd = |episode: &Sum, n: u64| Some(times(episode.usd(price)?, n, 1));
    let estimate = VictimEstimate {
        model: config.model.clone(),
        source,
        tokens_an_episode: [low.usage, high.usage],
        usd: [usd(&low, total[0]), usd(&high, total[1])],
        episodes,
    };
    Ok((estimate, [low.calls, high.calls]))
}

/// What harnesses ask the classifier, if they go on as they did so far.
fn questions(
    config: &ModelConfig,
    price: Option<&Price>,
    seen: &Sum,
    asked: [u64; 2],
) -> RoleEstimate {
    RoleEstimate {
        role: Role::Classify.as_str().to_owned(),
        model: config.model.clone(),
        conversations: asked,
        tokens: Some(asked.map(|n| seen.scaled(n))),
        usd: asked.map(|n| Some(times(seen.usd(price)?, n, seen.conversations))),
        source: RoleSource::Measured { conversations: seen.conversations },
        basis: "as often for each call of the victim as so far".to_owned(),
    }
}

/// A role that a model plays.
fn role_estimate(
    config: &ModelConfig,
    price: Option<&Price>,
    forecast: Forecast,
    measured: Option<Sum>,
) -> RoleEstimate {
    let Forecast { role, conversations, calls, basis } = forecast;
    let (source, basis, each) = match measured {
        Some(seen) => {
            let basis = format!(
                "{} calls of {}; conversations as a search has them",
                seen.calls, config.model
            );
            let source = RoleSource::Measured { conversations: seen.conversations };
            (source, basis, [seen, seen])
        }
        None => {
            let each = calls.map(|calls| Sum::of(&calls, price));
            (RoleSource::Assumed, basis, each)
        }
    };
    let of = |i: usize| (&each[i], conversations[i]);
    RoleEstimate {
        role: role.as_str().to_owned(),
        model: config.model.clone(),
        conversations,
        tokens: Some([0, 1].map(|i| of(i).0.scaled(of(i).1))),
        usd: [0, 1].map(|i| Some(times(of(i).0.usd(price)?, of(i).1, of(i).0.conversations))),
        source,
        basis,
    }
}

/// A coding agent as Designer: of money only what it said of itself, or what it may cost.
fn command_estimate(
    command: &evosafe_spec::CommandPlan,
    outlook: &Outlook<'_>,
    past: &Past,
) -> Result<RoleEstimate> {
    let attempts = outlook.attempts();
    let runs = Outlook::COMMAND_RUNS;
    let measured = past.attempts("command", |record| {
        let outer = record.identity.outer.as_ref();
        outer.and_then(|outer| outer.command.as_ref())
            == Some(&CommandDesigner::identity_of(&command.command))
    })?;
    let paid = measured.as_ref().and_then(|seen| Some((seen.paid?, seen.conversations)));
    let limit = command.cost_limit.map(|limit| times(limit, attempts[1] * runs, 1));
    let most = format!(
        "one run an attempt; most: {} repairs of each, {runs} runs each, at {}",
        outlook.plan.search.repairs,
        match command.cost_limit {
            Some(limit) => format!("`designer.cost_limit_usd` ({limit})"),
            None => "no limit: set `designer.cost_limit_usd`".to_owned(),
        }
    );
    let unknown = "what a run costs is known to the command only";
    Ok(RoleEstimate {
        role: Role::Designer.as_str().to_owned(),
        model: CommandDesigner::name_of(&command.command),
        conversations: attempts,
        tokens: None,
        usd: [paid.map(|(usd, n)| times(usd, attempts[0], n)), limit],
        source: match paid {
            Some((_, conversations)) => RoleSource::Measured { conversations },
            None => RoleSource::Assumed,
        },
        basis: if paid.is_some() { most } else { format!("{unknown}; {most}") },
    })
}
