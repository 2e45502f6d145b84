//! Environments: tools, tasks and judges of a domain (design section 5). Built-in
//! domains run in process; bridges are child processes that speak JSON-RPC.

mod bridge;
pub mod builtin;
mod environment;
mod error;
pub mod setup;

pub use bridge::{BridgePool, RecallingBridge};
pub use environment::{Environment, EnvironmentSettings, Episode, Verdict};
pub use error::EnvError;
pub use setup::SetupError;
