//! The bridge client: a pool of child processes, one episode at a time in each.

mod episode;
mod pool;
mod process;
mod wire;

pub use episode::BridgeEpisode;
pub use pool::BridgePool;
