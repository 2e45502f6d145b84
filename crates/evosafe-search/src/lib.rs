//! The search: Designer, Criticizer, Cascade, Analyzer and the loop that joins them.

mod ablations;
mod adaptive;
mod analyzer;
mod arm;
mod audit;
mod calibrate;
mod cascade;
mod clock;
mod commit;
mod compare;
mod comparison;
mod counters;
pub mod criticizer;
mod deploy;
mod designer;
mod error;
mod evaluate;
mod evaluator;
mod jobs;
pub mod mining;
mod outer;
mod promotion;
mod propose;
mod rehearsal;
mod review;
mod rng;
mod run;
mod search;
mod spend;
mod summary;
mod verdict;

pub use ablations::Ablations;
pub use adaptive::{CorpusVersion, VariantRecord, find_variant};
pub use analyzer::{Failures, FalseBlocks, Through, rule_of};
pub use audit::{audit, audited};
pub use calibrate::calibrate;
pub use compare::{Paired, pair, uncovered};
pub use comparison::compare;
pub use designer::{DesignerKind, Operator};
pub use error::SearchError;
pub use evaluate::{EvaluateConfig, evaluate};
pub use evaluator::{Evaluator, EvaluatorSetup, EventSink};
pub use outer::{
    ChangeKind, Claim, CommandDesigner, DesignerShare, Experience, Finding, Forecast,
    OuterIdentity, OuterModels, Outlook, Review, RuleReview, SUBMISSION_FILE, Scene, Step, caches,
    read_submission, talk,
};
pub use run::{RUN_FORMAT, RunIdentity, RunRecord, SEARCH_VERSION, find};
pub use search::{SearchConfig, search};
pub use summary::{CorpusSummary, SearchSummary};
pub use verdict::{Verdict, score};
