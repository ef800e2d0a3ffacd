//! `klamm controller`: a KRaft controller until a signal ends it.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use klamm_config::Warning;
use klamm_server::settings::ControllerSettings;
use klamm_server::{ControllerNode, Fatal, StartError};
use tracing_subscriber::filter::LevelFilter;

use crate::errors::Problem;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::properties;

/// Run a KRaft controller for Apache Kafka brokers.
///
/// The directory in metadata.log.dir or log.dirs has to be formatted, by klamm format or by Apache
/// Kafka's kafka-storage. Log lines go to standard error. Ctrl-C and SIGTERM stop it; everything
/// that was answered is on the disk at any time.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  klamm controller --config server.properties

Exit status: 1 it could not start or go on, 2 misuse, 0 stopped by a signal.")]
pub(crate) struct ControllerArgs {
    /// The node's properties file, as Apache Kafka reads it, with process.roles=controller.
    #[arg(long, value_name = "FILE")]
    config: PathBuf,

    /// The least that log lines are about.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log_level: LogLevel,
}

/// What log lines are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogLevel {
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

pub(crate) fn run(args: &ControllerArgs, _: &Output) -> Result<Exit, Problem> {
    let (settings, warnings) = read(&args.config)?;
    tracing_subscriber::fmt()
        .with_max_level(LevelFilter::from(args.log_level))
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            Problem::failure("the system gives klamm no threads")
                .because(error.to_string())
                .next("see whether a limit of processes or open files is reached (ulimit -a)")
        })?;
    let outcome = runtime.block_on(serve(settings));
    // Connections that are left have nothing to wait for.
    runtime.shutdown_background();
    outcome
}

async fn serve(settings: ControllerSettings) -> Result<Exit, Problem> {
    let id = settings.node.id;
    let mut interrupt = Interrupt::new();
    let node = interrupt.race(ControllerNode::start(settings)).await;
    let Ok(node) = node else {
        return Ok(Exit::Done);
    };
    let mut node = node.map_err(|error| start_problem(&error))?;
    for address in node.addresses() {
        tracing::info!(node = id.0, %address, "listening");
    }
    if let Some(address) = node.http_address() {
        tracing::info!(node = id.0, %address, "health and metrics");
    }
    match interrupt.race(node.failed()).await {
        Ok(outcome) => outcome.map_err(|error| fatal_problem(&error))?,
        Err(_) => {
            tracing::info!(node = id.0, "stopping");
            node.stop().map_err(|error| fatal_problem(&error))?;
        }
    }
    Ok(Exit::Done)
}

fn read(path: &Path) -> Result<(ControllerSettings, Vec<Warning>), Problem> {
    let properties = properties::read(path, "--config")?;
    ControllerSettings::read(&properties).map_err(|error| {
        Problem::misuse(format!(
            "{} is no configuration of a controller",
            path.display()
        ))
        .because(error.to_string())
    })
}

fn start_problem(error: &StartError) -> Problem {
    Problem::failure("the controller could not start").because(error.to_string())
}

fn fatal_problem(error: &Fatal) -> Problem {
    Problem::failure("the controller has stopped").because(error.to_string())
}
