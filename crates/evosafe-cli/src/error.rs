//! From library errors to what a person sees: kind, message, hints, exit code.

use std::process::ExitCode;

use evosafe_archive::ArchiveError;
use evosafe_llm::LlmError;
use evosafe_search::SearchError;
use evosafe_types::BudgetError;

/// Classes of failure; each has its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Input,
    Environment,
    Archive,
    Model,
    Interrupted,
    Internal,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Environment => "environment",
            Self::Archive => "archive",
            Self::Model => "model",
            Self::Interrupted => "interrupted",
            Self::Internal => "internal",
        }
    }

    fn code(self) -> u8 {
        match self {
            Self::Input => 3,
            Self::Environment => 4,
            Self::Archive => 5,
            Self::Model => 6,
            Self::Interrupted => 130,
            Self::Internal => 70,
        }
    }
}

/// A failure as shown.
#[derive(Debug)]
pub struct Failure {
    pub kind: Kind,
    pub message: String,
    pub hints: Vec<String>,
}

impl Failure {
    /// Classifies an error by the first cause that has a class.
    pub fn of(error: &anyhow::Error) -> Self {
        let kind = error.chain().find_map(kind_of).unwrap_or(Kind::Input);
        let hints = error.chain().filter_map(hint_of).collect();
        Self { kind, message: messages(error), hints }
    }

    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.kind.code())
    }
}

/// The chain of messages, without repeating what an outer one already says.
fn messages(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let message = cause.to_string();
        if text.is_empty() {
            text = message;
        } else if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
    }
    text
}

fn kind_of(error: &(dyn std::error::Error + 'static)) -> Option<Kind> {
    if let Some(error) = error.downcast_ref::<SearchError>() {
        return Some(match error {
            SearchError::Archive(_) | SearchError::Record { .. } => Kind::Archive,
            SearchError::Environment(_) => Kind::Environment,
            SearchError::Model(_) => Kind::Model,
            SearchError::Interrupted => Kind::Interrupted,
            SearchError::Internal(_) => Kind::Internal,
            _ => Kind::Input,
        });
    }
    if let Some(error) = error.downcast_ref::<ArchiveError>() {
        return Some(match error {
            ArchiveError::Ambiguous { .. } | ArchiveError::NotFound { .. } => Kind::Input,
            _ => Kind::Archive,
        });
    }
    if let Some(error) = error.downcast_ref::<LlmError>() {
        return Some(match error {
            LlmError::Storage { .. } | LlmError::Damaged { .. } => Kind::Archive,
            LlmError::Config(_) => Kind::Input,
            _ => Kind::Model,
        });
    }
    if error.is::<evosafe_sandbox::SandboxError>() {
        return Some(Kind::Internal);
    }
    if error.is::<evosafe_env::EnvError>() || error.is::<evosafe_env::SetupError>() {
        return Some(Kind::Environment);
    }
    None
}

fn hint_of(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    if let Some(SearchError::Budget(BudgetError::Calls(_))) = error.downcast_ref() {
        let hint = "give it more (--budget-usd, budget.victim_tokens) and run the same command again: what was paid for is kept";
        return Some(hint.to_owned());
    }
    match error.downcast_ref::<ArchiveError>()? {
        ArchiveError::Locked { .. } => {
            Some("wait for the other search, or give this one its own --archive".to_owned())
        }
        ArchiveError::NotFound { .. } => {
            Some("`evosafe leaderboard` lists the candidates".to_owned())
        }
        _ => None,
    }
}
