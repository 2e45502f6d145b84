//! Why a victim cannot be used.

use std::path::PathBuf;

/// Why a victim cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum VictimError {
    /// The locator names no kind of victim.
    #[error(
        "`{0}` names no victim: use replay:PATH, sim:NAME, openai:MODEL, anthropic:MODEL, or model:NAME for a table `[models.NAME]` of the specification"
    )]
    Unknown(String),
    /// There is no such simulated profile.
    #[error(transparent)]
    Profile(#[from] evosafe_spec::ProfileError),
    /// A file or folder cannot be read.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Nothing there is a recorded run.
    #[error("{} holds no recorded runs in AgentDojo's layout (PIPELINE/SUITE/USER_TASK/ATTACK/INJECTION_TASK.json){skipped}", .path.display())]
    NoRuns {
        /// The file or folder.
        path: PathBuf,
        /// What was skipped, or empty.
        skipped: String,
    },
    /// Several pipelines lie below the folder.
    #[error("{} holds runs of several pipelines ({}): name one of them", .path.display(), .pipelines.join(", "))]
    SeveralPipelines {
        /// The folder.
        path: PathBuf,
        /// The pipelines.
        pipelines: Vec<String>,
    },
    /// The attack was not recorded.
    #[error("attack `{attack}` is not among the recorded runs in {}; there are: {}", .path.display(), .recorded.join(", "))]
    NoAttack {
        /// As asked.
        attack: String,
        /// The attacks there are.
        recorded: Vec<String>,
        /// The file or folder.
        path: PathBuf,
    },
}
