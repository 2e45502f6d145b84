//! Arguments that several commands take.

use clap::ValueEnum;
use evosafe_report::Format;
use evosafe_search::Ablations;

/// How tables are printed.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct OutputArgs {
    /// How to print tables. In csv, latex and json rates are in percent, and caveats are
    /// comments or fields (docs/formats.md, section `tables`).
    #[arg(long, value_enum, conflicts_with = "json")]
    pub format: Option<FormatArg>,
    /// Print one table only, or `all` of them; text leaves the long ones out.
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    pub table: Option<String>,
}

/// How often a task is run.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct RolloutArgs {
    /// Episodes a task, each with luck of its own, up to 100: rates are over all of them, intervals
    /// and tests by task, and the score's deviation over rollouts is printed. 1 for replay victims.
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rollouts: u32,
}

/// Formats of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// For a terminal.
    Text,
    /// GitHub's Markdown.
    Markdown,
    /// Comma-separated values, caveats in `#` lines.
    Csv,
    /// LaTeX with booktabs.
    Latex,
    /// The tables as one JSON document; `--json` prints the whole result instead.
    Json,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Text => Self::Text,
            FormatArg::Markdown => Self::Markdown,
            FormatArg::Csv => Self::Csv,
            FormatArg::Latex => Self::Latex,
            FormatArg::Json => Self::Json,
        }
    }
}

/// Parts of a search that are left out. Each makes it another search: nothing is resumed
/// across them, episodes are shared.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct AblationArgs {
    /// Evaluate candidates without review (ablation).
    #[arg(long)]
    pub no_criticizer: bool,
    /// Start from no defence alone (ablation).
    #[arg(long)]
    pub no_warm_start: bool,
    /// Withhold risk taxonomy, rules and examples of the specification from the Designer; tool
    /// schemas and traces stay (ablation).
    #[arg(long)]
    pub bare_spec: bool,
    /// Run every candidate on the whole train side, without stages and gate (ablation).
    #[arg(long)]
    pub no_cascade: bool,
}

impl From<AblationArgs> for Ablations {
    fn from(args: AblationArgs) -> Self {
        let AblationArgs { no_criticizer, no_warm_start, bare_spec, no_cascade } = args;
        Self { no_criticizer, no_warm_start, bare_spec, no_cascade }
    }
}
