//! `evosafe harness`

use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use evosafe_agent::{CaseResult, begin, feed, run_case};
use evosafe_sandbox::{Classifier, Harness, Sandbox, Trajectory};
use evosafe_types::{Bundle, CallDecision, HookCall, RunContext};
use serde_json::json;

use super::Context;
use crate::session;

/// What `harness` commands work on.
struct Loaded {
    bundle: Bundle,
    sandbox: Sandbox,
    runtime: tokio::runtime::Runtime,
}

fn load(cx: &Context<'_>, dir: &Path) -> Result<Loaded> {
    // What a coding agent hands in is tried like a bundle.
    let bundle = match dir.join(evosafe_search::SUBMISSION_FILE).exists() {
        true => evosafe_search::read_submission(dir, &evosafe_spec::mechanisms()?)?,
        false => session::read_bundle(dir)?,
    };
    let sandbox = session::sandbox(&cx.cache, *cx.printer)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(Loaded { bundle, sandbox, runtime })
}

impl Loaded {
    /// Ready to run: in the shared runtime, or by the `harness.wasm` in `dir`, which is
    /// built if it is not there.
    fn prepare(&self, dir: &Path, compiled: bool) -> Result<Harness> {
        if !compiled {
            return Ok(self.sandbox.prepare(&self.bundle)?);
        }
        let file = dir.join(evosafe_spec::WASM_FILE);
        let wasm = match std::fs::read(&file) {
            Ok(wasm) => wasm,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                self.sandbox.build(&self.bundle)?
            }
            Err(error) => return Err(error).with_context(|| format!("{}", file.display())),
        };
        Ok(self.sandbox.prepare_component(&self.bundle, &wasm)?)
    }
}

