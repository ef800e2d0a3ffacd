//! `klamm format`, `klamm info` and `klamm random-uuid`: what Apache Kafka's storage tool does.

mod args;
mod format;
mod info;
mod render;

pub(crate) use args::{FormatArgs, InfoArgs, RandomUuidArgs};
pub(crate) use format::run as format;
pub(crate) use info::run as info;

use std::path::Path;

use klamm_server::settings::NodeSettings;

use crate::errors::Problem;
use crate::exit::Exit;
use crate::output::{Output, WriteError};
use crate::properties;

/// Runs `klamm random-uuid`.
pub(crate) fn random_uuid(_: &RandomUuidArgs, out: &Output) -> Result<Exit, Problem> {
    show(&format!("{}\n", new_id()?), out)?;
    Ok(Exit::Done)
}

fn new_id() -> Result<String, Problem> {
    let id = klamm_server::random_uuid();
    id.map(|id| id.to_string()).map_err(|error| {
        Problem::failure("the system gives no random bytes").because(error.to_string())
    })
}

/// What the file says of the node; warnings are said at once.
fn settings(config: &Path, out: &Output) -> Result<NodeSettings, Problem> {
    let properties = properties::read(config, "--config")?;
    let (node, warnings) = NodeSettings::read(&properties).map_err(|error| {
        Problem::misuse(format!("{} cannot be used", config.display())).because(error.to_string())
    })?;
    for warning in warnings {
        out.warn(&warning.to_string());
    }
    Ok(node)
}

/// A reader that went away has seen enough: what was done stays done.
fn show(text: &str, out: &Output) -> Result<(), Problem> {
    match out.results(text) {
        Ok(()) | Err(WriteError::Closed) => Ok(()),
        Err(WriteError::Problem(problem)) => Err(problem),
    }
}
