//! What can go wrong outside a hook call.

use std::fmt;

use evosafe_types::HarnessFault;

/// The sandbox itself could not be made ready. Never the fault of a bundle.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The WebAssembly engine refused its configuration on this machine.
    #[error("the WebAssembly engine cannot start: {0}")]
    Engine(String),
    /// The JavaScript provider, or a component of a candidate, could not be built.
    #[error("the JavaScript runtime cannot be built: {0}")]
    Provider(String),
    /// A temporary folder could not be written while building.
    #[error("the JavaScript runtime cannot be built: {what}: {source}")]
    Io {
        /// What was attempted.
        what: &'static str,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
}

impl From<wasmtime::Error> for SandboxError {
    fn from(error: wasmtime::Error) -> Self {
        Self::Provider(format!("compiling: {error:#}"))
    }
}

/// Why a bundle has no `harness.wasm`.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The bundle cannot be run at all.
    #[error(transparent)]
    Bundle(#[from] BuildError),
    /// The machinery failed.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
}

/// One thing wrong with a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// File of the bundle, e.g. `harness.js`.
    pub file: String,
    /// Line, from 1, where known.
    pub line: Option<u32>,
    /// Column in UTF-16 code units, from 1, where known.
    pub column: Option<u32>,
    /// What is wrong and what to do.
    pub message: String,
}

impl Finding {
    /// A finding without a position.
    pub(crate) fn in_file(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, column: None, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        write!(f, ": {}", self.message)
    }
}

/// A bundle that cannot be run, with everything found wrong; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildError {
    /// What is wrong, in source order.
    pub findings: Vec<Finding>,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, finding) in self.findings.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            finding.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for BuildError {}

/// What stage 0 found out about a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// What is wrong; empty means that the bundle passes.
    pub findings: Vec<Finding>,
    /// Hooks the bundle exports, by their JavaScript names, in the order of the contract.
    pub hooks: Vec<String>,
    /// Hook calls made in the trial run.
    pub calls: u32,
    /// Lines the trial run logged.
    pub log: Vec<String>,
}

impl CheckReport {
    /// Whether the bundle passes stage 0.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Kinds of [`HarnessFault`].
pub(crate) mod kind {
    pub const TRAP: &str = "trap";
    pub const FUEL: &str = "fuel";
    pub const MEMORY: &str = "memory";
    pub const OUTPUT: &str = "output";
    pub const CLASSIFY: &str = "classify";
    pub const THROWN: &str = "thrown";
    pub const MALFORMED: &str = "malformed";
    pub const POISONED: &str = "poisoned";
    pub const SANDBOX: &str = evosafe_types::HarnessFault::OF_HOST;
}

/// Builds a fault.
pub(crate) fn fault(
    hook: evosafe_types::Hook,
    kind: &str,
    message: impl Into<String>,
) -> HarnessFault {
    HarnessFault { hook, kind: kind.to_owned(), message: message.into() }
}
