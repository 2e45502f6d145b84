//! evosafe-spec
