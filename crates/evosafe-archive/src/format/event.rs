//! Events as stored: lines of JSON, each with its place, time and checksum.
//!
//! `{"version":1,"n":0,"at":1764478800000,"event":{...},"sum":"<16 hex digits>"}` where
//! `sum` is the start of the BLAKE3 hash of all that stands before `,"sum":`.

use evosafe_types::{CandidateId, ContentHash, Event, Rate, RunId, Score, StageOutcome};
use serde::{Deserialize, Serialize};

use super::mirror::{StoredDrop, StoredStage};
use super::{Document, FormatError, decode, encode, finite};

const SUM_DIGITS: usize = 16;
const SUM_KEY: &str = ",\"sum\":\"";

/// A line without its checksum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventLine {
    version: u32,
    /// Place in the archive's stream, from 0.
    pub n: u64,
    /// When, in milliseconds since 1970 (UTC).
    pub at: u64,
    event: StoredEvent,
}

impl EventLine {
    /// Wraps an event for storage.
    pub fn new(n: u64, at: u64, event: &Event) -> Result<Self, FormatError> {
        // A line is of the version that has its event: older programs go on reading the others.
        let version = if matches!(event, Event::CorpusGrew { .. }) { 2 } else { 1 };
        Ok(Self { version, n, at, event: StoredEvent::new(event)? })
    }

    /// Unwraps.
    pub fn into_event(self) -> Event {
        self.event.into()
    }
}

impl Document for EventLine {
    const WHAT: &'static str = "event";
    const VERSION: u32 = 2;
    fn version(&self) -> u32 {
        self.version
    }
}

fn sum(head: &[u8]) -> String {
    blake3::hash(head).to_hex().as_str()[..SUM_DIGITS].to_owned()
}

/// Writes a line, newline included.
pub fn encode_line(line: &EventLine) -> Result<Vec<u8>, FormatError> {
    let mut bytes = encode(line)?;
    bytes.pop();
    let sum = sum(&bytes);
    bytes.extend_from_slice(format!("{SUM_KEY}{sum}\"}}\n").as_bytes());
    Ok(bytes)
}

