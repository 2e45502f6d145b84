//! What can go wrong with a call, and whose fault it is.

use std::path::PathBuf;
use std::time::Duration;

use evosafe_types::ModelConfigError;

use crate::budget::BudgetExceeded;

/// A call without a usable reply. Messages of endpoints are in it without keys and cut
/// to a readable length.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LlmError {
    /// The endpoint does not take the key, or the key may not use the model.
    #[error("{endpoint} refuses the key (status {status}): {message}")]
    Auth {
        /// The endpoint.
        endpoint: String,
        /// HTTP status.
        status: u16,
        /// What it says.
        message: String,
    },
    /// The account has no credit left or hit a spending limit: waiting does not help.
    #[error("the account at {endpoint} has no credit left: {message}")]
    Quota {
        /// The endpoint.
        endpoint: String,
        /// What it says.
        message: String,
    },
    /// The endpoint does not understand the request, or does not know the model.
    #[error("{endpoint} refuses the request (status {status}): {message}")]
    BadRequest {
        /// The endpoint.
        endpoint: String,
        /// HTTP status.
        status: u16,
        /// What it says.
        message: String,
    },
    /// The conversation is longer than the model can read.
    #[error("the conversation is too long for the model: {message}")]
    ContextOverflow {
        /// What the endpoint says.
        message: String,
    },
    /// The endpoint's filter let neither prompt nor reply through.
    #[error("the endpoint's content filter stopped the call: {message}")]
    ContentFilter {
        /// What it says.
        message: String,
    },
    /// The limit on tokens was hit before the model wrote any text or call.
    #[error("the reply was cut off at {max_tokens} tokens before it said anything")]
    Truncated {
        /// The limit.
        max_tokens: u32,
    },
    /// The model said nothing and called nothing.
    #[error("the model gave an empty reply")]
    Empty,
    /// The endpoint's rate limit outlasted all attempts.
    #[error("{endpoint} was still limiting the rate after {attempts} attempts: {message}")]
    RateLimited {
        /// The endpoint.
        endpoint: String,
        /// Attempts made.
        attempts: u32,
        /// What it says.
        message: String,
    },
    /// The endpoint failed in every attempt.
    #[error("{endpoint} failed in {attempts} attempts (last status {status}): {message}")]
    Server {
        /// The endpoint.
        endpoint: String,
        /// Last HTTP status.
        status: u16,
        /// Attempts made.
        attempts: u32,
        /// What it says.
        message: String,
    },
    /// No reply in time.
    #[error("no reply from {endpoint} in {} s ({attempts} attempts)", .after.as_secs_f64())]
    Timeout {
        /// The endpoint.
        endpoint: String,
        /// Time from the first attempt on.
        after: Duration,
        /// Attempts made.
        attempts: u32,
    },
    /// No connection, or one that broke.
    #[error("cannot reach {endpoint} ({attempts} attempts): {message}")]
    Connection {
        /// The endpoint.
        endpoint: String,
        /// Attempts made.
        attempts: u32,
        /// What happened.
        message: String,
    },
    /// What came back is not what the API sends.
    #[error("{endpoint} sent no valid reply in {attempts} attempts: {message}")]
    Malformed {
        /// The endpoint.
        endpoint: String,
        /// Attempts made.
        attempts: u32,
        /// What is wrong with it.
        message: String,
    },
    /// The endpoint failed too often in a row; nothing was sent.
    #[error(
        "calls to {endpoint} are paused for {} s after {failures} failures in a row; the last: {last}",
        .retry_in.as_secs()
    )]
    CircuitOpen {
        /// The endpoint.
        endpoint: String,
        /// Failures in a row.
        failures: u32,
        /// The last one.
        last: String,
        /// Time until a call may try again.
        retry_in: Duration,
    },
    /// The budget does not cover the call; nothing was sent.
    #[error(transparent)]
    Budget(#[from] BudgetExceeded),
    /// The request or the configuration is not one that can be sent.
    #[error(transparent)]
    Config(#[from] ModelConfigError),
    /// The HTTP client could not be made.
    #[error("cannot set up HTTPS: {0}")]
    Transport(String),
    /// The call is not on the cassette, and nothing may be sent.
    #[error("{path} holds no reply to this request ({request}); record it with the model")]
    NotRecorded {
        /// The cassette.
        path: PathBuf,
        /// Hash of the request.
        request: String,
    },
    /// A ledger or cassette cannot be read or written. A reply that could not be
    /// written is not used.
    #[error("cannot {action} {path}: {message}")]
    Storage {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What happened.
        message: String,
    },
    /// A ledger or cassette is damaged.
    #[error("{path}, line {line}: {message}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong, and what to do.
        message: String,
    },
}

impl LlmError {
    /// Whether the call was lost to infrastructure, so that an episode is *unassessed*.
    /// What is left is behaviour of the model, as it is deployed, and is assessed: too
    /// long a conversation, a filter that is part of the endpoint, a cut or empty reply.
    #[must_use]
    pub fn is_infrastructure(&self) -> bool {
        !matches!(
            self,
            Self::ContextOverflow { .. }
                | Self::ContentFilter { .. }
                | Self::Truncated { .. }
                | Self::Empty
        )
    }

    /// Whether no later call can succeed either, so that a search should stop and say so.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        match self {
            Self::Auth { .. }
            | Self::Quota { .. }
            | Self::Budget(_)
            | Self::Config(_)
            | Self::Transport(_)
            | Self::NotRecorded { .. }
            | Self::Storage { .. }
            | Self::Damaged { .. } => true,
            // The model is unknown.
            Self::BadRequest { status, .. } => *status == 404,
            _ => false,
        }
    }

    /// One word for events and tables.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Auth { .. } => "auth",
            Self::Quota { .. } => "quota",
            Self::BadRequest { .. } => "bad_request",
            Self::ContextOverflow { .. } => "context_overflow",
            Self::ContentFilter { .. } => "content_filter",
            Self::Truncated { .. } => "truncated",
            Self::Empty => "empty",
            Self::RateLimited { .. } => "rate_limited",
            Self::Server { .. } => "server",
            Self::Timeout { .. } => "timeout",
            Self::Connection { .. } => "connection",
            Self::Malformed { .. } => "malformed",
            Self::CircuitOpen { .. } => "circuit_open",
            Self::Budget(_) => "budget",
            Self::Config(_) => "config",
            Self::Transport(_) => "transport",
            Self::NotRecorded { .. } => "not_recorded",
            Self::Storage { .. } => "storage",
            Self::Damaged { .. } => "damaged",
        }
    }
}
