//! Runs harnesses: candidate code in WebAssembly, metered, deterministic, without any
//! authority of its own, and closed whenever it fails (design section 3).
//!
//! A [`Sandbox`] prepares a bundle into a [`Harness`]; a harness starts a [`Trajectory`];
//! a trajectory answers hook calls. Nothing a candidate does reaches further than its
//! own answers: every fault becomes a refusal and a record.

mod bindings;
mod cache;
mod check;
mod component;
mod convert;
mod decide;
mod engine;
mod error;
mod graft;
mod guest;
mod host;
mod image;
mod instance;
mod provider;
mod regex;
mod sample;
mod sandbox;
mod source;
mod surface;
mod trajectory;

#[doc(hidden)]
pub use decide::guest_decision;
pub use error::{BuildError, CheckReport, CompileError, Finding, SandboxError};
pub use host::{Classifier, ClassifyFn, ClassifyFuture, NO_MODEL};
pub use sandbox::{Harness, Sandbox, SandboxOptions};
pub use surface::DECLARATIONS;
pub use trajectory::{Trajectory, TrajectoryLog};
