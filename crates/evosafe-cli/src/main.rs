//! The `evosafe` command.

mod args;
mod commands;
mod error;
mod models;
mod past;
mod paths;
mod print;
mod progress;
mod roles;
mod session;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args = args::Args::parse();
    let printer = print::Printer::new(args.json);
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("EVOSAFE_LOG")
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn")),
        )
        .with_writer(std::io::stderr)
        .init();
    match commands::run(args, &printer) {
        Ok(code) => code,
        Err(error) => {
            let failure = error::Failure::of(&error);
            printer.failure(&failure);
            failure.exit_code()
        }
    }
}
