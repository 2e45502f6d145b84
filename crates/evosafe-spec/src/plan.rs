//! The validated plan: what everything after this crate works on.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use evosafe_types::{Budget, ContentHash, EpisodeLimits, HarnessLimits, JsonMap, ModelConfig, Usd};
use serde::{Deserialize, Serialize};

/// A domain specification, checked (paper section 4.1: the Designer's task contract).
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Short name, lowercase.
    pub name: String,
    /// `spec.toml` as read, for the record of a search.
    pub spec_toml: String,
    /// `spec.md`: what the Designer reads.
    pub spec_md: String,
    /// Tools, tasks and judges.
    pub environment: EnvironmentPlan,
    /// How tasks are divided into train and held-out.
    pub split: SplitPlan,
    /// Sizes and constants of the evaluation cascade.
    pub cascade: CascadePlan,
    /// Sizes of the loop.
    pub search: SearchPlan,
    /// What a search may spend by default.
    pub budget: Budget,
    /// Sandbox limits of candidates that the search writes.
    pub limits: HarnessLimits,
    /// Model calls that an episode may use.
    pub step_limit: u32,
    /// What an episode of a live victim may use beside its model calls.
    pub victim_limits: EpisodeLimits,
    /// Victim when the command line names none.
    pub victim: Option<String>,
    /// Who plays the roles of the search.
    pub roles: RolesPlan,
    /// Live models by the name of their table; `model:NAME` is the victim of that name.
    pub models: BTreeMap<String, ModelConfig>,
    /// Where it was read from.
    pub source: SpecSource,
    /// Hash of the bytes of `spec.toml` and `spec.md`.
    pub hash: ContentHash,
}

/// Where a specification was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpecSource {
    /// Part of the binary.
    Embedded(String),
    /// A folder.
    Folder(PathBuf),
    /// The copy that an archive keeps of the specification of a search.
    Archived(String),
}

/// `[environment]`
#[derive(Debug, Clone, PartialEq)]
pub enum EnvironmentPlan {
    /// In process, deterministic.
    Builtin {
        /// Name of the domain.
        domain: String,
    },
    /// A child process that speaks the bridge protocol.
    Bridge {
        /// Name of the bridge.
        bridge: String,
        /// Handed to the bridge as they are.
        options: JsonMap,
        /// Deadline of one call.
        call_timeout: Duration,
        /// Deadline of opening an episode, start of the process included.
        open_timeout: Duration,
        /// Processes at most; they never change results.
        processes: u32,
    },
}

/// `[split]`
#[derive(Debug, Clone, PartialEq)]
pub struct SplitPlan {
    /// What is kept together.
    pub by: SplitBy,
    /// Share of the train side, in (0, 1); 0 where the environment fixes the sides.
    pub train: f64,
    /// Seed of the division and of the canonical order.
    pub seed: u64,
}

/// What a split keeps together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitBy {
    /// Attack tasks one by one; benign tasks by user task.
    Pair,
    /// All attack tasks of one attacker's goal, so that held-out goals are new; benign tasks by user task.
    InjectionTask,
    /// The environment says of each task which side it is on.
    Environment,
}

impl SplitBy {
    /// As written in `spec.toml`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pair => "pair",
            Self::InjectionTask => "injection_task",
            Self::Environment => "environment",
        }
    }
}

/// `[cascade]`: prefixes of the canonical order, in tasks (paper section 4.4, appendix A).
#[derive(Debug, Clone, PartialEq)]
pub struct CascadePlan {
    /// Stage 1.
    pub smoke: u32,
    /// Stage 2.
    pub gate: u32,
    /// Stage 3.
    pub search: u32,
    /// Stage 4; `None` is the whole train side.
    pub wide: Option<u32>,
    /// Points below the reference that the upper bound must fall under for the gate to stop a candidate.
    pub margin: f64,
    /// Confidence of the one-sided bound, in (0.5, 1).
    pub confidence: f64,
    /// Candidates that stage 4 is run for.
    pub finalists: u32,
    /// Points of utility under attack that a winner may lose against no defence on the wide prefix.
    pub under_attack_margin: f64,
}

/// `[search]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPlan {
    /// Candidates proposed together, whatever the concurrency.
    pub batch: u32,
    /// Repairs of a flagged candidate before it is dropped.
    pub repairs: u32,
    /// Batches without improvement after which the search counts as converged; `None` never.
    pub patience: Option<u32>,
    /// Episodes a train task, each with its own luck; scores and the gate take their mean.
    pub rollouts: u32,
    /// Variants of train attacks that the corpus of a search may grow by; 0 leaves it as it is.
    pub adaptive_probes: u32,
}

/// `[designer]`, `[criticizer]` and `[analyzer]`: models are names of [`Plan::models`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RolesPlan {
    /// Who writes candidates when the command line does not say.
    pub designer: DesignerPlan,
    /// The model of the Designer, where it is one.
    pub designer_model: Option<String>,
    /// The command of the Designer, where it is one.
    pub designer_command: Option<CommandPlan>,
    /// The Designers of [`DesignerPlan::Mixed`]: two or more, each once, never the control.
    pub designer_of: Vec<DesignerPlan>,
    /// The model that reviews beside static analysis and probe; `None` for no model.
    pub criticizer_model: Option<String>,
    /// The model that writes the experience log; `None` for no log.
    pub analyzer_model: Option<String>,
}

/// `designer.kind`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DesignerPlan {
    /// Evolutionary, without a model.
    #[default]
    Offline,
    /// Uniformly random edits: the control.
    Random,
    /// A live model with tools.
    Llm,
    /// A coding agent's command line.
    Command,
    /// Several, by what they earn per dollar.
    Mixed,
}

/// A coding agent as Designer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPlan {
    /// Program and arguments.
    pub command: Vec<String>,
    /// After which a run of it is ended.
    pub time_limit: Duration,
    /// What a run of it may cost; it is told, and has to see to it.
    pub cost_limit: Option<Usd>,
    /// Environment variables that are handed on; none holds a key of `[models.*]`.
    pub pass_env: Vec<String>,
}
