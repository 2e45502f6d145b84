//! `evosafe grid`

use std::process::ExitCode;

use anyhow::{Result, bail};
use evosafe_search::DesignerKind;
use evosafe_spec::{EnvironmentPlan, Plan};
use evosafe_types::{GridCell, GridReport};

use super::{Context, compare, search};
use crate::args::{GridArgs, SplitArg};
use crate::session;

pub fn run(cx: &Context<'_>, args: &GridArgs) -> Result<ExitCode> {
    let plans = plans(&args.domains)?;
    let victims = victims(&args.victims)?;
    let archive = session::open_archive(&cx.archive, *cx.printer)?;
    let sandbox = session::sandbox(&cx.cache, *cx.printer)?;
    let concurrency = args.concurrency.unwrap_or_else(session::default_concurrency).max(1);
    let seeds = evosafe_spec::seeds()?;
    let Some((h0, bundles)) = seeds.split_first() else { bail!("there is no defence") };
    let all = plans.len() * victims.len();
    let mut cells = Vec::new();
    for plan in &plans {
        for victim in &victims {
            let (domain, locator) = (plan.name.clone(), format!("sim:{victim}"));
            cx.printer.note(&format!("cell {} of {all}: {domain}, {victim}", cells.len() + 1));
            let mut plan = plan.clone();
            plan.budget.candidates = args.candidates.or(plan.budget.candidates);
            let job = search::Job {
                plan: plan.clone(),
                locator: locator.clone(),
                seed: args.seed,
                designer: DesignerKind::Offline,
                criticizer: !args.no_criticizer,
                warm_start: !args.no_warm_start,
                concurrency,
            };
            let found = search::execute(cx, &archive, &sandbox, job)?;
            let best = session::bundle(&archive, &found.best)?;
            let mut against = vec![best];
            against.extend(bundles.iter().filter(|b| b.id() != found.best).cloned());
            let job = compare::Job {
                plan,
                locator,
                attack: None,
                side: SplitArg::HeldOut,
                concurrency,
                found: Some(session::find_run(&archive, Some(found.run.as_str()))?),
                h0: h0.clone(),
                bundles: against,
            };
            let rows = compare::execute(cx, &archive, &sandbox, job)?;
            cells.push(GridCell {
                domain,
                victim: victim.clone(),
                run: found.run,
                best: found.best,
                search_score: found.wide.points(),
                rows,
            });
        }
    }
    let report = GridReport { cells };
    cx.printer.result(&evosafe_report::grid_text(&report), &report)?;
    Ok(ExitCode::SUCCESS)
}

/// The specifications asked for; `all` are the built-in domains.
fn plans(asked: &str) -> Result<Vec<Plan>> {
    let built_in = |plan: &Plan| matches!(plan.environment, EnvironmentPlan::Builtin { .. });
    if asked == "all" {
        let mut all = Vec::new();
        for name in evosafe_spec::embedded() {
            all.extend(Some(evosafe_spec::load(name)?).filter(built_in));
        }
        return Ok(all);
    }
    let mut plans = Vec::new();
    for name in asked.split(',').map(str::trim) {
        let plan = evosafe_spec::load(name)?;
        if !built_in(&plan) {
            bail!("--domains: {name} is no built-in domain; simulated victims work in those only");
        }
        plans.push(plan);
    }
    Ok(plans)
}

/// The profiles asked for; `all` are those of the paper's study.
fn victims(asked: &str) -> Result<Vec<String>> {
    let names: Vec<String> = match asked {
        "all" => {
            let known = evosafe_spec::profiles();
            known.into_iter().filter(|name| *name != "default").map(str::to_owned).collect()
        }
        _ => asked.split(',').map(|name| name.trim().to_owned()).collect(),
    };
    for name in &names {
        evosafe_spec::profile(name)?;
    }
    Ok(names)
}
