//! `evosafe bridge`

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use super::Context;
use crate::session;

pub fn setup(cx: &Context<'_>, name: &str, from: Option<&Path>) -> Result<ExitCode> {
    let printer = *cx.printer;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let installed = runtime.block_on(evosafe_env::setup::setup_bridge(
        name,
        from,
        &session::bridges(&cx.cache),
        &|line: &str| printer.note(line),
    ))?;
    let text = format!(
        "bridge {} {} is ready in {}",
        installed.name,
        installed.version,
        installed.folder.display()
    );
    printer.result(&text, &installed)?;
    Ok(ExitCode::SUCCESS)
}

pub fn list(cx: &Context<'_>) -> Result<ExitCode> {
    let installed = evosafe_env::setup::list(&session::bridges(&cx.cache))?;
    let lines: Vec<String> = installed
        .iter()
        .map(|b| format!("{}  {}  {}", b.name, b.version, b.folder.display()))
        .collect();
    let text = if lines.is_empty() {
        "no bridge is installed; try: evosafe bridge setup agentdojo".to_owned()
    } else {
        lines.join("\n")
    };
    cx.printer.result(&text, &json!({ "bridges": installed }))?;
    Ok(ExitCode::SUCCESS)
}
