//! What is written to disk, apart from the domain types and with a version each.
//!
//! A change of a domain type does not change an archive by accident: it stops this
//! module from compiling. A stored document of a later version is refused. Numbers
//! are finite: JSON has no NaN, and `serde_json` would silently write `null`.

mod bundle;
mod event;
mod evidence;
mod mirror;
mod record;
mod transcript;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use bundle::CandidateRecord;
pub use event::{EventLine, decode_line, encode_line};
pub use evidence::{EvidenceHeader, IndexEntry, decode_evidence, decode_header, encode_evidence};
pub use record::{Marker, ResultKind, ResultRecord, StoredResult, StoredRun};

/// A document could not be written or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// Of a later version than this program knows.
    #[error("{what} has format version {found}, this program knows {known}")]
    Newer {
        /// Kind of document.
        what: &'static str,
        /// Version found.
        found: u32,
        /// Latest version known.
        known: u32,
    },
    /// Not such a document.
    #[error("{what}: {detail}")]
    Damaged {
        /// Kind of document.
        what: &'static str,
        /// What is wrong.
        detail: String,
    },
    /// A value that no format can hold.
    #[error("{what}: {detail}")]
    Unstorable {
        /// Kind of document.
        what: &'static str,
        /// What is wrong.
        detail: String,
    },
}

/// A stored document.
pub trait Document: Serialize + DeserializeOwned {
    /// Its name in messages.
    const WHAT: &'static str;
    /// The version this program writes, and the latest it reads.
    const VERSION: u32;
    /// The version it carries.
    fn version(&self) -> u32;
}

/// Writes a document as one line of JSON, without the newline.
pub fn encode<T: Document>(document: &T) -> Result<Vec<u8>, FormatError> {
    serde_json::to_vec(document)
        .map_err(|e| FormatError::Unstorable { what: T::WHAT, detail: e.to_string() })
}

/// Reads a document.
pub fn decode<T: Document>(bytes: &[u8]) -> Result<T, FormatError> {
    #[derive(serde::Deserialize)]
    struct Probe {
        version: u32,
    }
    let newer = |found| FormatError::Newer { what: T::WHAT, found, known: T::VERSION };
    match serde_json::from_slice::<T>(bytes) {
        Ok(document) if document.version() > T::VERSION => Err(newer(document.version())),
        Ok(document) => Ok(document),
        // A later version may have other fields: look at the version alone.
        Err(e) => match serde_json::from_slice::<Probe>(bytes) {
            Ok(probe) if probe.version > T::VERSION => Err(newer(probe.version)),
            _ => Err(FormatError::Damaged { what: T::WHAT, detail: e.to_string() }),
        },
    }
}

/// A document followed by raw bytes.
pub fn join(header: Vec<u8>, body: &[u8]) -> Vec<u8> {
    let mut bytes = header;
    bytes.reserve(body.len() + 1);
    bytes.push(b'\n');
    bytes.extend_from_slice(body);
    bytes
}

/// Takes [`join`] apart.
pub fn split<'a>(what: &'static str, bytes: &'a [u8]) -> Result<(&'a [u8], &'a [u8]), FormatError> {
    let end = bytes.iter().position(|b| *b == b'\n').ok_or_else(|| FormatError::Damaged {
        what,
        detail: "there is no header line".to_owned(),
    })?;
    Ok((&bytes[..end], &bytes[end + 1..]))
}

/// Refuses NaN and the infinities.
pub fn finite(what: &'static str, field: &str, value: f64) -> Result<f64, FormatError> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(FormatError::Unstorable { what, detail: format!("`{field}` is {value}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_version_is_refused_even_with_other_fields() {
        let newer = FormatError::Newer { what: "archive marker", found: 9, known: 1 };
        for text in [r#"{"version":9,"format":"evosafe-archive"}"#, r#"{"version":9,"new":[]}"#] {
            assert_eq!(decode::<Marker>(text.as_bytes()), Err(newer.clone()), "{text}");
        }
        assert!(matches!(decode::<Marker>(b"{}"), Err(FormatError::Damaged { .. })));
    }

    #[test]
    fn only_finite_numbers_are_stored() {
        assert!(finite("x", "y", 0.5).is_ok());
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(finite("x", "y", bad).is_err());
        }
    }
}
