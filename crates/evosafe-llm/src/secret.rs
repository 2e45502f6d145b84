//! A key of an API: used, never shown.

use std::fmt;

use serde::{Serialize, Serializer};

/// What stands where a key would.
const REDACTED: &str = "[redacted]";

/// A key. `Debug`, `Display` and `Serialize` show a placeholder; only the HTTP
/// transport of this crate reads it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keys shorter than this are placeholders such as `none` or `EMPTY`, which local
    /// servers ask for; they are hidden, but not searched for in what a model says.
    pub const SHORTEST: usize = 8;

    /// Wraps a key. White space around it (a line break from a file) is dropped.
    ///
    /// # Errors
    /// If it is empty or holds what no HTTP header can; the message does not show it.
    pub fn new(key: &str) -> Result<Self, SecretError> {
        let key = key.trim();
        if key.is_empty() {
            return Err(SecretError::Empty);
        }
        if !key.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(SecretError::Characters);
        }
        Ok(Self(key.to_owned()))
    }

    /// The key itself, for the header of a request.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// `text` without the key, as it is or as it is written inside a JSON text.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        if self.0.len() < Self::SHORTEST {
            return text.to_owned();
        }
        let plain = text.replace(&self.0, REDACTED);
        let escaped = self.0.replace('\\', "\\\\").replace('"', "\\\"");
        if escaped == self.0 { plain } else { plain.replace(&escaped, REDACTED) }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({REDACTED})")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(REDACTED)
    }
}

/// Why a text cannot be a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// Nothing there.
    #[error("the key is empty")]
    Empty,
    /// Spaces, line breaks or letters beyond ASCII inside.
    #[error("the key holds characters that no HTTP header can carry; copy it again")]
    Characters,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_shown_nowhere() {
        let key = Secret::new(" sk-verysecret\"9\n").expect("a key");
        for shown in [
            format!("{key:?}"),
            format!("{key}"),
            serde_json::to_string(&key).expect("serialises"),
            key.redact("bad key sk-verysecret\"9, or {\"k\":\"sk-verysecret\\\"9\"}"),
        ] {
            assert!(!shown.contains("verysecret"), "{shown}");
            assert!(shown.contains(REDACTED), "{shown}");
        }
        assert_eq!(key.expose(), "sk-verysecret\"9");
    }

    #[test]
    fn placeholders_do_not_change_texts() {
        assert_eq!(Secret::new("none").expect("a key").redact("there is none"), "there is none");
    }

    #[test]
    fn what_no_header_carries_is_refused() {
        assert_eq!(Secret::new(" \n"), Err(SecretError::Empty));
        assert_eq!(Secret::new("a b"), Err(SecretError::Characters));
        assert_eq!(Secret::new("schlüssel"), Err(SecretError::Characters));
    }
}
