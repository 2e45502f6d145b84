//! evosafe-agent
