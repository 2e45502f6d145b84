//! For tests only: a server that stands in for a model endpoint, says what a script says,
//! and fails in every way that real endpoints fail.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! use evosafe_testing::{Faults, Say, Server};
//! let script = |request: &evosafe_testing::Received| Say::text("Paid.").to(request);
//! // The same script, but three calls in ten fail first.
//! let server = Server::start(Faults::transient(7, 0.3).over(script)).await?;
//! let base_url = server.url();
//! # Ok(()) }
//! ```

mod fault;
mod say;
mod server;

pub use fault::{Fault, Faults};
pub use say::Say;
pub use server::{Answer, Received, Server};
