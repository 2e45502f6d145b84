//! Chat with live models: clients for OpenAI-compatible and Anthropic endpoints, one retry
//! policy, limits and a circuit breaker for each endpoint, a ledger of what was paid, one
//! budget over all roles, and cassettes that record and replay.
//!
//! A call goes through [`Client::chat`]. No failure of an endpoint looks like an answer:
//! [`LlmError::is_infrastructure`] tells what leaves an episode unassessed from what is the
//! model's behaviour, and mistakes in tool calls are [`ParsedArguments::Invalid`], to go back
//! to the model as tool errors.
//!
//! Keys are [`Secret`]s: nothing here logs, stores or shows them.

mod anthropic;
mod budget;
mod calls;
mod cassette;
mod chat;
mod client;
mod endpoint;
mod error;
mod http;
mod ledger;
mod lines;
mod openai;
mod schema;
mod secret;
mod tag;
mod wire;

pub use budget::{BudgetExceeded, Caps, CostBudget, Reservation, Spending};
pub use cassette::{Cassette, CassetteMode};
pub use chat::{
    CallMistake, ChatReply, ChatRequest, JsonSchema, Message, ParsedArguments, StopReason,
    ToolCall, ToolChoice, ToolDef,
};
pub use client::{Client, Services};
pub use endpoint::{Circuit, Endpoint};
pub use error::LlmError;
pub use http::Http;
pub use ledger::{CostTable, Costs, GroupBy, Ledger, LedgerEntry, read_ledger};
pub use lines::Torn;
pub use secret::{Secret, SecretError};
pub use tag::{CallTag, Level, Role};
