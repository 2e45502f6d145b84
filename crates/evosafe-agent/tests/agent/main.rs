//! The agent loop and the replayed victim from outside: one test binary.

mod agentloop;
mod archives;
mod live;
mod recordings;
mod rerun;
mod support;
mod variation;