/// Reads a line without its newline. A version from the future is told apart from damage.
pub fn decode_line(line: &[u8]) -> Result<EventLine, FormatError> {
    let damaged =
        |detail: &str| FormatError::Damaged { what: EventLine::WHAT, detail: detail.to_owned() };
    let tail = SUM_KEY.len() + SUM_DIGITS + 2;
    let (head, tail) = line
        .len()
        .checked_sub(tail)
        .and_then(|at| line.split_at_checked(at))
        .ok_or_else(|| damaged("a line that is too short"))?;
    if tail != format!("{SUM_KEY}{}\"}}", sum(head)).as_bytes() {
        return Err(damaged("the checksum does not match"));
    }
    decode(&[head, b"}"].concat())
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct StoredRate {
    hits: u32,
    n: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct StoredScore {
    utility: StoredRate,
    direct: StoredRate,
    indirect: StoredRate,
    utility_under_attack: StoredRate,
    unassessed: u32,
    /// By family; absent if nothing was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lost: Option<[u32; 3]>,
}

impl From<Score> for StoredScore {
    fn from(s: Score) -> Self {
        let rate = |r: Rate| StoredRate { hits: r.hits, n: r.n };
        let Score { utility, direct, indirect, utility_under_attack, unassessed, lost } = s;
        Self {
            utility: rate(utility),
            direct: rate(direct),
            indirect: rate(indirect),
            utility_under_attack: rate(utility_under_attack),
            unassessed,
            lost: (lost != [0; 3]).then_some(lost),
        }
    }
}

impl From<StoredScore> for Score {
    fn from(s: StoredScore) -> Self {
        let rate = |r: StoredRate| Rate { hits: r.hits, n: r.n };
        Self {
            utility: rate(s.utility),
            direct: rate(s.direct),
            indirect: rate(s.indirect),
            utility_under_attack: rate(s.utility_under_attack),
            unassessed: s.unassessed,
            lost: s.lost.unwrap_or_default(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "lowercase")]
enum StoredStageOutcome {
    Passed { score: Option<StoredScore>, upper_bound: Option<f64> },
    Stopped { score: Option<StoredScore>, upper_bound: Option<f64>, reason: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum StoredEvent {
    SearchStarted { run: RunId, spec: String, victim: String, seed: u64, episodes_found: u64 },
    Proposed { candidate: CandidateId, name: String, edit: String },
    Dropped { candidate: CandidateId, edit: String, reason: StoredDrop },
    StageStarted { candidate: CandidateId, stage: StoredStage, episodes: u64 },
    EpisodeFinished { candidate: CandidateId, reused: bool, assessed: bool, millis: u64 },
    StageFinished { candidate: CandidateId, stage: StoredStage, outcome: StoredStageOutcome },
    NewBest { candidate: CandidateId, points: f64 },
    CorpusGrew { run: RunId, version: u32, corpus: ContentHash, added: u32, variants: u32 },
    HeldOutOpened { candidate: CandidateId, tasks: u64, victim: String },
    Warning { message: String },
    SearchFinished { run: RunId, best: CandidateId, reason: String },
}

impl StoredEvent {
    fn new(event: &Event) -> Result<Self, FormatError> {
        let bound =
            |b: Option<f64>| b.map(|b| finite(EventLine::WHAT, "upper_bound", b)).transpose();
        Ok(match event.clone() {
            Event::SearchStarted { run, spec, victim, seed, episodes_found } => {
                Self::SearchStarted { run, spec, victim, seed, episodes_found }
            }
            Event::Proposed { candidate, name, edit } => Self::Proposed { candidate, name, edit },
            Event::Dropped { candidate, edit, reason } => {
                Self::Dropped { candidate, edit, reason: reason.into() }
            }
            Event::StageStarted { candidate, stage, episodes } => {
                Self::StageStarted { candidate, stage: stage.into(), episodes }
            }
            Event::EpisodeFinished { candidate, reused, assessed, millis } => {
                Self::EpisodeFinished { candidate, reused, assessed, millis }
            }
            Event::StageFinished { candidate, stage, outcome } => {
                let outcome = match outcome {
                    StageOutcome::Passed { score, upper_bound } => StoredStageOutcome::Passed {
                        score: score.map(Into::into),
                        upper_bound: bound(upper_bound)?,
                    },
                    StageOutcome::Stopped { score, upper_bound, reason } => {
                        StoredStageOutcome::Stopped {
                            score: score.map(Into::into),
                            upper_bound: bound(upper_bound)?,
                            reason,
                        }
                    }
                };
                Self::StageFinished { candidate, stage: stage.into(), outcome }
            }
            Event::NewBest { candidate, points } => {
                Self::NewBest { candidate, points: finite(EventLine::WHAT, "points", points)? }
            }
            Event::CorpusGrew { run, version, corpus, added, variants } => {
                Self::CorpusGrew { run, version, corpus, added, variants }
            }
            Event::HeldOutOpened { candidate, tasks, victim } => {
                Self::HeldOutOpened { candidate, tasks, victim }
            }
            Event::Warning { message } => Self::Warning { message },
            Event::SearchFinished { run, best, reason } => {
                Self::SearchFinished { run, best, reason }
            }
        })
    }
}

impl From<StoredEvent> for Event {
    fn from(stored: StoredEvent) -> Self {
        use StoredEvent as S;
        match stored {
            S::SearchStarted { run, spec, victim, seed, episodes_found } => {
                Self::SearchStarted { run, spec, victim, seed, episodes_found }
            }
            S::Proposed { candidate, name, edit } => Self::Proposed { candidate, name, edit },
            S::Dropped { candidate, edit, reason } => {
                Self::Dropped { candidate, edit, reason: reason.into() }
            }
            S::StageStarted { candidate, stage, episodes } => {
                Self::StageStarted { candidate, stage: stage.into(), episodes }
            }
            S::EpisodeFinished { candidate, reused, assessed, millis } => {
                Self::EpisodeFinished { candidate, reused, assessed, millis }
            }
            S::StageFinished { candidate, stage, outcome } => Self::StageFinished {
                candidate,
                stage: stage.into(),
                outcome: match outcome {
                    StoredStageOutcome::Passed { score, upper_bound } => {
                        StageOutcome::Passed { score: score.map(Into::into), upper_bound }
                    }
                    StoredStageOutcome::Stopped { score, upper_bound, reason } => {
                        StageOutcome::Stopped { score: score.map(Into::into), upper_bound, reason }
                    }
                },
            },
            S::NewBest { candidate, points } => Self::NewBest { candidate, points },
            S::CorpusGrew { run, version, corpus, added, variants } => {
                Self::CorpusGrew { run, version, corpus, added, variants }
            }
            S::HeldOutOpened { candidate, tasks, victim } => {
                Self::HeldOutOpened { candidate, tasks, victim }
            }
            S::Warning { message } => Self::Warning { message },
            S::SearchFinished { run, best, reason } => Self::SearchFinished { run, best, reason },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_flipped_bit_is_noticed() {
        let event = Event::Warning { message: "the index was rebuilt".to_owned() };
        let line = EventLine::new(7, 1, &event).expect("storable");
        let mut bytes = encode_line(&line).expect("encodes");
        assert_eq!(bytes.pop(), Some(b'\n'));
        assert_eq!(decode_line(&bytes), Ok(line));
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 1;
            assert!(decode_line(&bad).is_err(), "bit flip at {at}");
        }
    }

    #[test]
    fn nan_is_refused() {
        let candidate = CandidateId::of(&[b"c"]);
        let event = Event::NewBest { candidate, points: f64::NAN };
        assert!(EventLine::new(0, 0, &event).is_err());
    }
}
