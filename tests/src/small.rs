//! A search that is small enough to be run many times: 12 train tasks, 7 candidates at most.

use std::process::Command;

use crate::{Run, Workspace};

/// The key of its models, in the variable that the specification names.
pub const KEY: &str = "sk-a-key-that-nobody-may-see";

/// A model's table `[models.NAME]`, with limits that do not keep a test waiting.
#[must_use]
pub fn model(name: &str, api: &str, url: &str, concurrency: usize) -> String {
    format!(
        r#"
[models.{name}]
api = "{api}"
model = "scripted-{api}"
base_url = "{url}"
key_env = "SCRIPTED_KEY"
max_tokens = 500
[models.{name}.limits]
concurrency = {concurrency}
call_timeout_s = 1.0
backoff_s = 0.002
backoff_cap_s = 0.02
"#
    )
}

/// Puts the specification `small` into a workspace. Its victim is `model:victim`; `models` holds
/// that table and what else the search shall have.
///
/// # Panics
/// If it cannot be written.
pub fn write(work: &Workspace, models: &str) {
    let folder = work.path().join("small");
    std::fs::create_dir_all(&folder).expect("a folder");
    let toml = format!(
        r#"
format = 1
name = "small"
victim = "model:victim"
[environment]
kind = "builtin"
domain = "finance"
[split]
by = "environment"
[cascade]
smoke = 3
gate = 6
search = 9
wide = 12
finalists = 1
under_attack_margin = 10.0
[search]
batch = 3
[budget]
candidates = 7
{models}"#
    );
    std::fs::write(folder.join("spec.toml"), toml).expect("it can be written");
    std::fs::write(folder.join("spec.md"), "# A small desk\n").expect("it can be written");
    let prices = "format = 1\nas_of = \"2026-11-30\"\n[[model]]\nnames = [\"scripted-openai\", \"scripted-anthropic\"]\ninput = 1.0\noutput = 10.0\n";
    std::fs::write(work.path().join("prices.toml"), prices).expect("it can be written");
}

/// The search, from no defence alone.
#[must_use]
pub fn command(work: &Workspace, more: &[&str]) -> Command {
    let args =
        ["search", "small", "--no-warm-start", "--seed", "5", "--json", "--prices", "prices.toml"];
    let mut command = work.command(&[&args[..], more].concat());
    command.env("SCRIPTED_KEY", KEY);
    command
}

/// Runs it to its end.
///
/// # Panics
/// If the binary does not start.
#[must_use]
pub fn search(work: &Workspace, more: &[&str]) -> Run {
    command(work, more).output().expect("the binary starts").into()
}
