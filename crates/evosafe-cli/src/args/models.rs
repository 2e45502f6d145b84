//! Arguments about live models, and what they cost.

use std::path::PathBuf;

/// How live models are reached and what they may cost; for every command that runs episodes.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Live models")]
pub struct ModelArgs {
    /// Where the API of an `openai:` or `anthropic:` victim begins, e.g. http://127.0.0.1:8080/v1.
    #[arg(long, global = true, env = "EVOSAFE_BASE_URL", value_name = "URL")]
    pub base_url: Option<String>,
    /// Environment variable with the key of such a victim. Default: OPENAI_API_KEY or
    /// ANTHROPIC_API_KEY at the API's owner, none elsewhere.
    #[arg(long, global = true, env = "EVOSAFE_KEY_ENV", value_name = "NAME")]
    pub key_env: Option<String>,
    /// Cap in USD on all calls that this archive has paid for.
    #[arg(long, global = true, value_name = "USD")]
    pub budget_usd: Option<f64>,
    /// Price file; its models come before the built-in ones.
    #[arg(long, global = true, env = "EVOSAFE_PRICES", value_name = "FILE")]
    pub prices: Option<PathBuf>,
    /// Proxy for all calls.
    #[arg(long, global = true, env = "EVOSAFE_PROXY", value_name = "URL", hide_env_values = true)]
    pub proxy: Option<String>,
    /// Send nothing: every reply must be on the archive's recording. Needs no key.
    #[arg(long, global = true)]
    pub replay_calls: bool,
}

#[derive(Debug, clap::Args)]
pub struct CostArgs {
    /// Candidates to list, dearest first.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
}

#[derive(Debug, clap::Args)]
pub struct EstimateArgs {
    /// Folder with spec.toml and spec.md, or the name of a built-in one.
    pub spec: String,
    /// Victim, as of `search`. Default: the specification's. One that is no live model costs nothing.
    #[arg(long)]
    pub victim: Option<String>,
    /// Who writes the candidates. Default: the specification's.
    #[arg(long, value_enum)]
    pub designer: Option<super::Designer>,
    /// Candidates, seeds included. Default: the specification's budget.
    #[arg(long, value_name = "N")]
    pub candidates: Option<u32>,
    /// A search that starts from no defence alone.
    #[arg(long)]
    pub no_warm_start: bool,
}
