//! `evosafe harness`

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use super::Context;
use crate::session;

pub fn check(cx: &Context<'_>, dir: &Path) -> Result<ExitCode> {
    let bundle = evosafe_spec::read_bundle(dir)?;
    let sandbox = session::sandbox(&cx.cache, *cx.printer)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(sandbox.check(&bundle));
    let id = bundle.id();
    let text = if report.passed() {
        format!("{} passes: candidate id {}", dir.display(), id.short())
    } else {
        let lines: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
        lines.join("\n")
    };
    let findings: Vec<_> = report
        .findings
        .iter()
        .map(
            |f| json!({ "file": f.file, "line": f.line, "column": f.column, "message": f.message }),
        )
        .collect();
    cx.printer.result(
        &text,
        &json!({ "candidate": id, "passed": report.passed(), "findings": findings }),
    )?;
    Ok(if report.passed() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
