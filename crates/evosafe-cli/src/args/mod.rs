//! Arguments.

mod common;
mod models;
mod study;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

pub use common::{AblationArgs, OutputArgs, RolloutArgs};
pub use models::{CostArgs, EstimateArgs, ModelArgs};
pub use study::{
    AblateArgs, Arm, AuditArgs, CalibrateArgs, CascadeCommand, CellArgs, CompareArgs, GateCommand,
    GridArgs,
};

/// Exit codes, as shown by `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    done, and the answer is no (a check failed, an archive is damaged, a result is indecisive)
  2    wrong arguments
  3    wrong input: a specification, bundle, recording or id
  4    the environment or its bridge failed
  5    the archive failed or is in use
  6    a live model cannot be used: its endpoint, key, account or name
  70   a defect of this program
  130  interrupted; everything finished is saved

Environment variables:
  EVOSAFE_ARCHIVE   default archive folder (./archive)
  EVOSAFE_CACHE     folder for bridges and compiled code (the user's cache folder)
  EVOSAFE_BASE_URL, EVOSAFE_KEY_ENV, EVOSAFE_PRICES, EVOSAFE_PROXY   as the options of live models
  OPENAI_API_KEY, ANTHROPIC_API_KEY   keys, unless the specification or --key-env names others
  EVOSAFE_LOG       log filter for stderr, e.g. `debug`";

/// Search, prove and export safety harnesses for tool-using agents.
#[derive(Debug, Parser)]
#[command(name = "evosafe", version, after_long_help = EXIT_CODES)]
pub struct Args {
    /// Print one JSON document on stdout and nothing else there.
    #[arg(long, global = true)]
    pub json: bool,
    /// Archive folder.
    #[arg(long, global = true, env = "EVOSAFE_ARCHIVE", default_value = "archive")]
    pub archive: PathBuf,
    /// Cache folder for bridges and compiled code.
    #[arg(long, global = true, env = "EVOSAFE_CACHE", value_name = "DIR")]
    pub cache: Option<PathBuf>,
    #[command(flatten)]
    pub models: ModelArgs,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Search a harness for one victim and one domain. Run again to resume.
    #[command(after_help = "Examples:
  evosafe search finance
  evosafe search specs/agentdojo --victim replay:runs/gpt-4o-2024-05-13 --seed 1
  evosafe search finance --victim sim:glm-5 --candidates 40 --json
  evosafe search finance --victim openai:gpt-4o-mini --budget-usd 20")]
    Search(SearchArgs),
    /// Evaluate a candidate against no defence on one side of the split.
    #[command(after_help = "Examples:
  evosafe evaluate best --split held-out
  evosafe evaluate best --split held-out --rollouts 6
  evosafe evaluate best --split held-out --format markdown
  evosafe evaluate best --split held-out --format csv --table risks
  evosafe evaluate best --split held-out --attack tool_knowledge
  evosafe evaluate best --spec specs/agentdyn --victim replay:runs/gpt-4o --split all")]
    Evaluate(EvaluateArgs),
    /// Warm-start bundles, and a search's winner, against no defence in one table.
    #[command(after_help = "Examples:
  evosafe compare                                    # the latest search: its winner and all bundles, held-out
  evosafe compare finance --victim sim:glm-5
  evosafe compare finance --side train --seeds none --bundle my-harness/
  evosafe compare agentdojo --victim replay:runs/gpt-4o-2024-05-13 --side all --seeds provenance-ledger,tool-scope")]
    Compare(CompareArgs),
    /// Search every built-in domain with every simulated victim and compare on held-out. Run
    /// again to resume.
    #[command(after_help = "Examples:
  evosafe grid
  evosafe grid --domains finance --victims glm-5,kimi-k2.5 --candidates 40 --json
  evosafe grid --cross                               # every winner in every cell as well
  evosafe grid --format latex --table significance   # p-values and intervals by cell
  evosafe grid --no-criticizer                       # the same without review")]
    Grid(GridArgs),
    /// Search cells of the grid with and without parts of the search, several seeds each, and
    /// compare winners on held-out. Run again to resume.
    #[command(after_help = "Examples:
  evosafe ablate                                     # all ablations, kimi-k2.5 in every domain, five seeds
  evosafe ablate --arms no-criticizer --domains telecom --run-seeds 1,2,3
  evosafe ablate --victims glm-5,kimi-k2.5 --candidates 40 --format csv --table runs")]
    Ablate(AblateArgs),
    /// What the cascade saved, and whether it chose well.
    #[command(subcommand)]
    Cascade(CascadeCommand),
    /// How often the gate errs.
    #[command(subcommand)]
    Gate(GateCommand),
    /// What calls of live models have cost, by ledger, role, stage and candidate.
    Cost(CostArgs),
    /// What a search with a live victim, or live models in other roles, would cost.
    #[command(after_help = "Examples:
  evosafe estimate finance --victim openai:gpt-4o-mini --candidates 40
  evosafe estimate my-spec/ --designer llm --no-warm-start --candidates 20")]
    Estimate(EstimateArgs),
    /// Candidates of a search, best first.
    #[command(after_help = "Examples:\n  evosafe leaderboard\n  evosafe leaderboard --format csv")]
    Leaderboard {
        #[command(flatten)]
        run: RunArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Who descends from whom.
    Lineage(RunArgs),
    /// A candidate: files, scores, verdicts, notes.
    #[command(after_help = "Examples:\n  evosafe show best\n  evosafe show 3f2a --json")]
    Show(CandidateArgs),
    /// What differs between two candidates.
    #[command(after_help = "Examples:\n  evosafe diff h0 best")]
    Diff {
        /// Candidate: an id prefix, `best` or `h0`.
        a: String,
        /// Candidate: an id prefix, `best` or `h0`.
        b: String,
        /// Search, by id prefix (the latest).
        #[arg(long)]
        run: Option<String>,
    },
    /// One episode, call by call.
    #[command(after_help = "Examples:
  evosafe trace best banking/user_task_0/injection_task_3
  evosafe trace best banking/user_task_0 --hook-calls | evosafe harness run winner/")]
    Trace {
        /// Candidate: an id prefix, `best` or `h0`.
        candidate: String,
        /// Task id.
        task: String,
        /// Which rollout of the task, from 0.
        #[arg(long, value_name = "N", default_value_t = 0)]
        rollout: u64,
        /// Print its hook calls as `harness run` reads them. Starts the environment, which
        /// knows the tools.
        #[arg(long)]
        hook_calls: bool,
        /// Search, by id prefix (the latest).
        #[arg(long)]
        run: Option<String>,
    },
    /// Write a candidate's bundle, and its compiled harness.wasm, to a folder.
    #[command(after_help = "Examples:\n  evosafe export best -o winner/")]
    Export {
        /// Candidate: an id prefix, `best` or `h0`.
        candidate: String,
        /// Folder to write; must not exist or be empty.
        #[arg(short, long)]
        output: PathBuf,
        /// Search, by id prefix (the latest).
        #[arg(long)]
        run: Option<String>,
    },
    /// Work on a bundle outside an archive.
    #[command(subcommand)]
    Harness(HarnessCommand),
    /// Benchmarks that run in their own process.
    #[command(subcommand)]
    Bridge(BridgeCommand),
    /// Check or repair an archive.
    #[command(subcommand)]
    Archive(ArchiveCommand),
    /// Check this machine; names the command that fixes each finding.
    Doctor,
}

#[derive(Debug, clap::Args)]
pub struct SearchArgs {
    /// Folder with spec.toml and spec.md, or the name of a built-in one (finance, agentdojo).
    pub spec: String,
    /// `replay:PATH` (recorded runs, a folder or .tar.zst), `sim:NAME`, `openai:MODEL`, `anthropic:MODEL`,
    /// or `model:NAME` for a table `[models.NAME]`. Default: the specification's.
    #[arg(long)]
    pub victim: Option<String>,
    /// Seed of every random choice of the search.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Who writes the candidates. Default: the specification's, offline unless it says otherwise.
    #[arg(long, value_enum)]
    pub designer: Option<Designer>,
    #[command(flatten)]
    pub ablations: AblationArgs,
    /// Cap on candidates, seeds included.
    #[arg(long, value_name = "N")]
    pub candidates: Option<u32>,
    /// Cap on episodes paid for.
    #[arg(long, value_name = "N")]
    pub episodes: Option<u64>,
    /// Cap on wall-clock time, in seconds.
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<u64>,
    /// Episodes at a time; changes speed, never results. Default: one per core.
    #[arg(long, value_name = "N")]
    pub concurrency: Option<usize>,
    #[command(flatten)]
    pub split: SplitArgs,
}

/// The split of a specification, changed.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct SplitArgs {
    /// Seed of the train/held-out split, instead of the specification's.
    #[arg(long, value_name = "N")]
    pub split_seed: Option<u64>,
    /// How to split, instead of the specification's.
    #[arg(long, value_enum)]
    pub split_by: Option<SplitByArg>,
}

/// The Designers.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Designer {
    /// Evolutionary, with learnt operator choice.
    Offline,
    /// Uniformly random edits: the control.
    Random,
    /// The model of `designer.model` in the specification.
    Llm,
    /// The coding agent of `designer.command` in the specification.
    Command,
    /// Those of `designer.of` in the specification, by what they earn per dollar.
    Mixed,
}

