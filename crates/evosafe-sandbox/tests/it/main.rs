//! The sandbox from outside: one test binary.

mod basics;
mod check;
mod docs;
mod hostile;
mod machinery;
mod support;
