//! `evosafe cost`

use std::process::ExitCode;

use anyhow::{Result, bail};
use evosafe_archive::calls_folder;
use evosafe_llm::{CostTable, GroupBy};
use evosafe_report::CostReport;

use super::Context;
use crate::args::CostArgs;
use crate::models;

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
