//! evosafe-env

pub mod builtin;
