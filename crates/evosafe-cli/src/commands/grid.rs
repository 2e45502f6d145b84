//! `evosafe grid`

use std::process::ExitCode;

use anyhow::Result;
use evosafe_types::{ArmReport, CrossCell, Evaluation, GridCell, GridReport};

use super::Context;
use super::study::Study;
use crate::args::GridArgs;

pub fn run(cx: &Context<'_>, args: &GridArgs) -> Result<ExitCode> {
    let study = Study::open(cx, &args.cells, &args.victims)?;
    let (all, rollouts) = (study.cells.len(), args.rollouts.rollouts);
    let mut cells = Vec::new();
    for cell in &study.cells {
        let (domain, victim) = (cell.domain().to_owned(), cell.victim.clone());
        study.note(&format!("cell {} of {all}: {domain}, {victim}", cells.len() + 1));
        let found = study.search(cell, args.seed, args.ablations.into())?;
        let mut bundles = study.of(std::iter::once(&found.best))?;
        bundles.extend(study.bundles.iter().filter(|b| b.id() != found.best).cloned());
        let rows = study.held_out(cell, &found.run, bundles, rollouts)?;
        cells.push(GridCell {
            domain,
            victim,
            run: found.run,
            best: found.best,
            search_score: found.wide.points(),
            rows,
        });
    }
    let cross = if args.cross { cross(&study, &cells, rollouts)? } else { Vec::new() };
    let report = GridReport { cells, cross };
    cx.printer.tables(evosafe_report::grid_document(&report), &report, &args.output)?;
    let lost = |cell: &GridCell| {
        cell.rows
            .iter()
            .any(|row| row.evaluation.candidate == cell.best && row.evaluation.indecisive)
    };
    let indecisive = report.cells.iter().any(lost) || report.cross.iter().any(|x| x.indecisive);
    Ok(if indecisive { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Every winner on the held-out tasks of every cell, winner by winner.
fn cross(study: &Study<'_>, cells: &[GridCell], rollouts: u32) -> Result<Vec<CrossCell>> {
    let mut used: Vec<Vec<Evaluation>> = Vec::new();
    for (at, (cell, deployed)) in study.cells.iter().zip(cells).enumerate() {
        let place = format!("{}, {}", deployed.domain, deployed.victim);
        study.note(&format!("all winners in cell {} of {}: {place}", at + 1, cells.len()));
        let winners = study.of(cells.iter().map(|trained| &trained.best))?;
        let rows = study.held_out(cell, &deployed.run, winners, rollouts)?;
        used.push(rows.into_iter().map(|row| row.evaluation).collect());
    }
    let mut cross = Vec::new();
    for trained in cells {
        for (deployed, rows) in cells.iter().zip(&used) {
            let Some(e) = rows.iter().find(|e| e.candidate == trained.best) else { continue };
            let arm: &ArmReport = &e.arm;
            cross.push(CrossCell {
                trained_domain: trained.domain.clone(),
                trained_victim: trained.victim.clone(),
                domain: deployed.domain.clone(),
                victim: deployed.victim.clone(),
                candidate: trained.best.clone(),
                arm: arm.clone(),
                reference_score: e.reference.score,
                unassessed: e.unassessed,
                indecisive: e.indecisive,
            });
        }
    }
    Ok(cross)
}
