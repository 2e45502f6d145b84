//! Cells of a grid: a built-in domain and a simulated victim, searched and evaluated.

use std::sync::Arc;

use anyhow::{Result, bail};
use evosafe_archive::Archive;
use evosafe_sandbox::Sandbox;
use evosafe_search::{Ablations, DesignerKind, SearchSummary};
use evosafe_spec::{EnvironmentPlan, Plan};
use evosafe_types::{Bundle, CandidateId, ComparisonRow, RunId};

use super::{Context, compare, search};
use crate::args::{CellArgs, SplitArg};
use crate::session;

/// A domain and a victim.
pub struct Cell {
    pub plan: Plan,
    pub victim: String,
}

impl Cell {
    pub fn domain(&self) -> &str {
        &self.plan.name
    }
}

/// What all cells of a command share.
pub struct Study<'a> {
    cx: &'a Context<'a>,
    pub archive: Arc<Archive>,
    sandbox: Sandbox,
    concurrency: usize,
    h0: Bundle,
    /// The warm start without no defence.
    pub bundles: Vec<Bundle>,
    pub cells: Vec<Cell>,
}

impl<'a> Study<'a> {
    pub fn open(cx: &'a Context<'a>, args: &CellArgs, victims: &str) -> Result<Self> {
        let victims = named_victims(victims)?;
        let mut cells = Vec::new();
        for plan in plans(&args.domains)? {
            for victim in &victims {
                let mut plan = plan.clone();
                plan.budget.candidates = args.candidates.or(plan.budget.candidates);
                cells.push(Cell { plan, victim: victim.clone() });
            }
        }
        let mut bundles = evosafe_spec::seeds()?;
        if bundles.is_empty() {
            bail!("there is no defence");
        }
        let h0 = bundles.remove(0);
        Ok(Self {
            cx,
            archive: session::open_archive(&cx.archive, *cx.printer)?,
            sandbox: session::sandbox(&cx.cache, *cx.printer)?,
            concurrency: args.concurrency.unwrap_or_else(session::default_concurrency).max(1),
            h0,
            bundles,
            cells,
        })
    }

    /// Searches a cell, or finds in the archive what such a search came to.
    pub fn search(&self, cell: &Cell, seed: u64, ablations: Ablations) -> Result<SearchSummary> {
        let job = search::Job {
            plan: cell.plan.clone(),
            locator: format!("sim:{}", cell.victim),
            seed,
            designer: DesignerKind::Offline,
            ablations,
            concurrency: self.concurrency,
        };
        search::execute(self.cx, &self.archive, &self.sandbox, job)
    }

    /// Bundles on the held-out tasks of a cell, which `run` searched, each task `rollouts` times.
    pub fn held_out(
        &self,
        cell: &Cell,
        run: &RunId,
        bundles: Vec<Bundle>,
        rollouts: u32,
    ) -> Result<Vec<ComparisonRow>> {
        let job = compare::Job {
            plan: cell.plan.clone(),
            locator: format!("sim:{}", cell.victim),
            attack: None,
            side: SplitArg::HeldOut,
            rollouts,
            concurrency: self.concurrency,
            found: Some(session::find_run(&self.archive, Some(run.as_str()))?),
            h0: self.h0.clone(),
            bundles,
        };
        compare::execute(self.cx, &self.archive, &self.sandbox, job)
    }

    /// The bundles of some candidates, each once.
    pub fn of<'b>(&self, ids: impl Iterator<Item = &'b CandidateId>) -> Result<Vec<Bundle>> {
        let ids: std::collections::BTreeSet<&CandidateId> = ids.collect();
        ids.into_iter().map(|id| session::bundle(&self.archive, id)).collect()
    }

    pub fn note(&self, text: &str) {
        self.cx.printer.note(text);
    }
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

/// The profiles asked for, with or without `sim:`; `all` are those of the paper's study.
fn named_victims(asked: &str) -> Result<Vec<String>> {
    let names: Vec<String> = match asked {
        "all" => {
            let known = evosafe_spec::profiles();
            known.into_iter().filter(|name| *name != "default").map(str::to_owned).collect()
        }
        _ => {
            let bare = |name: &str| name.trim().trim_start_matches("sim:").to_owned();
            asked.split(',').map(bare).collect()
        }
    };
    for name in &names {
        evosafe_spec::profile(name)?;
    }
    Ok(names)
}
