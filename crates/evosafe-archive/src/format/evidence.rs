//! Evidence as stored: a header line of JSON that answers most questions by itself,
//! then the transcript, compressed with zstd. To read one without this program:
//! `git show refs/evosafe/evidence:ab/cd/KEY | tail -n +2 | zstd -d`.

use std::cell::RefCell;

use evosafe_types::{
    CandidateId, ContentHash, EpisodeCost, Evidence, EvidenceKey, FaultKind, Outcome, RunId,
    TaskId, Usage, Usd,
};
use serde::{Deserialize, Serialize};
use zstd::bulk::Compressor;

use super::mirror::{StoredFamily, StoredFault};
use super::transcript::StoredTranscript;
use super::{Document, FormatError, decode, encode, join, split};

/// zstd level: transcripts shrink by 4 to 10 times; higher levels gain little.
const LEVEL: i32 = 6;

/// Bytes of transcript that are believed. More than this in a header is damage.
const MOST_TRANSCRIPT: u64 = 1 << 30;

/// First line of a piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceHeader {
    version: u32,
    /// Key of its inputs.
    pub key: EvidenceKey,
    /// The harness.
    pub candidate: CandidateId,
    victim: String,
    environment: ContentHash,
    task: TaskId,
    family: StoredFamily,
    category: String,
    seed: u64,
    outcome: StoredOutcome,
    victim_turns: u32,
    tool_calls: u32,
    /// Of a live victim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens: Option<StoredUsage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost_nano_usd: Option<u64>,
    /// The run that paid for the episode.
    pub paid_by: RunId,
    transcript_bytes: u64,
}

impl EvidenceHeader {
    /// The verdict.
    pub fn outcome(&self) -> Outcome {
        self.outcome.clone().into()
    }
}

impl Document for EvidenceHeader {
    const WHAT: &'static str = "evidence";
    const VERSION: u32 = 1;
    fn version(&self) -> u32 {
        self.version
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct StoredUsage {
    input: u64,
    cached_input: u64,
    cache_creation: u64,
    output: u64,
    reasoning: u64,
    estimated: bool,
}

impl StoredUsage {
    /// Nothing is stored of a victim without tokens.
    fn of(tokens: Usage) -> Option<Self> {
        let Usage { input, cached_input, cache_creation, output, reasoning, estimated } = tokens;
        let stored = Self { input, cached_input, cache_creation, output, reasoning, estimated };
        (tokens != Usage::default()).then_some(stored)
    }
}

impl From<StoredUsage> for Usage {
    fn from(stored: StoredUsage) -> Self {
        let StoredUsage { input, cached_input, cache_creation, output, reasoning, estimated } =
            stored;
        Self { input, cached_input, cache_creation, output, reasoning, estimated }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum StoredOutcome {
    Assessed { task_success: Option<bool>, attack_success: Option<bool> },
    Unassessed { fault: StoredFault, detail: String },
}

impl From<Outcome> for StoredOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Assessed { task_success, attack_success } => {
                Self::Assessed { task_success, attack_success }
            }
            Outcome::Unassessed { fault, detail } => {
                Self::Unassessed { fault: fault.into(), detail }
            }
        }
    }
}

impl From<StoredOutcome> for Outcome {
    fn from(stored: StoredOutcome) -> Self {
        match stored {
            StoredOutcome::Assessed { task_success, attack_success } => {
                Self::Assessed { task_success, attack_success }
            }
            StoredOutcome::Unassessed { fault, detail } => {
                Self::Unassessed { fault: fault.into(), detail }
            }
        }
    }
}

/// An outcome in the index. The index has one version for all of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexEntry {
    outcome: StoredOutcome,
    paid_by: RunId,
    blob: String,
}

impl IndexEntry {
    /// An entry; `blob` is the object id.
    pub fn new(outcome: &Outcome, paid_by: &RunId, blob: &str) -> Self {
        Self { outcome: outcome.clone().into(), paid_by: paid_by.clone(), blob: blob.to_owned() }
    }

