//! evosafe-testing