/// Ways to split.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum SplitByArg {
    /// Pairs one by one; benign tasks by user task.
    Pair,
    /// Whole attacker goals are held out.
    InjectionTask,
    /// As the environment fixes it.
    Environment,
}

/// A side of the split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SplitArg {
    /// What the search saw.
    Train,
    /// What it never saw.
    HeldOut,
    /// Everything.
    All,
}

#[derive(Debug, clap::Args)]
pub struct EvaluateArgs {
    /// Candidate: an id prefix, `best` or `h0`.
    #[arg(default_value = "best")]
    pub candidate: String,
    /// Tasks to run. Opening held-out is recorded in the archive.
    #[arg(long, value_enum, default_value_t = SplitArg::HeldOut)]
    pub split: SplitArg,
    /// Search, by id prefix (the latest).
    #[arg(long)]
    pub run: Option<String>,
    /// Another attack of the environment, on the same split.
    #[arg(long)]
    pub attack: Option<String>,
    /// Another victim.
    #[arg(long)]
    pub victim: Option<String>,
    /// Another specification: the candidate is run there unchanged.
    #[arg(long)]
    pub spec: Option<String>,
    #[command(flatten)]
    pub rollouts: RolloutArgs,
    /// Episodes at a time. Default: one per core.
    #[arg(long, value_name = "N")]
    pub concurrency: Option<usize>,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// Search, by id prefix (the latest).
    #[arg(long)]
    pub run: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct CandidateArgs {
    /// Candidate: an id prefix, `best` or `h0`.
    pub candidate: String,
    /// Search, by id prefix (the latest).
    #[arg(long)]
    pub run: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum HarnessCommand {
    /// Stage 0 on a bundle: does it build, do its hooks answer, do limits hold?
    #[command(after_help = "Examples:\n  evosafe harness check winner/")]
    Check {
        /// Bundle folder.
        dir: PathBuf,
    },
    /// Compile a bundle to a self-contained WebAssembly component.
    #[command(after_help = "Examples:
  evosafe harness build winner/
  evosafe harness build warmstart/spotlighting -o spotlighting.wasm")]
    Build {
        /// Bundle folder.
        dir: PathBuf,
        /// File to write (harness.wasm in the bundle folder).
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Feed hook calls from standard input, one JSON object a line; prints one answer a line.
    #[command(after_help = "Examples:
  evosafe harness run winner/ < calls.jsonl
  echo '{\"hook\":\"pre-tool-call\",\"call\":{\"tool\":\"pay\",\"arguments\":{\"to\":\"x\"}}}' \\
    | evosafe harness run winner/ --compiled

The line format is in docs/formats.md, section `hook calls`.")]
    Run {
        /// Bundle folder.
        dir: PathBuf,
        /// Run the bundle's harness.wasm (built if absent) and not its source.
        #[arg(long)]
        compiled: bool,
    },
    /// Run gate cases: prints false blocks and misses; exit code 1 if there are any.
    #[command(after_help = "Examples:
  evosafe harness test winner/ --cases cases.json
  evosafe harness test winner/ --cases cases.json --compiled --json

The file format is in docs/formats.md, section `gate cases`.")]
    Test {
        /// Bundle folder.
        dir: PathBuf,
        /// File with the cases.
        #[arg(long, value_name = "FILE")]
        cases: PathBuf,
        /// Run the bundle's harness.wasm (built if absent) and not its source.
        #[arg(long)]
        compiled: bool,
    },
    /// Print TypeScript declarations of all that a JavaScript harness can use.
    #[command(after_help = "Examples:\n  evosafe harness types > winner/.evosafe.d.ts")]
    Types,
}

#[derive(Debug, Subcommand)]
pub enum BridgeCommand {
    /// Install a benchmark into its own virtual environment in the cache folder.
    #[command(after_help = "Examples:
  evosafe bridge setup agentdojo
  evosafe bridge setup agentdyn --from ~/src/AgentDyn")]
    Setup {
        /// Name: agentdojo or agentdyn.
        name: String,
        /// Checkout to install from, for benchmarks that are not published as a package.
        #[arg(long)]
        from: Option<PathBuf>,
    },
    /// Bridges that are installed.
    List,
}

#[derive(Debug, Subcommand)]
pub enum ArchiveCommand {
    /// Verify every object, chain and key; changes nothing.
    Fsck,
    /// Rebuild the index from git.
    Reindex,
}
