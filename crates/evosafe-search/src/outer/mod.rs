//! Roles of the search that live models play: Designer, Criticizer, Analyzer (paper sections 4.2,
//! 4.5 and 4.6). Every reply is journalled before it is used, so a search that is run again has the
//! same conversations from the journal; what it may read is text in memory, of train tasks only.

mod ask;
mod design;
mod desk;
mod note;
mod packet;
mod predict;
mod prompts;
mod render;
mod review;
mod steps;
mod submit;
#[cfg(test)]
mod tests;
mod tools;
mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

use evosafe_llm::Client;
use evosafe_types::{CandidateId, ContentHash, TaskId, ToolSpec};
use serde::{Deserialize, Serialize};

use crate::criticizer::probe::Session;

pub use note::Experience;
pub use review::{ChangeKind, Claim, Finding, Review, RuleReview, Scene, Step};

/// The models that play roles; a role without one is played without a model.
#[derive(Debug, Clone, Default)]
pub struct OuterModels {
    /// Writes and repairs candidates, where the Designer is [`crate::DesignerKind::Llm`].
    pub designer: Option<Client>,
    /// Reviews what static analysis and probe let pass, and audits what may win.
    pub criticizer: Option<Client>,
    /// Writes the experience log.
    pub analyzer: Option<Client>,
}

/// What of the outer models decides a search's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OuterIdentity {
    /// Hash of the prompts, the tools and the contract that the models are shown.
    pub prompts: ContentHash,
    /// The Designer's model and how it is asked, as [`evosafe_types::ModelConfig::identity`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub designer: Option<String>,
    /// The Criticizer's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criticizer: Option<String>,
    /// The Analyzer's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analyzer: Option<String>,
}

impl OuterModels {
    /// `None` if no role has a model: searches without one keep their ids.
    #[must_use]
    pub fn identity(&self) -> Option<OuterIdentity> {
        let of = |client: &Option<Client>| client.as_ref().map(|c| c.config().identity());
        let (designer, criticizer) = (of(&self.designer), of(&self.criticizer));
        let analyzer = of(&self.analyzer);
        let any = designer.is_some() || criticizer.is_some() || analyzer.is_some();
        any.then(|| OuterIdentity { prompts: prompts::hash(), designer, criticizer, analyzer })
    }
}

/// Failures by cluster: paths of traces, and their tasks.
type Clusters = BTreeMap<String, Vec<(String, TaskId)>>;

/// A prediction that waits for its candidate's outcomes.
#[derive(Debug, Clone)]
struct Pending {
    hypothesis: String,
    predicted: Vec<predict::Flip>,
}

/// What the outer roles of a search remember.
#[derive(Debug)]
pub(crate) struct Outer {
    models: OuterModels,
    view: view::TrainView,
    /// Train sessions of no defence, for the reviewer.
    sessions: Vec<Arc<Session>>,
    /// Tools of every suite.
    tools: BTreeMap<String, Vec<ToolSpec>>,
    /// Stratified outcomes and clustered failures of each candidate.
    outcomes: BTreeMap<CandidateId, (String, Clusters)>,
    predictions: BTreeMap<CandidateId, Pending>,
    /// Lines of `predictions.md`, and of `attempts.md`.
    fared: String,
    failed: String,
    /// Edits that were proposed and not evaluated yet.
    proposed: Vec<String>,
    audits: BTreeMap<CandidateId, Review>,
}
