//! Arguments of the commands that study searches: comparisons, grids, the cascade.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use evosafe_search::Ablations;

use super::{AblationArgs, OutputArgs, RolloutArgs, SplitArg, SplitArgs};

#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// Folder with spec.toml and spec.md, or the name of a built-in one. Without it: the
    /// specification, split and victim of a search, with its winner as the first row.
    pub spec: Option<String>,
    /// Search, by id prefix (the latest).
    #[arg(long, conflicts_with = "spec")]
    pub run: Option<String>,
    /// Warm-start bundles: `all`, `none` or names with commas between them.
    #[arg(long, default_value = "all")]
    pub seeds: String,
    /// Folders with more bundles.
    #[arg(long = "bundle", value_name = "DIR")]
    pub bundles: Vec<PathBuf>,
    /// More candidates of the archive: id prefixes or `best`.
    #[arg(long = "candidate", value_name = "ID")]
    pub candidates: Vec<String>,
    /// Tasks to run. Opening held-out is recorded in the archive.
    #[arg(long, value_enum, default_value_t = SplitArg::HeldOut)]
    pub side: SplitArg,
    /// `replay:PATH` or `sim:NAME`.
    #[arg(long)]
    pub victim: Option<String>,
    /// Another attack of the environment, on the same split.
    #[arg(long)]
    pub attack: Option<String>,
    #[command(flatten)]
    pub rollouts: RolloutArgs,
    /// Episodes at a time. Default: one per core.
    #[arg(long, value_name = "N")]
    pub concurrency: Option<usize>,
    #[command(flatten)]
    pub split: SplitArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Subcommand)]
pub enum CascadeCommand {
    /// Run the missing episodes of a search's candidates and compare what no cascade, fresh
    /// tasks at each stage, and the nested cascade cost and choose. Exits with 1 if
    /// the nested cascade's choice is not that of full evaluation.
    #[command(
        after_help = "Examples:\n  evosafe cascade audit\n  evosafe cascade audit --run 3f2a --json"
    )]
    Audit(AuditArgs),
}

#[derive(Debug, clap::Args)]
pub struct AuditArgs {
    /// Search, by id prefix (the latest).
    #[arg(long)]
    pub run: Option<String>,
    /// Episodes at a time. Default: one per core.
    #[arg(long, value_name = "N")]
    pub concurrency: Option<usize>,
}

#[derive(Debug, Subcommand)]
pub enum GateCommand {
    /// Simulate the gate on the evidence of a search: false stops and missed stops.
    #[command(after_help = "Examples:
  evosafe gate calibrate
  evosafe gate calibrate --gate 24 --margin 5        # would another prefix or margin do better?")]
    Calibrate(CalibrateArgs),
}

#[derive(Debug, clap::Args)]
pub struct CalibrateArgs {
    /// Search, by id prefix (the latest).
    #[arg(long)]
    pub run: Option<String>,
    /// Tasks of the gate prefix, instead of the specification's.
    #[arg(long, value_name = "N")]
    pub gate: Option<u32>,
    /// Margin in points, instead of the specification's.
    #[arg(long, value_name = "POINTS")]
    pub margin: Option<f64>,
    /// Confidence of the bound, instead of the specification's.
    #[arg(long)]
    pub confidence: Option<f64>,
    /// Prefixes drawn for each candidate.
    #[arg(long, default_value_t = 2000)]
    pub draws: u32,
    /// Seed of the draws.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Cells of a grid.
#[derive(Debug, clap::Args)]
pub struct CellArgs {
    /// Built-in domains: `all`, or names with commas between them.
    #[arg(long, default_value = "all")]
    pub domains: String,
    /// Cap on candidates of each search, seeds included, instead of the specifications'.
    #[arg(long, value_name = "N")]
    pub candidates: Option<u32>,
    /// Episodes at a time. Default: one per core.
    #[arg(long, value_name = "N")]
    pub concurrency: Option<usize>,
}

#[derive(Debug, clap::Args)]
pub struct GridArgs {
    #[command(flatten)]
    pub cells: CellArgs,
    /// Simulated victims: `all` (the five of the paper's study), or names or profile files with
    /// commas between them.
    #[arg(long, default_value = "all")]
    pub victims: String,
    /// Seed of every random choice of the searches.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Evaluate every winner in every other cell too: the cross-deployment matrix.
    #[arg(long)]
    pub cross: bool,
    /// Of held-out tasks; the searches have those of their specifications.
    #[command(flatten)]
    pub rollouts: RolloutArgs,
    /// The comparison shows all bundles whatever is left out of the searches.
    #[command(flatten)]
    pub ablations: AblationArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, clap::Args)]
pub struct AblateArgs {
    #[command(flatten)]
    pub cells: CellArgs,
    /// Simulated victims: `all`, or names or profile files with commas between them. The paper's
    /// ablations hold this one fixed.
    #[arg(long, default_value = "kimi-k2.5")]
    pub victims: String,
    /// What to leave out, one at a time; the full search is always there. Default: all four.
    #[arg(long, value_enum, value_delimiter = ',')]
    pub arms: Vec<Arm>,
    /// Seeds of the searches, with commas between them.
    #[arg(long, value_delimiter = ',', default_value = "1,2,3,4,5")]
    pub run_seeds: Vec<u64>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arms of an ablation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Arm {
    /// `--no-criticizer`
    NoCriticizer,
    /// `--no-warm-start`
    NoWarmStart,
    /// `--bare-spec`
    BareSpec,
    /// `--no-cascade`
    NoCascade,
}

impl Arm {
    /// As on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoCriticizer => "no-criticizer",
            Self::NoWarmStart => "no-warm-start",
            Self::BareSpec => "bare-spec",
            Self::NoCascade => "no-cascade",
        }
    }
}

impl From<Arm> for Ablations {
    fn from(arm: Arm) -> Self {
        let none = Self::default();
        match arm {
            Arm::NoCriticizer => Self { no_criticizer: true, ..none },
            Arm::NoWarmStart => Self { no_warm_start: true, ..none },
            Arm::BareSpec => Self { bare_spec: true, ..none },
            Arm::NoCascade => Self { no_cascade: true, ..none },
        }
    }
}
