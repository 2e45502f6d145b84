//! A candidate as it stands in the journal; in git it is a commit.

use std::collections::BTreeMap;

use evosafe_types::CandidateId;
use serde::{Deserialize, Serialize};

use super::{Document, FormatError, decode, encode, join, split};

/// First line of a journalled candidate; the files' bytes follow, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct CandidateHeader {
    version: u32,
    id: CandidateId,
    parents: Vec<CandidateId>,
    message: String,
    files: Vec<(String, u64)>,
}

impl Document for CandidateHeader {
    const WHAT: &'static str = "candidate";
    const VERSION: u32 = 1;
    fn version(&self) -> u32 {
        self.version
    }
}

/// A journalled candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateRecord {
    /// The candidate.
    pub id: CandidateId,
    /// Its parents, in order.
    pub parents: Vec<CandidateId>,
    /// Commit message.
    pub message: String,
    /// The bundle.
    pub files: BTreeMap<String, Vec<u8>>,
}

impl CandidateRecord {
    /// Bytes for the journal.
    pub fn encode(&self) -> Result<Vec<u8>, FormatError> {
        let header = CandidateHeader {
            version: CandidateHeader::VERSION,
            id: self.id.clone(),
            parents: self.parents.clone(),
            message: self.message.clone(),
            files: self.files.iter().map(|(n, b)| (n.clone(), b.len() as u64)).collect(),
        };
        let body: Vec<u8> = self.files.values().flatten().copied().collect();
        Ok(join(encode(&header)?, &body))
    }

    /// Reads [`Self::encode`].
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let (header, mut body) = split(CandidateHeader::WHAT, bytes)?;
        let header: CandidateHeader = decode(header)?;
        let mut files = BTreeMap::new();
        for (name, len) in header.files {
            let taken = usize::try_from(len).ok().and_then(|len| body.split_at_checked(len));
            let Some((file, rest)) = taken else {
                return Err(FormatError::Damaged {
                    what: CandidateHeader::WHAT,
                    detail: format!("file `{name}` is cut short"),
                });
            };
            files.insert(name, file.to_vec());
            body = rest;
        }
        Ok(Self { id: header.id, parents: header.parents, message: header.message, files })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_any_bytes_survive() {
        let record = CandidateRecord {
            id: CandidateId::of(&[b"c"]),
            parents: vec![CandidateId::of(&[b"p"])],
            message: "two\nlines".to_owned(),
            files: BTreeMap::from([
                ("a".to_owned(), vec![0, 255, b'\n']),
                ("b".to_owned(), Vec::new()),
            ]),
        };
        let bytes = record.encode().expect("encodes");
        assert_eq!(CandidateRecord::decode(&bytes), Ok(record));
        assert!(CandidateRecord::decode(&bytes[..bytes.len() - 1]).is_err());
    }
}
