//! The words of evosafe as types: ids, tasks, harness decisions, transcripts,
//! outcomes, scores, budgets and events. No I/O, no clocks, no randomness.
//!
//! Stored formats are *not* defined here: the archive keeps its own versioned
//! structs and converts (see `evosafe-archive::format`).

mod budget;
mod bundle;
mod decision;
mod evaluation;
mod event;
mod evidence;
mod gate_case;
mod hook_call;
mod id;
mod model;
mod outcome;
mod price;
mod score;
mod study;
mod task;
mod tool;
mod transcript;

pub use budget::{Budget, BudgetError, EpisodeLimits, Spent};
pub use bundle::{
    ABI_VERSION, Bundle, HarnessLimits, Language, Manifest, MechanismUse, Origin, ParamValue,
};
pub use decision::{CallDecision, TextDecision};
pub use evaluation::{
    AgreementException, AgreementReport, ArmReport, AsrReport, CategoryReport, ComparisonRow,
    DifferenceReport, Evaluation, McNemarReport, PairedReport, PairedTest, RateReport,
    SemanticStep,
};
pub use event::{DropReason, Event, Stage, StageOutcome};
pub use evidence::{EpisodeCost, Evidence, EvidenceInputs};
pub use gate_case::{Expected, GateCase, PriorCall};
pub use hook_call::{ClassifyAnswer, HookAnswer, HookCall};
pub use id::{CandidateId, ContentHash, EvidenceKey, IdError, RunId, TaskId};
pub use model::{Api, CallLimits, ModelConfig, ModelConfigError};
pub use outcome::{FaultKind, Outcome};
pub use price::{Price, PriceBook, Rates, Usage, Usd};
pub use score::{COVERAGE_FLOOR, Rate, Score};
pub use study::{
    AblationReport, AblationRun, AuditReport, BlindPass, CalibrationReport, CalibrationRow,
    CrossCell, GridCell, GridReport, Spending,
};
pub use task::{Family, Side, Task};
pub use tool::{RunContext, ToolCall, ToolResult, ToolSpec};
pub use transcript::{
    AnswerRecord, CallRecord, ClassifyRecord, EpisodeEnd, HarnessFault, Hook, Transcript, Turn,
};

/// A JSON object, in insertion order.
pub type JsonMap = serde_json::Map<String, serde_json::Value>;

/// The sentence that starts every refusal shown to the victim, so that it can
/// tell a policy decision from a broken tool and replan (design section 3).
pub const REFUSAL_PREFIX: &str = "Refused by security policy: ";

/// The caveat that stands on every table made from replayed runs.
pub const REPLAY_CAVEAT: &str =
    "replay: action-level enforcement only; policy text and rewritten results have no effect";

/// The caveat that stands on every table made with a simulated victim.
pub const SIMULATED_CAVEAT: &str = "simulated profile, not the model";
