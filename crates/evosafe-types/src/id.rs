//! Identifiers. Each is a newtype, so that a task id cannot be handed over where
//! a candidate id is meant.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A malformed identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {what}: expected 64 lowercase hexadecimal digits")]
pub struct IdError {
    what: &'static str,
    text: String,
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

macro_rules! hash_id {
    ($(#[$meta:meta])* $name:ident, $what:literal) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Digits printed where an id is shown to a person.
            pub const SHORT: usize = 12;

            /// Hashes `parts` in order. Each part is preceded by its length, so that
            /// moving a byte from one part to the next changes the id.
            #[must_use]
            pub fn of(parts: &[&[u8]]) -> Self {
                let mut hasher = blake3::Hasher::new();
                hasher.update($what.as_bytes());
                for part in parts {
                    hasher.update(&(part.len() as u64).to_le_bytes());
                    hasher.update(part);
                }
                Self(hasher.finalize().to_hex().to_string())
            }

            /// The full 64 digits.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The first [`Self::SHORT`] digits.
            #[must_use]
            pub fn short(&self) -> &str {
                &self.0[..Self::SHORT]
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                if is_hash(&text) { Ok(Self(text)) } else { Err(IdError { what: $what, text }) }
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::try_from(text.to_owned())
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

hash_id!(
    /// Content hash of a bundle (everything but the derived `harness.wasm`).
    CandidateId,
    "a candidate id"
);
hash_id!(
    /// Content hash of everything an episode depends on (design section 5).
    EvidenceKey,
    "an evidence key"
);
hash_id!(
    /// Identity of a search: spec, victim, seed and every option that changes results.
    RunId,
    "a run id"
);
hash_id!(
    /// Content hash of anything else: a split, a tool list, a task suite.
    ContentHash,
    "a content hash"
);

/// Name of a task, unique in its environment, e.g. `banking/user_task_0/injection_task_3`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(String);

impl TaskId {
    /// Wraps a task name as the environment spells it.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_length_prefixed() {
        assert_ne!(CandidateId::of(&[b"ab", b"c"]), CandidateId::of(&[b"a", b"bc"]));
    }

    #[test]
    fn kinds_of_id_differ_on_equal_content() {
        assert_ne!(CandidateId::of(&[b"x"]).as_str(), RunId::of(&[b"x"]).as_str());
    }

    #[test]
    fn malformed_ids_are_refused() {
        for bad in ["", "abc", &"g".repeat(64), &"A".repeat(64)] {
            assert!(bad.parse::<CandidateId>().is_err(), "{bad}");
        }
        assert!("0".repeat(64).parse::<CandidateId>().is_ok());
    }
}
