//! What the commands that run a node have in common.

use std::future::Future;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use klamm_config::{ConfigError, Properties, Warning};
use tracing_subscriber::filter::LevelFilter;

use crate::errors::Problem;
use crate::properties;

/// A node and its log lines.
#[derive(Clone, Debug, Args)]
pub(crate) struct NodeArgs {
    /// The node's properties file, as Apache Kafka reads it, with the role in process.roles.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,

    /// The least that log lines are about.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log_level: LogLevel,
}

/// What log lines are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
        }
    }
}

/// Reads the file of `what`, and begins to write log lines: its warnings are the first.
pub(crate) fn settings<T>(
    args: &NodeArgs,
    what: &str,
    read: impl FnOnce(&Properties) -> Result<(T, Vec<Warning>), ConfigError>,
) -> Result<T, Problem> {
    let properties = properties::read(&args.config, "--config")?;
    let (settings, warnings) = read(&properties).map_err(|error| {
        let file = args.config.display();
        Problem::misuse(format!("{file} is no configuration of {what}")).because(error.to_string())
    })?;
    log_lines(args.log_level);
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    Ok(settings)
}

/// Begins to write log lines.
pub(crate) fn log_lines(level: LogLevel) {
    tracing_subscriber::fmt()
        .with_max_level(LevelFilter::from(level))
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
}

/// Runs what serves until it ends.
pub(crate) fn run<T>(serve: impl Future<Output = Result<T, Problem>>) -> Result<T, Problem> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            Problem::failure("the system gives klamm no threads")
                .because(error.to_string())
                .next("see whether a limit of processes or open files is reached (ulimit -a)")
        })?;
    let outcome = runtime.block_on(serve);
    // Connections that are left have nothing to wait for.
    runtime.shutdown_background();
    outcome
}
