//! The bridge client: a pool of child processes, one episode at a time in each.

mod episode;
mod pool;
mod process;
mod recall;
mod wire;

#[cfg(test)]
mod script_tests;
#[cfg(test)]
mod tests;

pub use pool::BridgePool;
pub use recall::RecallingBridge;
pub(crate) use recall::RecallingEpisode;
