//! evosafe-stats
