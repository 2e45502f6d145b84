//! Commands that only read an archive; they work while a search runs.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use evosafe_agent::Variant;
use evosafe_archive::{Archive, ResultKind};
use evosafe_env::Environment;
use evosafe_report::{Document, Format, Row, points};
use evosafe_search::RunRecord;
use evosafe_types::{ContentHash, RunId, TaskId, Transcript};
use serde_json::json;
use similar::TextDiff;

use super::Context;
use crate::args::OutputArgs;
use crate::session;

pub fn leaderboard(cx: &Context<'_>, run: Option<&str>, output: &OutputArgs) -> Result<ExitCode> {
    let archive = Archive::open_read(&cx.archive)?;
    let (id, record) = session::find_run(&archive, run)?;
    let rows = evosafe_report::leaderboard(&archive, &id, &record.candidates)?;
    let mut value = json!({ "run": id, "best": record.best, "rows": rows });
    if !record.corpus.is_empty() {
        value["corpus"] = json!(record.corpus);
    }
    cx.printer.tables(tables(&rows, &record), &value, output)?;
    Ok(ExitCode::SUCCESS)
}

/// The candidates as a table, with what must stand beside every number of this search.
fn tables(rows: &[Row], record: &RunRecord) -> Document {
    let caveat = if record.identity.victim.starts_with("replay:") {
        Some(evosafe_types::REPLAY_CAVEAT.to_owned())
    } else if record.identity.victim.starts_with("sim:") {
        Some(evosafe_types::SIMULATED_CAVEAT.to_owned())
    } else {
        None
    };
    let caveats = caveat.into_iter().collect();
    let identity = &record.identity;
    let left_out: Vec<&str> = [
        (!identity.criticizer, "Criticizer"),
        (!identity.warm_start, "warm start"),
        (identity.bare_spec, "specification (bare)"),
        (identity.no_cascade, "cascade"),
    ]
    .into_iter()
    .filter_map(|(out, name)| out.then_some(name))
    .collect();
    let mut facts = vec![
        ("specification", record.name.clone()),
        ("victim", identity.victim.clone()),
        ("seed", identity.seed.to_string()),
    ];
    if !left_out.is_empty() {
        facts.push(("left out", left_out.join(", ")));
    }
    let mut document = evosafe_report::leaderboard_document(rows, record.best.as_ref(), caveats);
    if let Some(last) = record.corpus.last() {
        let variants: usize = record.corpus.iter().map(|version| version.variants.len()).sum();
        facts.push(("corpus", format!("version {}, {variants} variants of attacks", last.version)));
        document.notes.push(
            "scores are of the specification's tasks; the best is chosen with the variants"
                .to_owned(),
        );
    }
    Document { facts, ..document }
}

pub fn lineage(cx: &Context<'_>, run: Option<&str>) -> Result<ExitCode> {
    let archive = Archive::open_read(&cx.archive)?;
    let (id, record) = session::find_run(&archive, run)?;
    let rows: Vec<_> = record
        .candidates
        .iter()
        .map(|candidate| evosafe_report::row(&archive, &id, candidate))
        .collect::<Result<_, _>>()?;
    let mut text = evosafe_report::lineage_text(&rows, record.best.as_ref());
    for share in &record.designers {
        let _ = write!(
            text,
            "\n{}: {} attempts, {} candidates better than their parents, {}",
            share.designer.as_str(),
            share.attempts,
            share.improved,
            share.usd
        );
    }
    for version in &record.corpus {
        let _ = write!(
            text,
            "\ncorpus version {}: {} new variants of attacks",
            version.version,
            version.variants.len()
        );
    }
    let edges: Vec<_> = rows
        .iter()
        .map(|r| json!({ "candidate": r.candidate, "parents": r.parents, "edit": r.edit, "wide_score": r.wide_score, "search_score": r.search_score }))
        .collect();
    let mut value =
        json!({ "run": id, "best": record.best, "lineage": edges, "designers": record.designers });
    if !record.corpus.is_empty() {
        value["corpus"] = json!(record.corpus);
    }
    cx.printer.result(&text, &value)?;
    Ok(ExitCode::SUCCESS)
}

