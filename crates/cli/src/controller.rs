//! `klamm controller`: a KRaft controller until a signal ends it.

use clap::Args;
use klamm_server::settings::ControllerSettings;
use klamm_server::{ControllerNode, Fatal, StartError};

use crate::errors::Problem;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::node::{self, NodeArgs};
use crate::output::Output;

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
    #[command(flatten)]
    node: NodeArgs,
}

pub(crate) fn run(args: &ControllerArgs, _: &Output) -> Result<Exit, Problem> {
    let settings = node::settings(&args.node, "a controller", ControllerSettings::read)?;
    node::run(serve(settings))
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

fn start_problem(error: &StartError) -> Problem {
    Problem::failure("the controller could not start").because(error.to_string())
}

fn fatal_problem(error: &Fatal) -> Problem {
    Problem::failure("the controller has stopped").because(error.to_string())
}
