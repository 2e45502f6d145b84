//! evosafe-archive
