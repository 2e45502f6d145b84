//! evosafe-sandbox
