//! Records of the journal on disk: `magic | kind | length | checksum | payload`.

use std::io::{self, Read};

/// Starts every record; found again after damage.
pub const MAGIC: [u8; 4] = [0xE5, b'j', b'r', 0x0A];
/// Bytes before the payload.
pub const HEAD: usize = 4 + 1 + 4 + SUM;
/// Bytes of checksum kept of a BLAKE3 hash.
const SUM: usize = 16;
/// No record is larger than this.
pub const MOST: u32 = 1 << 29;

/// What a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Evidence, as it will stand in git.
    Evidence = 1,
    /// A candidate with its files.
    Candidate = 2,
    /// A result of a candidate.
    Result = 3,
    /// A run.
    Run = 4,
}

impl Kind {
    fn from_byte(byte: u8) -> Option<Self> {
        [Self::Evidence, Self::Candidate, Self::Result, Self::Run]
            .into_iter()
            .find(|kind| *kind as u8 == byte)
    }
}

fn checksum(kind: u8, payload: &[u8]) -> [u8; SUM] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[kind]);
    hasher.update(&(payload.len() as u64).to_le_bytes());
    hasher.update(payload);
    let mut sum = [0; SUM];
    hasher.finalize_xof().fill(&mut sum);
    sum
}

/// A record as bytes; `None` if the payload is too large for one.
pub fn encode(kind: Kind, payload: &[u8]) -> Option<Vec<u8>> {
    let len = u32::try_from(payload.len()).ok().filter(|len| *len <= MOST)?;
    let mut bytes = Vec::with_capacity(HEAD + payload.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.push(kind as u8);
    bytes.extend_from_slice(&len.to_le_bytes());
    bytes.extend_from_slice(&checksum(kind as u8, payload));
    bytes.extend_from_slice(payload);
    Some(bytes)
}

/// What stands at a place in a segment.
#[derive(Debug, PartialEq, Eq)]
pub enum Read1 {
    /// A whole record.
    Record(Kind, Vec<u8>),
    /// Nothing: the end.
    End,
    /// Something that is no whole record.
    Bad,
}

/// Reads one record where at most `left` bytes are left in the file.
pub fn read(from: &mut impl Read, left: u64) -> io::Result<Read1> {
    if left == 0 {
        return Ok(Read1::End);
    }
    if left < HEAD as u64 {
        return Ok(Read1::Bad);
    }
    let mut head = [0; HEAD];
    if !filled(from, &mut head)? {
        return Ok(Read1::Bad);
    }
    let len = u32::from_le_bytes([head[5], head[6], head[7], head[8]]);
    let kind = Kind::from_byte(head[4]);
    let (true, Some(kind)) = (head[..4] == MAGIC, kind) else { return Ok(Read1::Bad) };
    if len > MOST || u64::from(len) > left - HEAD as u64 {
        return Ok(Read1::Bad);
    }
    let mut payload = vec![0; len as usize];
    if !filled(from, &mut payload)? {
        return Ok(Read1::Bad);
    }
    let sound = checksum(kind as u8, &payload) == head[9..];
    Ok(if sound { Read1::Record(kind, payload) } else { Read1::Bad })
}

/// Fills `buffer`; `false` if the file ends before (a writer may have cut it meanwhile).
fn filled(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(buffer) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        other => other.map(|()| true),
    }
}

/// Where the next whole record starts in `bytes`, looking from `from`.
pub fn find(bytes: &[u8], from: usize) -> Option<usize> {
    (from..bytes.len().saturating_sub(HEAD - 1)).find(|at| {
        bytes[*at..].starts_with(&MAGIC) && {
            let rest = &bytes[*at..];
            matches!(read(&mut &rest[..], rest.len() as u64), Ok(Read1::Record(..)))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let bytes = encode(Kind::Result, b"payload").expect("small");
        let whole = read(&mut &bytes[..], bytes.len() as u64).expect("reads");
        assert_eq!(whole, Read1::Record(Kind::Result, b"payload".to_vec()));
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut bad = bytes.clone();
                bad[at] ^= 1 << bit;
                let got = read(&mut &bad[..], bad.len() as u64).expect("reads");
                assert_eq!(got, Read1::Bad, "byte {at} bit {bit}");
            }
        }
        for cut in 1..bytes.len() {
            assert_eq!(read(&mut &bytes[..cut], cut as u64).expect("reads"), Read1::Bad);
        }
    }

    #[test]
    fn records_after_damage_are_found() {
        let mut bytes = vec![1, 2, 3];
        bytes.extend(MAGIC);
        bytes.extend(encode(Kind::Run, b"x").expect("small"));
        assert_eq!(find(&bytes, 0), Some(7));
        assert_eq!(find(&bytes, 8), None);
    }
}
