//! What can go wrong with an environment.

use std::path::PathBuf;
use std::time::Duration;

use evosafe_types::FaultKind;

/// Codes that the bridge answers errors with (docs/formats.md, "bridge protocol").
pub(crate) mod code {
    pub const ENVIRONMENT: i64 = -32000;
    pub const NOT_ALLOWED: i64 = -32001;
    pub const BAD_OPTIONS: i64 = -32002;
    pub const UNSUPPORTED: i64 = -32003;
}

/// Why an environment could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum EnvError {
    /// No built-in domain of that name.
    #[error("there is no built-in domain `{name}`; there are: {}", .known.join(", "))]
    UnknownDomain {
        /// As asked.
        name: String,
        /// The domains there are.
        known: Vec<String>,
    },
    /// The bridge was never set up.
    #[error("bridge `{name}` is not installed in {}; run `evosafe bridge setup {name}`", .folder.display())]
    NotInstalled {
        /// The bridge.
        name: String,
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// The process could not be started.
    #[error("bridge `{name}` cannot be started: {source}")]
    Start {
        /// The bridge.
        name: String,
        /// Why.
        source: std::io::Error,
    },
    /// The process ended.
    #[error("the bridge process ended during `{method}`{}", tail(.stderr))]
    Died {
        /// What it was doing.
        method: &'static str,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// The process did not answer in time and was killed.
    #[error("the bridge did not answer `{method}` within {} s and was killed", .after.as_secs_f64())]
    Timeout {
        /// What it was doing.
        method: &'static str,
        /// The deadline.
        after: Duration,
    },
    /// The process answered something that is not the protocol, and was killed.
    #[error("the bridge broke the protocol during `{method}`: {detail}")]
    Protocol {
        /// What it was doing.
        method: &'static str,
        /// What it said.
        detail: String,
    },
    /// The bridge refused the options of the specification, or the installed benchmark.
    #[error("bridge `{name}`: {message}")]
    Unusable {
        /// The bridge.
        name: String,
        /// Why, in its words.
        message: String,
    },
    /// The task is not among those that may be opened.
    #[error("task `{0}` may not be opened here: it is unknown or on the other side of the split")]
    NotAllowed(String),
    /// The environment itself failed.
    #[error("the environment failed during `{method}`: {message}")]
    Failed {
        /// What it was doing.
        method: &'static str,
        /// Why, in its words.
        message: String,
    },
}

impl EnvError {
    /// The class under which an episode lost to this is recorded.
    #[must_use]
    pub fn fault(&self) -> FaultKind {
        match self {
            Self::Died { .. } | Self::Start { .. } | Self::NotInstalled { .. } => {
                FaultKind::BridgeDied
            }
            Self::Timeout { .. } => FaultKind::BridgeTimeout,
            Self::Protocol { .. } => FaultKind::BridgeProtocol,
            Self::UnknownDomain { .. }
            | Self::Unusable { .. }
            | Self::NotAllowed(_)
            | Self::Failed { .. } => FaultKind::Environment,
        }
    }
}

fn tail(stderr: &str) -> String {
    let last: Vec<&str> = stderr.lines().rev().filter(|l| !l.trim().is_empty()).take(3).collect();
    if last.is_empty() {
        return String::new();
    }
    let lines: Vec<&str> = last.into_iter().rev().map(str::trim).collect();
    format!("; its last words: {}", lines.join(" / "))
}
