//! Roles of the search that live models play: Designer, Criticizer, Analyzer (paper sections 4.2,
//! 4.5 and 4.6). Every reply is journalled before it is used, so a search that is run again has the
//! same conversations from the journal; what it may read is text in memory, of train tasks only.

mod ask;
mod command;
mod design;
mod desk;
mod forecast;
mod handed;
mod mix;
mod note;
mod packet;
mod predict;
mod process;
mod prompts;
mod render;
mod review;
mod steps;
mod submit;
#[cfg(test)]
pub(crate) mod tests;
mod tools;
mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

use evosafe_llm::Client;
use evosafe_types::{CandidateId, ContentHash, TaskId, ToolSpec};
use serde::{Deserialize, Serialize};

use crate::criticizer::probe::Session;
use crate::designer::DesignerKind;

pub use command::CommandDesigner;
pub use forecast::{Forecast, Outlook, caches, talk};
pub use handed::{SUBMISSION_FILE, read_submission};
pub use mix::DesignerShare;
pub use note::Experience;
pub use review::{ChangeKind, Claim, Finding, Review, RuleReview, Scene, Step};

/// The models that play roles; a role without one is played without a model.
#[derive(Debug, Clone, Default)]
pub struct OuterModels {
    /// Writes and repairs candidates, where the Designer is [`crate::DesignerKind::Llm`].
    pub designer: Option<Client>,
    /// Does the same, where the Designer is [`crate::DesignerKind::Command`].
    pub command: Option<CommandDesigner>,
    /// The Designers of a [`crate::DesignerKind::Mixed`] search.
    pub mixed: Vec<DesignerKind>,
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
    /// The Designer's command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The Designers of a mixed search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mixed: Vec<DesignerKind>,
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
        let command = self.command.as_ref().map(CommandDesigner::identity);
        let mixed = self.mixed.clone();
        let models = designer.is_some() || criticizer.is_some() || analyzer.is_some();
        (models || command.is_some()).then(|| OuterIdentity {
            prompts: prompts::hash(),
            designer,
            command,
            mixed,
            criticizer,
            analyzer,
        })
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
    mix: Option<mix::Mix>,
}
