//! evosafe-report