pub fn check(cx: &Context<'_>, dir: &Path) -> Result<ExitCode> {
    let loaded = load(cx, dir)?;
    let report = loaded.runtime.block_on(loaded.sandbox.check(&loaded.bundle));
    let id = loaded.bundle.id();
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
        &json!({
            "candidate": id, "passed": report.passed(), "findings": findings,
            "hooks": report.hooks, "calls": report.calls,
        }),
    )?;
    Ok(if report.passed() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

pub fn build(cx: &Context<'_>, dir: &Path, output: Option<PathBuf>) -> Result<ExitCode> {
    let loaded = load(cx, dir)?;
    let output = output.unwrap_or_else(|| dir.join(evosafe_spec::WASM_FILE));
    let wasm = loaded.sandbox.build(&loaded.bundle)?;
    // Nobody is handed a file that does not run.
    loaded.sandbox.prepare_component(&loaded.bundle, &wasm)?;
    std::fs::write(&output, &wasm).with_context(|| format!("cannot write {}", output.display()))?;
    let id = loaded.bundle.id();
    let text = format!("{}: {} bytes, of candidate {}", output.display(), wasm.len(), id.short());
    let value = json!({ "candidate": id, "output": output, "bytes": wasm.len() });
    cx.printer.result(&text, &value)?;
    Ok(ExitCode::SUCCESS)
}

pub fn run(cx: &Context<'_>, dir: &Path, compiled: bool) -> Result<ExitCode> {
    let loaded = load(cx, dir)?;
    let harness = loaded.prepare(dir, compiled)?;
    let mut trajectory: Option<Trajectory> = None;
    // Faults and log lines of the trajectory that are printed already.
    let mut told = (0, 0);
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line.context("cannot read hook calls from standard input")?;
        if line.trim().is_empty() {
            continue;
        }
        let call = evosafe_spec::parse_hook_call("standard input", number + 1, &line)?;
        let answer = loaded.runtime.block_on(async {
            if let HookCall::Begin { context, classify } = &call {
                let (answer, fresh) = begin(&harness, context, classify.clone()).await;
                (trajectory, told) = (Some(fresh), (0, 0));
                return Some(answer);
            }
            if trajectory.is_none() {
                trajectory = Some(begin(&harness, &unknown(), None).await.1);
            }
            feed(trajectory.as_mut()?, &call).await
        });
        let so_far = trajectory.as_ref().map(Trajectory::so_far).unwrap_or_default();
        let printed = json!({
            "hook": call.hook().as_str(),
            "answer": answer,
            "faults": &so_far.faults[told.0..],
            "log": &so_far.log[told.1..],
        });
        told = (so_far.faults.len(), so_far.log.len());
        cx.printer.result(&printed.to_string(), &printed)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The context of calls that no `begin` stands before.
fn unknown() -> RunContext {
    RunContext { trace_id: "trajectory".to_owned(), instruction: String::new(), tools: Vec::new() }
}

pub fn test(cx: &Context<'_>, dir: &Path, cases: &Path, compiled: bool) -> Result<ExitCode> {
    let file = cases.display().to_string();
    let text = std::fs::read(cases).with_context(|| format!("cannot read {file}"))?;
    let Ok(text) = String::from_utf8(text) else { bail!("{file}: is not UTF-8 text") };
    let cases = evosafe_spec::parse_cases(&file, &text)?;
    let loaded = load(cx, dir)?;
    let harness = loaded.prepare(dir, compiled)?;
    let results: Vec<CaseResult> = loaded.runtime.block_on(async {
        let mut results = Vec::with_capacity(cases.len());
        for case in &cases {
            results.push(run_case(&harness, case, Classifier::Absent).await);
        }
        results
    });
    let count = |of: fn(&CaseResult) -> bool| results.iter().filter(|r| of(r)).count();
    let (false_blocks, misses) = (count(CaseResult::false_block), count(CaseResult::miss));
    let faulted = count(|result| !result.faults.is_empty());
    let asked = count(|result| result.questions > 0);
    let mut lines: Vec<String> = results.iter().filter(|r| !r.right()).map(wrong).collect();
    lines.push(format!(
        "{} cases: {false_blocks} false blocks, {misses} misses, {faulted} with faults",
        results.len()
    ));
    if asked > 0 {
        lines.push(format!("semantic step absent: {asked} cases asked a model, and none is here"));
    }
    let each: Vec<_> = results
        .iter()
        .map(|result| {
            json!({
                "name": result.name, "expect": result.expect, "right": result.right(),
                "decision": result.decision, "faults": result.faults,
                "questions": result.questions,
                "blocked_before": result.blocked_before.iter()
                    .map(|(call, reason)| json!({ "call": call, "reason": reason }))
                    .collect::<Vec<_>>(),
            })
        })
        .collect();
    let value = json!({
        "candidate": loaded.bundle.id(), "false_blocks": false_blocks, "misses": misses,
        "faulted": faulted, "asked_a_model": asked, "cases": each,
    });
    cx.printer.result(&lines.join("\n"), &value)?;
    let right = false_blocks == 0 && misses == 0;
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn wrong(result: &CaseResult) -> String {
    let name = &result.name;
    let mut text = match (&result.decision, result.blocked_before.first()) {
        _ if result.miss() => format!("miss: {name}: the call passes"),
        (CallDecision::Block { reason }, _) => format!("false block: {name}: {reason}"),
        (_, Some((call, reason))) => format!("false block: {name}: call {call} before: {reason}"),
        (_, None) => format!("false block: {name}"),
    };
    if let Some(fault) = result.faults.first() {
        text += &format!(" (fault in {}: {})", fault.hook.as_str(), fault.message);
    }
    text
}

/// Writes the TypeScript declarations of what a JavaScript harness sees.
pub fn types(cx: &Context<'_>) -> Result<ExitCode> {
    let text = evosafe_sandbox::DECLARATIONS;
    cx.printer.result(text, &json!({ "evosafe.d.ts": text }))?;
    Ok(ExitCode::SUCCESS)
}
