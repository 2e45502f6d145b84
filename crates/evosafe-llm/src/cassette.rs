//! Replies by request, in a file: the journal that a resumed search takes its replies from,
//! and a recording that needs no key and no network to play.
//!
//! A reply is found by its request and the call's tag ([`CallTag::key`]), so that two
//! candidates that ask the same at the same time keep their own replies. Where one call is
//! made several times, replies come back in the order in which they were recorded.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use evosafe_types::{CandidateId, ContentHash, TaskId};
use serde::{Deserialize, Serialize};

use crate::error::LlmError;
use crate::lines::{self, Place, Torn, Writer};
use crate::tag::{CallTag, Role};

const FORMAT: lines::Format = lines::Format { name: "evosafe-cassette", version: 1 };

/// What a cassette is used for. Without one, every call is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CassetteMode {
    /// Every call is sent and recorded; the file must hold no replies yet.
    Record,
    /// Nothing is sent: a call that is not on the cassette is an error.
    Replay,
    /// A call that is not on the cassette is sent and recorded: what resume needs.
    ReplayOrRecord,
}

/// One reply, as it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recorded {
    /// What it is found by.
    pub key: ContentHash,
    pub request: ContentHash,
    /// For people: what the call was for.
    pub role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<CandidateId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
    pub rollout: u32,
    pub turn: u32,
    pub status: u16,
    /// As text: parsed and printed again, numbers might change.
    pub body: String,
    pub latency_ms: u64,
}

impl Recorded {
    pub fn new(tag: &CallTag, request: &ContentHash, status: u16, body: String) -> Self {
        Self {
            key: tag.key(request),
            request: request.clone(),
            role: tag.role,
            candidate: tag.candidate.clone(),
            task: tag.task.clone(),
            component: tag.component.clone(),
            rollout: tag.rollout,
            turn: tag.turn,
            status,
            body,
            latency_ms: 0,
        }
    }
}

/// A file of replies.
#[derive(Debug)]
pub struct Cassette {
    path: PathBuf,
    mode: CassetteMode,
    file: Mutex<File>,
    writer: Option<Writer>,
    tracks: Mutex<HashMap<ContentHash, Track>>,
}

#[derive(Debug, Default)]
struct Track {
    replies: Vec<Place>,
    /// How many of them were handed out or recorded by this process.
    used: usize,
}

impl Cassette {
    /// Opens a cassette, making it if it may be written. Also says whether half a line,
    /// left by a process that was killed while it wrote, was cut off (or, for
    /// [`CassetteMode::Replay`], passed over) at its end. Keeps where replies stand in
    /// memory, not the replies.
    ///
    /// # Errors
    /// If it cannot be read or written, is written by another process, is damaged (names
    /// file and line), is newer than this version knows, or is to be recorded anew and
    /// holds replies.
    pub fn open(path: &Path, mode: CassetteMode) -> Result<(Self, Option<Torn>), LlmError> {
        let mut tracks: HashMap<ContentHash, Track> = HashMap::new();
        let mut visit = |place: Place, reply: Recorded| {
            tracks.entry(reply.key).or_default().replies.push(place);
            Ok(())
        };
        let (writer, torn) = if mode == CassetteMode::Replay {
            (None, lines::read(path, FORMAT, &mut visit)?)
        } else {
            let (writer, torn) = Writer::open_and_read(path, FORMAT, &mut visit)?;
            (Some(writer), torn)
        };
        let failed = |message: String| LlmError::Storage {
            action: if mode == CassetteMode::Record { "record to" } else { "open" },
            path: path.to_owned(),
            message,
        };
        if mode == CassetteMode::Record && !tracks.is_empty() {
            return Err(failed("it holds replies already; move it away first".to_owned()));
        }
        let file = File::open(path).map_err(|e| failed(e.to_string()))?;
        let (file, tracks, path) = (Mutex::new(file), Mutex::new(tracks), path.to_owned());
        Ok((Self { path, mode, file, writer, tracks }, torn))
    }

    /// The mode.
    #[must_use]
    pub fn mode(&self) -> CassetteMode {
        self.mode
    }

    /// The next reply to this call; `None` is: send it.
    pub(crate) fn next(
        &self,
        tag: &CallTag,
        request: &ContentHash,
    ) -> Result<Option<Recorded>, LlmError> {
        let place = {
            let mut tracks = self.tracks();
            let track = tracks.get_mut(&tag.key(request));
            track.and_then(|track| {
                let place = *track.replies.get(track.used)?;
                track.used += 1;
                Some(place)
            })
        };
        match place {
            Some(place) => {
                let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
                lines::read_at(&self.path, &file, place).map(Some)
            }
            None if self.mode == CassetteMode::Replay => Err(LlmError::NotRecorded {
                path: self.path.clone(),
                request: request.short().to_owned(),
            }),
            None => Ok(None),
        }
    }

    /// Appends a reply and returns when it is on disk. Blocks.
    pub(crate) fn record(&self, reply: &Recorded) -> Result<(), LlmError> {
        let Some(writer) = &self.writer else { return Ok(()) };
        let place = writer.append(reply)?;
        let mut tracks = self.tracks();
        let track = tracks.entry(reply.key.clone()).or_default();
        track.replies.push(place);
        track.used += 1;
        Ok(())
    }

    fn tracks(&self) -> MutexGuard<'_, HashMap<ContentHash, Track>> {
        self.tracks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
