//! The agent loop: victim, harness and environment make a transcript (design section 5).

mod agent;
mod cases;
mod error;
mod live;
pub mod replay;
mod rerun;
pub mod simulated;
mod variation;
mod victim;

pub use agent::{Agent, EpisodeResult, LOOP_VERSION};
pub use cases::{CaseResult, run_case};
pub use error::VictimError;
pub use live::{FRAME_VERSION, LiveSession, LiveVictim, LostCalls, Purpose, Say};
pub use replay::{Recorded, ReplayVictim};
pub use rerun::{Difference, begin, feed, recorded_calls, rerun};
pub use simulated::{Opening, SimulatedVictim, VictimMove};
pub use variation::{Manner, Substitution, Variant, Variation};
pub use victim::{Observation, Session, Victim};
