//! The agent loop and the replayed victim from outside: one test binary.

mod agentloop;
mod recordings;
mod support;
