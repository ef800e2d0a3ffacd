//! `klamm broker`: a broker until a signal ends it.

use clap::Args;
use klamm_server::settings::BrokerSettings;
use klamm_server::{BrokerFatal, BrokerNode, StartError};

use crate::errors::Problem;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::node::{self, NodeArgs};
use crate::output::Output;

/// Run a Kafka broker.
///
/// The directories in log.dirs have to be formatted, by klamm format or by Apache Kafka's
/// kafka-storage. Log lines go to standard error. Ctrl-C and SIGTERM stop it once others lead what
/// it led; a second one ends it at once.
#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  klamm broker --config server.properties

Exit status: 1 it could not start or go on, 2 misuse, 0 stopped by a signal.")]
pub(crate) struct BrokerArgs {
    #[command(flatten)]
    node: NodeArgs,
}

pub(crate) fn run(args: &BrokerArgs, _: &Output) -> Result<Exit, Problem> {
    let settings = node::settings(&args.node, "a broker", BrokerSettings::read)?;
    node::run(serve(settings))
}

async fn serve(settings: BrokerSettings) -> Result<Exit, Problem> {
    let id = settings.node.id;
    let mut interrupt = Interrupt::new();
    let node = interrupt.race(BrokerNode::start(settings)).await;
    let Ok(node) = node else {
        return Ok(Exit::Done);
    };
    let mut node = node.map_err(|error| start_problem(&error))?;
    for address in node.addresses() {
        tracing::info!(node = id.0, %address, "port taken");
    }
    if let Ok(ready) = interrupt.race(node.ready()).await {
        ready.map_err(|error| fatal_problem(&error))?;
        tracing::info!(node = id.0, "serving");
        if let Ok(failed) = interrupt.race(node.failed()).await {
            failed.map_err(|error| fatal_problem(&error))?;
            return Ok(Exit::Done);
        }
    }
    tracing::info!(node = id.0, "stopping");
    match Interrupt::new().race(node.stop()).await {
        Ok(stopped) => stopped.map_err(|error| fatal_problem(&error))?,
        Err(_) => tracing::warn!(
            node = id.0,
            "ended at once: its logs are checked at the next start"
        ),
    }
    Ok(Exit::Done)
}

fn start_problem(error: &StartError) -> Problem {
    Problem::failure("the broker could not start").because(error.to_string())
}

fn fatal_problem(error: &BrokerFatal) -> Problem {
    Problem::failure("the broker has stopped").because(error.to_string())
}
