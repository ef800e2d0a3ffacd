//! `klamm drill`: a failover, rehearsed on a cluster in this process.

mod args;
mod audit;
mod leaders;
mod load;
mod report;
mod story;
mod talk;

pub(crate) use args::DrillArgs;

use crate::errors::Problem;
use crate::exit::Exit;
use crate::interrupt::Interrupted;
use crate::node;
use crate::output::{Output, WriteError};

pub(crate) fn run(args: &DrillArgs, out: &Output) -> Result<Exit, Problem> {
    node::log_lines(args.log_level);
    let report = match node::run(story::told(args, out))? {
        Ok(report) => report,
        Err(Interrupted(signal)) => return Ok(Exit::Interrupted(signal)),
    };
    match out.results(&report.render(args.output)) {
        Ok(()) | Err(WriteError::Closed) => {}
        Err(WriteError::Problem(problem)) => return Err(problem),
    }
    // A drill that loses records has found something.
    Ok(match report.is_sound() {
        true => Exit::Done,
        false => Exit::Failed,
    })
}