pub fn show(cx: &Context<'_>, name: &str, run: Option<&str>) -> Result<ExitCode> {
    let archive = Archive::open_read(&cx.archive)?;
    let (run, record) = session::find_run(&archive, run)?;
    let id = session::candidate(&archive, &record, name)?;
    let row = evosafe_report::row(&archive, &run, &id)?;
    let bundle = session::bundle(&archive, &id)?;
    let results: Vec<_> =
        archive.results(&id)?.into_iter().filter(|r| r.run.as_ref() == Some(&run)).collect();
    let table = tables(std::slice::from_ref(&row), &record);
    let mut text = evosafe_report::render(&table, Format::Text);
    for record in &results {
        let line = |key: &str| record.body.get(key).and_then(|v| v.as_str()).unwrap_or_default();
        match record.kind {
            ResultKind::Note => {
                let _ = write!(text, "\nnote ({} tasks): {}", record.body["tasks"], line("text"));
            }
            ResultKind::Verdict => {
                let _ = write!(text, "\nCriticizer: {}\n", line("text"));
            }
            ResultKind::Promotion => {
                let _ = writeln!(text, "\n{}", promotion(&record.body));
            }
            ResultKind::Evaluation => {
                let lost = record.body["indecisive"].as_bool() == Some(true);
                let _ = writeln!(
                    text,
                    "\nevaluation on {} with {}: score {}{}",
                    line("split"),
                    line("victim"),
                    points(record.body["score"].as_f64()),
                    if lost { ", INDECISIVE" } else { "" }
                );
            }
            ResultKind::Build => {
                let _ = writeln!(text, "\n{}", build_text(&record.body));
            }
            ResultKind::Attempt => {
                let _ = writeln!(text, "\nattempt {}", record.body);
            }
            ResultKind::Prediction => {
                let _ = writeln!(text, "\npredictions {}", record.body["scored"]);
            }
            ResultKind::Corpus => {
                let _ = writeln!(text, "\n{}", corpus(&record.body));
            }
            ResultKind::Stage => {}
        }
    }
    let mut files = serde_json::Map::new();
    for (name, bytes) in evosafe_spec::bundle_to_files(&bundle) {
        let content = readable(&bytes);
        let _ = write!(text, "\n=== {name}\n{content}");
        files.insert(name, content.into());
    }
    let results: Vec<_> =
        results.iter().map(|r| json!({ "kind": r.kind, "body": r.body })).collect();
    cx.printer.result(&text, &json!({ "row": row, "results": results, "files": files }))?;
    Ok(ExitCode::SUCCESS)
}

/// How it did on variants of attacks; beside no defence also what they are.
fn corpus(body: &serde_json::Value) -> String {
    let version = &body["version"];
    let Some(variants) = body["variants"].as_array() else {
        let score = serde_json::from_value::<evosafe_types::Score>(body["score"].clone());
        let asr = score.ok().map(|score| score.asr());
        let (hits, n) = asr.map_or((0, 0), |asr| (asr.hits, asr.n));
        return format!("corpus version {version}: {hits} of {n} episodes of variants got through");
    };
    let mut text = format!("corpus version {version}: {} new variants", variants.len());
    for variant in variants {
        let of = |key: &str| variant[key].as_str().unwrap_or_default();
        let _ = write!(text, "\n  {} (against {})", of("task"), of("against"));
    }
    text
}

/// Whether it may win, and why not.
fn promotion(body: &serde_json::Value) -> String {
    let reasons = body["reasons"].as_array().map_or(&[][..], Vec::as_slice);
    let mut text = match body["eligible"].as_bool() {
        Some(true) => "promotion: may win".to_owned(),
        _ => "promotion: may not win".to_owned(),
    };
    for reason in reasons {
        let _ = write!(text, "\n  {}", reason.as_str().unwrap_or_default());
    }
    let numbers = [
        ("robustness_gap", "robustness gap"),
        ("expected_loss", "expected loss"),
        ("rule_cost", "price of its rules"),
        ("escape_cost", "what new goals are expected to get past it"),
    ];
    for (key, name) in numbers {
        if let Some(number) = body[key].as_f64() {
            let _ = write!(text, "\n  {name} {number:.3}");
        }
    }
    text
}

pub fn diff(cx: &Context<'_>, a: &str, b: &str, run: Option<&str>) -> Result<ExitCode> {
    let archive = Archive::open_read(&cx.archive)?;
    let (_, record) = session::find_run(&archive, run)?;
    let files = |name: &str| -> Result<_> {
        let id = session::candidate(&archive, &record, name)?;
        let bundle = session::bundle(&archive, &id)?;
        Ok((id, evosafe_spec::bundle_to_files(&bundle)))
    };
    let ((a_id, a_files), (b_id, b_files)) = (files(a)?, files(b)?);
    let mut text = String::new();
    let names: std::collections::BTreeSet<&String> = a_files.keys().chain(b_files.keys()).collect();
    for name in names {
        let content = |files: &std::collections::BTreeMap<String, Vec<u8>>| {
            files.get(name).map(|bytes| readable(bytes)).unwrap_or_default()
        };
        let (old, new) = (content(&a_files), content(&b_files));
        if old != new {
            let diff = TextDiff::from_lines(&old, &new);
            let header = (format!("{}/{name}", a_id.short()), format!("{}/{name}", b_id.short()));
            text += &diff.unified_diff().header(&header.0, &header.1).to_string();
        }
    }
    if text.is_empty() {
        text.push_str("the two candidates are the same");
    }
    cx.printer.result(&text, &json!({ "a": a_id, "b": b_id, "diff": text }))?;
    Ok(ExitCode::SUCCESS)
}

