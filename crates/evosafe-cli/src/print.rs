//! The one place that decides what goes to stdout and what to stderr.

use std::io::Write as _;

use anyhow::Context as _;
use evosafe_report::{Document, Format};
use serde::Serialize;

use crate::args::OutputArgs;
use crate::error::Failure;

/// Prints results.
#[derive(Debug, Clone, Copy)]
pub struct Printer {
    json: bool,
}

impl Printer {
    pub fn new(json: bool) -> Self {
        Self { json }
    }

    /// The result of the command: text for people, or one JSON document.
    pub fn result(self, text: &str, value: &impl Serialize) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        let written = if self.json {
            writeln!(out, "{}", serde_json::to_string(value)?)
        } else {
            writeln!(out, "{}", text.trim_end())
        };
        match written.and_then(|()| out.flush()) {
            // The reader of a pipe may leave early (`| head`); that is not our failure.
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            other => Ok(other?),
        }
    }

    /// Tables: in the format asked for, or the result as one JSON document.
    pub fn tables(
        self,
        document: Document,
        value: &impl Serialize,
        output: &OutputArgs,
    ) -> anyhow::Result<()> {
        let names = document.table_names();
        let format = output.format.map_or(Format::Text, Format::from);
        let asked = output.table.as_deref();
        // What a program reads is complete unless it asks for less.
        let all = (format != Format::Text).then_some("all");
        let document = match asked.or(all) {
            Some(name) => document.only(name).with_context(|| {
                format!("--table: no table `{name}`; there are: {}", names.join(", "))
            })?,
            None => document,
        };
        self.result(&evosafe_report::render(&document, format), value)
    }

    /// Something for people, beside the result.
    #[expect(clippy::unused_self, reason = "printing goes through the printer")]
    pub fn note(self, text: &str) {
        let _ = writeln!(std::io::stderr(), "{text}");
    }

    /// An error: on stderr for people; with `--json` also the document.
    pub fn failure(self, failure: &Failure) {
        let _ = writeln!(std::io::stderr(), "error: {}", failure.message);
        for hint in &failure.hints {
            let _ = writeln!(std::io::stderr(), "hint: {hint}");
        }
        if self.json {
            let value = serde_json::json!({
                "error": { "kind": failure.kind.as_str(), "message": failure.message, "hints": failure.hints }
            });
            let _ = writeln!(std::io::stdout(), "{value}");
        }
    }
}
