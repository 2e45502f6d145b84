//! evosafe-agent

pub mod simulated;
