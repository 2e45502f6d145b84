//! `evosafe archive`

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use evosafe_archive::Archive;
use evosafe_types::CandidateId;

use super::Context;

pub fn fsck(cx: &Context<'_>) -> Result<ExitCode> {
    let report = Archive::fsck(&cx.archive, &candidate_id)?;
    cx.printer.result(&report.to_string(), &report)?;
    Ok(if report.is_sound() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Recomputes a candidate's id from its files.
fn candidate_id(files: &BTreeMap<String, Vec<u8>>) -> Result<CandidateId, String> {
    evosafe_spec::bundle_from_files(files).map(|b| b.id()).map_err(|e| e.to_string())
}

pub fn reindex(cx: &Context<'_>) -> Result<ExitCode> {
    let report = Archive::reindex(&cx.archive)?;
    cx.printer.result(&report.to_string(), &report)?;
    Ok(ExitCode::SUCCESS)
}
