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
//!
//! ```no_run
//! use std::{path::Path, sync::Arc};
//! use evosafe_llm::{
//!     CallTag, Caps, Cassette, CassetteMode, ChatRequest, Client, CostBudget, CostTable, Endpoint,
//!     Http, Ledger, LlmError, Message, ParsedArguments, Role, Secret, Services,
//! };
//! use evosafe_types::{Api, ModelConfig, PriceBook, Usd};
//!
//! # async fn example(key: &str, prices: PriceBook) -> Result<(), Box<dyn std::error::Error>> {
//! // Once a run. What an earlier process of it spent counts.
//! let (spent, _) = CostTable::read(Path::new("run/ledger.jsonl"), &[])?;
//! let caps = Caps { usd: Usd::from_dollars(20.0), victim_tokens: None };
//! let services = Services {
//!     http: Http::new(None)?,
//!     ledger: Arc::new(Ledger::open(Path::new("run/ledger.jsonl"))?.0),
//!     budget: CostBudget::new(caps, spent.spending),
//!     prices: Arc::new(prices),
//!     cassette: Some(Arc::new(
//!         Cassette::open(Path::new("run/replies.jsonl"), CassetteMode::ReplayOrRecord)?.0,
//!     )),
//! };
//! // Once a model; models of one endpoint share the `Endpoint`, and so its limits.
//! let config = ModelConfig::new(Api::Anthropic, "claude-sonnet-5-5");
//! let endpoint = Endpoint::new(&config);
//! let client = Client::new(config, Some(Secret::new(key)?), endpoint, services)?;
//!
//! let mut request = ChatRequest {
//!     messages: vec![Message::User("Pay Ann".to_owned())],
//!     ..ChatRequest::default()
//! };
//! let tag = CallTag { turn: 0, ..CallTag::new(Role::Victim, "search") };
//! match client.chat(&request, &tag).await {
//!     Ok(reply) => {
//!         request.messages.push(reply.to_message());
//!         for call in reply.tool_calls {
//!             let (content, is_error) = match &call.arguments {
//!                 ParsedArguments::Valid(_arguments) => ("paid".to_owned(), false),
//!                 // Nothing is executed; the model is told.
//!                 ParsedArguments::Invalid { mistake, .. } => (mistake.to_string(), true),
//!             };
//!             request.messages.push(Message::ToolResult { id: call.id, content, is_error });
//!         }
//!     }
//!     // The search pauses, and says so.
//!     Err(LlmError::CircuitOpen { .. }) => client.endpoint().ready().await,
//!     Err(error) if error.is_permanent() => return Err(error.into()),
//!     Err(error) if error.is_infrastructure() => { /* the episode is unassessed */ }
//!     Err(_) => { /* behaviour: the episode ends here and is assessed */ }
//! }
//! # Ok(()) }
//! ```

mod anthropic;
mod budget;
mod calls;
mod cassette;
mod chat;
mod client;
mod endpoint;
mod error;
mod http;
mod job;
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
pub use job::JobReply;
pub use ledger::{CostTable, Costs, GroupBy, Ledger, LedgerEntry, read_ledger};
pub use lines::Torn;
pub use secret::{Secret, SecretError};
pub use tag::{CallTag, Level, Role};