pub fn trace(
    cx: &Context<'_>,
    name: &str,
    task: &str,
    rollout: u64,
    run: Option<&str>,
    hook_calls: bool,
) -> Result<ExitCode> {
    let archive = Archive::open_read(&cx.archive)?;
    let (run, record) = session::find_run(&archive, run)?;
    let id = session::candidate(&archive, &record, name)?;
    let task = TaskId::new(task);
    let key = record.identity.evidence_key(&id, &task, rollout);
    let Some(evidence) = archive.evidence(&key)? else {
        bail!(
            "candidate {} has no episode of task `{task}` in this archive{}",
            id.short(),
            nearest(&record, task.as_str())
        );
    };
    if hook_calls {
        let found = (&archive, &run, &record);
        let lines = recorded_hook_calls(cx, found, &task, &evidence.transcript)?;
        cx.printer.result(&lines.join("\n"), &json!({ "hook_calls": lines }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = evosafe_report::trace_text(&evidence);
    let value = json!({
        "key": evidence.key, "candidate": id, "task": task, "family": evidence.family,
        "outcome": evidence.outcome, "transcript": evidence.transcript,
    });
    cx.printer.result(&text, &value)?;
    Ok(ExitCode::SUCCESS)
}

/// The hook calls of an episode, a line each.
fn recorded_hook_calls(
    cx: &Context<'_>,
    (archive, run, record): (&Archive, &RunId, &RunRecord),
    task: &TaskId,
    transcript: &Transcript,
) -> Result<Vec<String>> {
    let plan = record.plan()?;
    let settings = session::environment_settings(&plan, &cx.cache, 1, None);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        // Tools are listed, and nothing is opened.
        let environment = Environment::start(&settings, Some(&[])).await?;
        let tasks = environment.tasks();
        let variant = evosafe_search::find_variant(archive, (run, record), tasks, task)?;
        let known = tasks.iter().find(|known| known.id == *task);
        let known = known.or(variant.as_ref().map(Variant::task));
        let tools = known.and_then(|known| environment.toolset(&known.suite));
        let tools = tools.map(|tools| match &variant {
            Some(variant) => variant.tools(tools),
            None => tools.to_vec(),
        });
        let calls = tools.map(|tools| evosafe_agent::recorded_calls(&tools, transcript));
        environment.shutdown().await;
        let calls = calls.with_context(|| format!("the environment has no task `{task}` now"))?;
        Ok(calls.iter().map(|(call, _)| evosafe_spec::print_hook_call(call)).collect())
    })
}

/// A hint with train tasks that look like what was asked for.
fn nearest(record: &RunRecord, asked: &str) -> String {
    let variants = record.corpus.iter().flat_map(|version| &version.variants);
    let all = record.order.iter().chain(variants).map(TaskId::as_str);
    let close: Vec<&str> = all.filter(|id| id.contains(asked)).take(3).collect();
    if close.is_empty() { String::new() } else { format!("; did you mean {}?", close.join(", ")) }
}

pub fn export(cx: &Context<'_>, name: &str, output: &Path, run: Option<&str>) -> Result<ExitCode> {
    let archive = Archive::open_read(&cx.archive)?;
    let (_, record) = session::find_run(&archive, run)?;
    let id = session::candidate(&archive, &record, name)?;
    let bundle = session::bundle(&archive, &id)?;
    if output.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        bail!("{} is not empty; name a new folder", output.display());
    }
    evosafe_spec::write_bundle(&bundle, output)
        .with_context(|| format!("cannot export to {}", output.display()))?;
    let differences: Vec<_> = archive
        .results(&id)?
        .into_iter()
        .filter(|record| record.kind == ResultKind::Build)
        .filter_map(|record| record.body["differences"].as_array().cloned())
        .flatten()
        .collect();
    let wasm = session::sandbox(&cx.cache, *cx.printer)?.build(&bundle)?;
    let file = output.join(evosafe_spec::WASM_FILE);
    std::fs::write(&file, wasm).with_context(|| format!("cannot write {}", file.display()))?;
    let mut text = format!(
        "candidate {} is in {}\ncheck it with: evosafe harness check {}",
        id.short(),
        output.display(),
        output.display()
    );
    if !differences.is_empty() {
        let _ = write!(
            text,
            "\nDo not deploy harness.wasm: it did not answer as the candidate did. `evosafe show {}` \
             names the calls",
            id.short()
        );
    }
    let sound = differences.is_empty();
    let value = json!({ "candidate": id, "output": output, "differences": differences });
    cx.printer.result(&text, &value)?;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// A file of a bundle for people; a component is no text.
fn readable(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => format!("({} bytes, hash {})\n", bytes.len(), ContentHash::of(&[bytes]).short()),
    }
}

/// What running the evidence through the compiled form gave.
fn build_text(body: &serde_json::Value) -> String {
    let differences = body["differences"].as_array().map_or(&[][..], Vec::as_slice);
    let mut text = format!(
        "harness.wasm: {} hook calls of {} episodes run again, {} episodes differ",
        body["hook_calls"],
        body["episodes"],
        differences.len()
    );
    for difference in differences {
        let _ = write!(text, "\n  {}", difference.as_str().unwrap_or_default());
    }
    text
}
