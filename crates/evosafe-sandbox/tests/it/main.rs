//! The sandbox from outside: one test binary.

mod basics;
mod support;
