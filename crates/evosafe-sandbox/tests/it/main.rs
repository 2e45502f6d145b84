//! The sandbox from outside: one test binary.

mod basics;
mod check;
mod compiled;
mod components;
mod docs;
mod hostile;
mod machinery;
mod session;
mod support;
