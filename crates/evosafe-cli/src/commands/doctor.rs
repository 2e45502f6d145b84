//! `evosafe doctor`

use std::process::ExitCode;

use anyhow::Result;
use evosafe_archive::Archive;
use serde::Serialize;

use super::Context;
use crate::session;

/// One finding.
#[derive(Debug, Serialize)]
struct Finding {
    what: String,
    ok: bool,
    detail: String,
    /// The command that fixes it.
    fix: Option<String>,
}

pub fn run(cx: &Context<'_>) -> Result<ExitCode> {
    let findings = vec![sandbox(cx), specs(), bridges(cx), archive(cx)];
    let ok = findings.iter().all(|f| f.ok);
    let mut text = String::new();
    for f in &findings {
        let mark = if f.ok { "ok     " } else { "problem" };
        text += &format!("{mark}  {}: {}\n", f.what, f.detail);
        if let Some(fix) = &f.fix {
            text += &format!("         {}: {fix}\n", if f.ok { "to add it" } else { "fix" });
        }
    }
    cx.printer.result(&text, &serde_json::json!({ "ok": ok, "findings": findings }))?;
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn sandbox(cx: &Context<'_>) -> Finding {
    let (ok, detail) = match session::sandbox(&cx.cache, *cx.printer) {
        Ok(_) => (true, "the harness runtime compiles and loads".to_owned()),
        Err(e) => (false, format!("{e:#}")),
    };
    let fix = (!ok).then(|| format!("rm -r {}", cx.cache.join("sandbox").display()));
    Finding { what: "sandbox".to_owned(), ok, detail, fix }
}

fn specs() -> Finding {
    let bad: Vec<String> = evosafe_spec::embedded()
        .into_iter()
        .filter_map(|name| evosafe_spec::load(name).err().map(|e| format!("{name}: {e}")))
        .collect();
    let detail = if bad.is_empty() {
        format!("built-in: {}", evosafe_spec::embedded().join(", "))
    } else {
        bad.join("; ")
    };
    Finding { what: "specifications".to_owned(), ok: bad.is_empty(), detail, fix: None }
}

fn bridges(cx: &Context<'_>) -> Finding {
    let what = "bridges".to_owned();
    match evosafe_env::setup::list(&session::bridges(&cx.cache)) {
        Ok(installed) if installed.is_empty() => Finding {
            what,
            ok: true,
            detail: "none installed; built-in domains need none".to_owned(),
            fix: Some("evosafe bridge setup agentdojo".to_owned()),
        },
        Ok(installed) => {
            let names: Vec<String> =
                installed.iter().map(|b| format!("{} {}", b.name, b.version)).collect();
            Finding { what, ok: true, detail: names.join(", "), fix: None }
        }
        Err(e) => Finding {
            what,
            ok: false,
            detail: e.to_string(),
            fix: Some("evosafe bridge setup agentdojo".to_owned()),
        },
    }
}

fn archive(cx: &Context<'_>) -> Finding {
    let what = format!("archive {}", cx.archive.display());
    if !cx.archive.join("HEAD").exists() && !cx.archive.exists() {
        let detail = "none yet; the first search makes it".to_owned();
        return Finding { what, ok: true, detail, fix: None };
    }
    match Archive::open_read(&cx.archive) {
        Ok(archive) => {
            let n = archive.candidates().map_or(0, |c| c.len());
            Finding { what, ok: true, detail: format!("{n} candidates"), fix: None }
        }
        Err(e) => Finding {
            what,
            ok: false,
            detail: e.to_string(),
            fix: Some("evosafe archive fsck".to_owned()),
        },
    }
}
