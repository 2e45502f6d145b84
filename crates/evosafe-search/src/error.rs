//! Errors of a search.

use evosafe_archive::ArchiveError;
use evosafe_env::EnvError;
use evosafe_llm::LlmError;
use evosafe_sandbox::BuildError;
use evosafe_types::BudgetError;

/// Why a search or an evaluation could not go on.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The archive failed.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The specification, a bundle or the warm-start library is wrong.
    #[error(transparent)]
    Spec(#[from] evosafe_spec::SpecError),
    /// A bundle is wrong.
    #[error(transparent)]
    Bundle(#[from] evosafe_spec::BundleError),
    /// The environment failed to start.
    #[error(transparent)]
    Environment(#[from] EnvError),
    /// A seed or an archived candidate does not build.
    #[error("candidate {candidate} does not build: {error}")]
    Build {
        /// Short id.
        candidate: String,
        /// What is wrong.
        error: BuildError,
    },
    /// The budget is spent.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A live model cannot be used. Everything finished is durable.
    #[error("{0}; everything finished is saved, run the same command to go on")]
    Model(String),
    /// The user asked to stop. Everything finished is durable.
    #[error("interrupted; everything finished is saved, run the same command to go on")]
    Interrupted,
    /// The archive holds a record this program cannot use.
    #[error("record of run {run} in the archive is unusable: {detail}")]
    Record {
        /// The run.
        run: String,
        /// What is wrong.
        detail: String,
    },
    /// Nothing to evaluate.
    #[error("{0}")]
    Unusable(String),
    /// An episode task panicked: a defect of this program.
    #[error("an episode failed inside the program: {0}")]
    Internal(String),
}

impl From<LlmError> for SearchError {
    fn from(error: LlmError) -> Self {
        match error {
            // The search ends with what it has, as for every other budget.
            LlmError::Budget(spent) => Self::Budget(BudgetError::Calls(spent.to_string())),
            other => Self::Model(other.to_string()),
        }
    }
}
