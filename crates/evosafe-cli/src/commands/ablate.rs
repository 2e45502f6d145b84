//! `evosafe ablate`

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::ValueEnum as _;
use evosafe_search::{Ablations, SearchSummary};
use evosafe_types::{AblationReport, AblationRun, Evaluation};

use super::Context;
use super::study::{Cell, Study};
use crate::args::{AblateArgs, Arm};

/// A finished search of an arm.
struct Found {
    arm: &'static str,
    seed: u64,
    summary: SearchSummary,
}

pub fn run(cx: &Context<'_>, args: &AblateArgs) -> Result<ExitCode> {
    let mut arms: Vec<Arm> =
        if args.arms.is_empty() { Arm::value_variants().to_vec() } else { args.arms.clone() };
    arms.sort_unstable();
    arms.dedup();
    let mut seeds = args.run_seeds.clone();
    seeds.sort_unstable();
    seeds.dedup();
    if seeds.is_empty() {
        bail!("--run-seeds: name at least one seed");
    }
    let study = Study::open(cx, &args.cells, &args.victims)?;
    let all = study.cells.len() * seeds.len() * (arms.len() + 1);
    let mut report = AblationReport { runs: Vec::new(), caveats: Vec::new() };
    for cell in &study.cells {
        let found = searches(&study, cell, &arms, &seeds, (report.runs.len(), all))?;
        report_cell(&study, cell, found, &mut report)?;
    }
    cx.printer.tables(evosafe_report::ablation_document(&report), &report, &args.output)?;
    let indecisive = report.runs.iter().any(|run| run.indecisive);
    Ok(if indecisive { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// All searches of a cell, seed by seed, the full one of each first.
fn searches(
    study: &Study<'_>,
    cell: &Cell,
    arms: &[Arm],
    seeds: &[u64],
    (before, all): (usize, usize),
) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    let full = std::iter::once(("full", Ablations::default()));
    let arms: Vec<(&'static str, Ablations)> =
        full.chain(arms.iter().map(|arm| (arm.as_str(), Ablations::from(*arm)))).collect();
    for &seed in seeds {
        for (arm, ablations) in &arms {
            let at = before + found.len() + 1;
            let (domain, victim) = (cell.domain(), &cell.victim);
            study.note(&format!("search {at} of {all}: {domain}, {victim}, seed {seed}, {arm}"));
            let summary = study.search(cell, seed, *ablations)?;
            found.push(Found { arm, seed, summary });
        }
    }
    Ok(found)
}

/// The winners of a cell on its held-out tasks.
fn report_cell(
    study: &Study<'_>,
    cell: &Cell,
    found: Vec<Found>,
    report: &mut AblationReport,
) -> Result<()> {
    let Some(first) = found.first() else { return Ok(()) };
    let winners = study.of(found.iter().map(|f| &f.summary.best))?;
    let rows = study.held_out(cell, &first.summary.run, winners, 1)?;
    for row in &rows {
        for caveat in &row.evaluation.caveats {
            if !report.caveats.contains(caveat) {
                report.caveats.push(caveat.clone());
            }
        }
    }
    for Found { arm, seed, summary } in found {
        let of = |e: &&Evaluation| e.candidate == summary.best;
        let Some(e) = rows.iter().map(|row| &row.evaluation).find(of) else { continue };
        report.runs.push(AblationRun {
            domain: cell.domain().to_owned(),
            victim: cell.victim.clone(),
            arm: arm.to_owned(),
            seed,
            candidates: summary.candidates,
            rejected: summary.rejected,
            train_score: summary.wide.points(),
            held_out: e.arm.clone(),
            reference_score: e.reference.score,
            unassessed: e.unassessed,
            indecisive: e.indecisive || summary.indecisive(),
            blind: summary.blind,
            run: summary.run,
            best: summary.best,
        });
    }
    Ok(())
}
