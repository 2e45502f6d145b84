//! Live victims: a model behind an API, asked turn by turn.
//!
//! What is the model's behaviour, as it is deployed, is assessed: calls that cannot be executed
//! go back to it as tool errors, and a conversation that is too long, a filter, a reply cut off
//! before it said anything or an empty one end the episode. Whatever else goes wrong between
//! the model and us leaves the episode unassessed, and what no later call can get past stops
//! the search ([`FaultKind::stops_search`]).

mod classify;
mod compact;
mod line;
mod session;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use evosafe_llm::{CallTag, ChatReply, Client, Role};
use evosafe_sandbox::{Classifier, ClassifyFuture};
use evosafe_types::{CandidateId, ContentHash, EpisodeLimits, FaultKind, Stage};

use crate::simulated::Opening;
use line::Line;

pub use session::LiveSession;

/// Version of the frames around what a live victim is asked, part of its id: how an episode's
/// conversation is put together, and the prompt of the classifier.
pub const FRAME_VERSION: &str = "1";

/// Receives what people should know while calls are made, such as that they are paused.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// What an episode is run for. It goes into the tags of a live victim's calls, and nowhere else.
#[derive(Debug, Clone, Copy, Default)]
pub struct Purpose<'a> {
    /// The harness.
    pub candidate: Option<&'a CandidateId>,
    /// Stage of the cascade.
    pub stage: Option<Stage>,
}

/// The first call of an episode's harness that was lost to infrastructure: whatever the
/// harness made of that, no verdict may rest on it.
#[derive(Debug, Clone, Default)]
pub struct LostCalls(Arc<Mutex<Option<(FaultKind, String)>>>);

impl LostCalls {
    fn add(&self, lost: (FaultKind, String)) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(lost);
    }

    /// What was lost.
    #[must_use]
    pub fn first(&self) -> Option<(FaultKind, String)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Candidate, task, rollout.
type Place = (Option<CandidateId>, String, u64);

/// A reply, and the hash of what it answers.
#[derive(Debug, Clone)]
struct Exchange {
    request: ContentHash,
    reply: ChatReply,
}

/// A live victim.
pub struct LiveVictim {
    line: Arc<Line>,
    limits: EpisodeLimits,
    id: String,
    /// Replies of episodes that were lost half-way: run again, they are not paid for twice.
    unfinished: Mutex<HashMap<Place, Vec<Exchange>>>,
}

impl fmt::Debug for LiveVictim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveVictim").field("id", &self.id).finish_non_exhaustive()
    }
}

impl LiveVictim {
    /// A victim behind `client`. `phase` is the part of the run that its calls are booked
    /// under; `say` hears of pauses.
    #[must_use]
    pub fn new(client: Client, limits: EpisodeLimits, phase: &str, say: Say) -> Self {
        let config = client.config();
        let identity = config.identity();
        let tokens = limits.tokens.map_or_else(String::new, |n| n.to_string());
        let compact = limits.compact_over.map(|n| format!("{}:{n}", compact::VERSION));
        let mut parts = vec![FRAME_VERSION, identity.as_str(), tokens.as_str()];
        parts.extend(compact.as_deref());
        let parts: Vec<&[u8]> = parts.into_iter().map(str::as_bytes).collect();
        let hash = ContentHash::of(&parts);
        let id = format!("{}:{}@{}", config.api.as_str(), config.model, hash.short());
        let line = Arc::new(Line::new(client, phase, say));
        Self { line, limits, id, unfinished: Mutex::default() }
    }

    /// API, model, and a hash of all that its replies depend on: parameters, endpoint, frames,
    /// limit on tokens, compaction. Never the key.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The classifier of an episode. What it loses is noted in `lost`.
    pub(crate) fn classifier(&self, purpose: Purpose<'_>, lost: &LostCalls) -> Classifier {
        // Neither candidate nor task: an answer is everybody's who asks the same.
        let tag = CallTag { stage: purpose.stage, ..self.line.tag(Role::Classify) };
        let (line, lost) = (Arc::clone(&self.line), lost.clone());
        Classifier::Answer(Arc::new(move |question, untrusted| -> ClassifyFuture {
            let (line, lost, tag) = (Arc::clone(&line), lost.clone(), tag.clone());
            Box::pin(async move {
                line.classify(&question, &untrusted, &tag).await.unwrap_or_else(|fault| {
                    let message = fault.1.clone();
                    lost.add(fault);
                    Err(message)
                })
            })
        }))
    }

    /// Starts an episode.
    pub(crate) fn session(&self, opening: &Opening<'_>, purpose: Purpose<'_>) -> LiveSession<'_> {
        LiveSession::new(self, opening, purpose)
    }

    fn take_unfinished(&self, place: &Place) -> Vec<Exchange> {
        let mut all = self.unfinished.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(place).unwrap_or_default()
    }

    fn keep_unfinished(&self, place: Place, exchanges: Vec<Exchange>) {
        let mut all = self.unfinished.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(place, exchanges);
    }
}
