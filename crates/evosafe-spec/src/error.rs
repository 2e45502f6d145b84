//! What can be wrong with files that people write. Every message names the file,
//! the key path, and what to do.

use std::fmt;
use std::path::PathBuf;

use evosafe_types::{Side, TaskId};

/// A TOML text that is not what its format asks for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// Not TOML at all.
    #[error("{file}:{line}:{column}: {message}")]
    Syntax {
        /// File as shown to people.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What the parser says.
        message: String,
    },
    /// A key whose value is missing, of the wrong type or out of range.
    #[error("{file}{}: `{key}` {message}", .line.map(|l| format!(":{l}")).unwrap_or_default())]
    Value {
        /// File as shown to people.
        file: String,
        /// Line, from 1, where it is known.
        line: Option<usize>,
        /// Dotted path of the key.
        key: String,
        /// What is wrong, as the rest of a sentence that begins with the key.
        message: String,
    },
    /// Keys that the format does not have. An error, because a typo would change an experiment.
    #[error("{file}: {}", list(.keys))]
    UnknownKeys {
        /// File as shown to people.
        file: String,
        /// All unknown keys, in file order.
        keys: Vec<UnknownKey>,
    },
    /// A file written for a newer program.
    #[error("{file}: `{key}` is {found}, but this program knows {key} {known}; update evosafe")]
    Version {
        /// File as shown to people.
        file: String,
        /// The version key.
        key: &'static str,
        /// Version in the file.
        found: u32,
        /// Newest version that this program knows.
        known: u32,
    },
}

impl FormatError {
    pub(crate) fn value(file: &str, key: &str, message: impl Into<String>) -> Self {
        Self::Value {
            file: file.to_owned(),
            line: None,
            key: key.to_owned(),
            message: message.into(),
        }
    }
}

/// A key that the format does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKey {
    /// Dotted path of the key.
    pub path: String,
    /// The closest key that exists in that place, if one is close.
    pub suggestion: Option<String>,
    /// All keys of that place.
    pub known: Vec<String>,
}

impl fmt::Display for UnknownKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown key `{}`", self.path)?;
        match &self.suggestion {
            Some(key) => write!(f, "; did you mean `{key}`?"),
            None if self.known.is_empty() => Ok(()),
            None => write!(f, "; known here: {}", self.known.join(", ")),
        }
    }
}

fn list(keys: &[UnknownKey]) -> String {
    keys.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  ")
}

/// A profile of a simulated victim that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// No embedded profile of that name.
    #[error("no simulated victim `{name}`; there are: {}; or give a profile of your own, sim:PATH.toml", .known.join(", "))]
    Unknown {
        /// As asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The file cannot be read.
    #[error("{}: cannot be read: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is not what the format asks for.
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// A price file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PriceError {
    /// The file cannot be read.
    #[error("{}: cannot be read: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is not what the format asks for.
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// A domain specification that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// Neither a folder nor an embedded name.
    #[error("there is no specification `{name}`: no such folder, and not one of the built-in ones ({})", .embedded.join(", "))]
    NotFound {
        /// As asked for.
        name: String,
        /// Names that would work anywhere.
        embedded: Vec<String>,
    },
    /// A file of the folder is missing.
    #[error("{}: missing; a specification is a folder with spec.toml and spec.md", .0.display())]
    MissingFile(PathBuf),
    /// A file cannot be read.
    #[error("{}: cannot be read: {source}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not UTF-8, or holds nothing.
    #[error("{file}: {message}")]
    Text {
        /// File as shown to people.
        file: String,
        /// What is wrong.
        message: &'static str,
    },
    /// spec.toml is not what the format asks for.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Two tasks of the environment have one id.
    #[error("the environment lists task `{0}` twice; ids must be unique")]
    DuplicateTask(TaskId),
    /// A side of the split would be empty, or lack a family that the corpus has.
    #[error("spec.toml: `split.{key}` leaves {what} on the {} side", side_name(*.side))]
    EmptySide {
        /// The key to change.
        key: &'static str,
        /// The side.
        side: Side,
        /// What is missing there.
        what: String,
    },
    /// `split.by` does not fit what the environment says of a task.
    #[error("spec.toml: `split.by` is \"{by}\", but task `{task}` {problem}")]
    SplitBy {
        /// Value of `split.by`.
        by: &'static str,
        /// The first task that does not fit.
        task: TaskId,
        /// Why it does not fit.
        problem: &'static str,
    },
    /// Something that belongs together is on both sides.
    #[error("the split overlaps: {what} is on both sides (tasks `{train}` and `{held_out}`)")]
    Overlap {
        /// What is on both sides.
        what: String,
        /// A task on the train side.
        train: TaskId,
        /// A task on the held-out side.
        held_out: TaskId,
    },
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::Train => "train",
        Side::HeldOut => "held-out",
    }
}

/// A bundle or mechanism that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The folder is missing or is not a folder.
    #[error("{}: not a bundle folder; a bundle has at least bundle.toml and RATIONALE.md", .0.display())]
    NotAFolder(PathBuf),
    /// A required file is missing.
    #[error("{0}: missing; every bundle has this file")]
    MissingFile(String),
    /// The code of a component bundle is missing.
    #[error("{0}: missing; `language` is \"component\", so this file is the code")]
    MissingComponent(String),
    /// A file that no bundle has.
    #[error(
        "{0}: not a file of a bundle; expected POLICY.md, harness.js, harness.wasm, RATIONALE.md, bundle.toml"
    )]
    UnknownFile(String),
    /// A file is not UTF-8, or holds nothing where it must.
    #[error("{file}: {message}")]
    Text {
        /// File as shown to people.
        file: String,
        /// What is wrong.
        message: &'static str,
    },
    /// A file cannot be read or written.
    #[error("{}: {action} failed: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// `reading` or `writing`.
        action: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// `bundle.toml` or a mechanism header is not what its format asks for.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A mechanism file without a usable header or body.
    #[error("{file}: {message}")]
    Mechanism {
        /// The file.
        file: String,
        /// What is wrong.
        message: String,
    },
    /// A composition names a mechanism that the library does not have.
    #[error("there is no mechanism `{name}`{}", .suggestion.as_ref().map(|s| format!("; did you mean `{s}`?")).unwrap_or_default())]
    UnknownMechanism {
        /// As asked for.
        name: String,
        /// The closest name, if one is close.
        suggestion: Option<String>,
    },
    /// A mechanism of a bundle folder's own is called like one of the library.
    #[error("{}: the library has a mechanism `{name}` already; give yours another name", .file.display())]
    TakenName {
        /// The file.
        file: PathBuf,
        /// The name.
        name: String,
    },
    /// A composition uses one mechanism twice.
    #[error("mechanism `{0}` is used twice in one bundle")]
    DuplicateMechanism(String),
    /// A parameter that the mechanism does not have, or a value it does not take.
    #[error("mechanism `{mechanism}`: parameter `{param}` {message}")]
    Param {
        /// The mechanism.
        mechanism: String,
        /// The parameter.
        param: String,
        /// What is wrong, as the rest of a sentence that begins with the parameter.
        message: String,
    },
}
