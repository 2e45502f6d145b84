//! The commands.

mod ablate;
mod archive;
mod bridge;
mod cascade;
mod compare;
mod cost;
mod doctor;
mod estimate;
mod evaluate;
mod grid;
mod harness;
mod inspect;
mod search;
mod study;

use std::process::ExitCode;

use anyhow::Result;

use crate::args::{
    ArchiveCommand, Args, BridgeCommand, CascadeCommand, Command, GateCommand, HarnessCommand,
    ModelArgs,
};
use crate::paths;
use crate::print::Printer;

/// What every command gets.
pub struct Context<'a> {
    pub archive: std::path::PathBuf,
    pub cache: std::path::PathBuf,
    pub printer: &'a Printer,
    pub models: ModelArgs,
}

/// Runs one command.
pub fn run(args: Args, printer: &Printer) -> Result<ExitCode> {
    let cx = Context {
        archive: args.archive,
        cache: paths::cache(args.cache)?,
        printer,
        models: args.models,
    };
    match args.command {
        Command::Search(args) => search::run(&cx, &args),
        Command::Evaluate(args) => evaluate::run(&cx, &args),
        Command::Compare(args) => compare::run(&cx, &args),
        Command::Grid(args) => grid::run(&cx, &args),
        Command::Ablate(args) => ablate::run(&cx, &args),
        Command::Cascade(CascadeCommand::Audit(args)) => cascade::audit(&cx, &args),
        Command::Gate(GateCommand::Calibrate(args)) => cascade::calibrate(&cx, &args),
        Command::Cost(args) => cost::cost(&cx, &args),
        Command::Estimate(args) => estimate::run(&cx, &args),
        Command::Leaderboard { run, output } => {
            inspect::leaderboard(&cx, run.run.as_deref(), &output)
        }
        Command::Lineage(args) => inspect::lineage(&cx, args.run.as_deref()),
        Command::Show(args) => inspect::show(&cx, &args.candidate, args.run.as_deref()),
        Command::Diff { a, b, run } => inspect::diff(&cx, &a, &b, run.as_deref()),
        Command::Trace { candidate, task, rollout, hook_calls, run } => {
            inspect::trace(&cx, &candidate, &task, rollout, run.as_deref(), hook_calls)
        }
        Command::Export { candidate, output, run } => {
            inspect::export(&cx, &candidate, &output, run.as_deref())
        }
        Command::Harness(command) => match command {
            HarnessCommand::Check { dir } => harness::check(&cx, &dir),
            HarnessCommand::Build { dir, output } => harness::build(&cx, &dir, output),
            HarnessCommand::Run { dir, compiled } => harness::run(&cx, &dir, compiled),
            HarnessCommand::Test { dir, cases, compiled } => {
                harness::test(&cx, &dir, &cases, compiled)
            }
            HarnessCommand::Types => harness::types(&cx),
        },
        Command::Bridge(BridgeCommand::Setup { name, from }) => {
            bridge::setup(&cx, &name, from.as_deref())
        }
        Command::Bridge(BridgeCommand::List) => bridge::list(&cx),
        Command::Archive(ArchiveCommand::Fsck) => archive::fsck(&cx),
        Command::Archive(ArchiveCommand::Reindex) => archive::reindex(&cx),
        Command::Doctor => doctor::run(&cx),
    }
}
