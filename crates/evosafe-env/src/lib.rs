//! evosafe-env
