//! Arguments of the commands that study searches: comparisons, grids, the cascade.

use std::path::PathBuf;

use clap::Subcommand;

use super::{SplitArg, SplitArgs};

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
    /// Episodes at a time. Default: one per core.
    #[arg(long, value_name = "N")]
    pub concurrency: Option<usize>,
    #[command(flatten)]
    pub split: SplitArgs,
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

#[derive(Debug, clap::Args)]
pub struct GridArgs {
    /// Built-in domains: `all`, or names with commas between them.
    #[arg(long, default_value = "all")]
    pub domains: String,
    /// Simulated victims: `all` (the five of the paper's study), or names or profile files with
    /// commas between them.
    #[arg(long, default_value = "all")]
    pub victims: String,
    /// Cap on candidates of each search, seeds included, instead of the specifications'.
    #[arg(long, value_name = "N")]
    pub candidates: Option<u32>,
    /// Seed of every random choice of the searches.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Evaluate candidates without review (ablation).
    #[arg(long)]
    pub no_criticizer: bool,
    /// Start from no defence alone (ablation). The comparison still shows all bundles.
    #[arg(long)]
    pub no_warm_start: bool,
    /// Episodes at a time. Default: one per core.
    #[arg(long, value_name = "N")]
    pub concurrency: Option<usize>,
}
