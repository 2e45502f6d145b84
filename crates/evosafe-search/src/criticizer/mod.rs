//! The Criticizer (paper section 4.5, design section 6): does any rule depend on a literal
//! of the benchmark, and does it still hold when the attacker renames, moves or rephrases?

mod blind;
pub mod probe;
pub mod rename;
mod repair;
mod review;
#[cfg(test)]
pub(crate) mod samples;
pub mod static_analysis;
pub mod vocabulary;

pub(crate) use blind::{blind_pass, corpus_of};
pub use repair::{invariants_for, repair};
pub use review::{Criticizer, Verdict};
pub(crate) use review::{suites_of, tools_of};

#[cfg(test)]
mod tests;
