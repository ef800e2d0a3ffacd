//! The klamm command: it sees and moves partition leadership of Kafka clusters, explains their
//! protocol, and makes and runs nodes.

mod args;
mod broker;
mod cluster;
mod connect;
mod controller;
mod cut;
mod drill;
mod duration;
mod elect;
mod errors;
mod exit;
mod explain;
mod input;
mod interrupt;
mod leaders;
mod metadata;
mod node;
mod output;
mod pages;
mod patterns;
mod properties;
mod storage;
mod table;
mod up;

use std::future::Future;
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use errors::Problem;
use exit::Exit;
use output::Output;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help goes to standard output, errors to standard error; a closed one is nobody's
            // problem.
            let _ = error.print();
            return if error.exit_code() == 0 {
                Exit::Done
            } else {
                Exit::Misuse
            }
            .into();
        }
    };
    let out = Output::detect();
    let result = match &cli.command {
        Command::Elect(args) => elect::run(args, &out),
        Command::Leaders(args) => leaders::run(args, &out),
        Command::Explain(args) => explain::run(args, &out),
        Command::Format(args) => storage::format(args, &out),
        Command::Info(args) => storage::info(args, &out),
        Command::RandomUuid(args) => storage::random_uuid(args, &out),
        Command::Controller(args) => controller::run(args, &out),
        Command::Broker(args) => broker::run(args, &out),
        Command::Up(args) => up::run(args, &out),
        Command::Drill(args) => drill::run(args, &out),
        Command::Completions(args) => pages::completions(args, &out),
        Command::Man(args) => pages::man(args, &out),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(problem) => {
            out.problem(&problem);
            problem.exit().into()
        }
    }
}

/// Runs what talks to a cluster or listens to signals, on this thread alone: a command that runs for
/// milliseconds has no use for more.
fn block_on<T>(work: impl Future<Output = Result<T, Problem>>) -> Result<T, Problem> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| {
        Problem::failure("the system gives klamm no event loop")
            .because(error.to_string())
            .next("see whether the limit of open files is reached (ulimit -n)")
    })?;
    let result = runtime.block_on(work);
    // A resolver that hangs must not hold up the end.
    runtime.shutdown_background();
    result
}