    /// Takes it apart.
    pub fn into_parts(self) -> (Outcome, RunId, String) {
        (self.outcome.into(), self.paid_by, self.blob)
    }
}

fn damaged(detail: impl Into<String>) -> FormatError {
    FormatError::Damaged { what: EvidenceHeader::WHAT, detail: detail.into() }
}

thread_local! {
    /// A context is large, and making one for each episode keeps the allocator busier than
    /// the compression keeps the processor.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

fn compressed(transcript: &[u8]) -> std::io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|kept| match kept {
        Some(compressor) => compressor.compress(transcript),
        None => kept.insert(Compressor::new(LEVEL)?).compress(transcript),
    })
}

/// Writes evidence. The same evidence gives the same bytes.
pub fn encode_evidence(evidence: &Evidence, paid_by: &RunId) -> Result<Vec<u8>, FormatError> {
    let unstorable =
        |detail: String| FormatError::Unstorable { what: EvidenceHeader::WHAT, detail };
    if let Outcome::Unassessed { fault: FaultKind::Cancelled, .. } = evidence.outcome {
        return Err(unstorable("a cancelled episode is not evidence".to_owned()));
    }
    let transcript = encode(&StoredTranscript::from(evidence.transcript.clone()))?;
    let body = compressed(&transcript).map_err(|e| unstorable(e.to_string()))?;
    let header = EvidenceHeader {
        version: EvidenceHeader::VERSION,
        key: evidence.key.clone(),
        candidate: evidence.candidate.clone(),
        victim: evidence.victim.clone(),
        environment: evidence.environment.clone(),
        task: evidence.task.clone(),
        family: evidence.family.into(),
        category: evidence.category.clone(),
        seed: evidence.seed,
        outcome: evidence.outcome.clone().into(),
        victim_turns: evidence.cost.victim_turns,
        tool_calls: evidence.cost.tool_calls,
        tokens: StoredUsage::of(evidence.cost.tokens),
        cost_nano_usd: evidence.cost.usd.map(Usd::nanos),
        paid_by: paid_by.clone(),
        transcript_bytes: transcript.len() as u64,
    };
    Ok(join(encode(&header)?, &body))
}

/// Reads the header alone: no decompression.
pub fn decode_header(bytes: &[u8]) -> Result<EvidenceHeader, FormatError> {
    decode(split(EvidenceHeader::WHAT, bytes)?.0)
}

/// Reads evidence.
pub fn decode_evidence(bytes: &[u8]) -> Result<(Evidence, RunId), FormatError> {
    let (header, body) = split(EvidenceHeader::WHAT, bytes)?;
    let header: EvidenceHeader = decode(header)?;
    let size = match usize::try_from(header.transcript_bytes) {
        Ok(size) if header.transcript_bytes <= MOST_TRANSCRIPT => size,
        _ => return Err(damaged(format!("a transcript of {} bytes", header.transcript_bytes))),
    };
    let transcript = zstd::bulk::decompress(body, size).map_err(|e| damaged(e.to_string()))?;
    if transcript.len() != size {
        return Err(damaged(format!("a transcript of {} bytes, not {size}", transcript.len())));
    }
    let transcript: StoredTranscript = decode(&transcript)?;
    let evidence = Evidence {
        key: header.key,
        candidate: header.candidate,
        victim: header.victim,
        environment: header.environment,
        task: header.task,
        family: header.family.into(),
        category: header.category,
        seed: header.seed,
        outcome: header.outcome.into(),
        transcript: transcript.into(),
        cost: EpisodeCost {
            victim_turns: header.victim_turns,
            tool_calls: header.tool_calls,
            tokens: header.tokens.map(Usage::from).unwrap_or_default(),
            usd: header.cost_nano_usd.map(Usd::from_nanos),
        },
    };
    Ok((evidence, header.paid_by))
}
