//! The agent loop: victim, harness and environment make a transcript (design section 5).

mod agent;
mod error;
pub mod replay;
pub mod simulated;
mod victim;

pub use agent::{Agent, EpisodeResult, LOOP_VERSION};
pub use error::VictimError;
pub use replay::{Recorded, ReplayVictim};
pub use simulated::{Opening, SimulatedVictim, VictimMove};
pub use victim::{Observation, Session, Victim};
