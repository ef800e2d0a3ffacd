//! `klamm drill`: a failover, rehearsed under a load of records.

mod args;
mod audit;
mod elsewhere;
mod history;
mod live;
mod load;
mod news;
mod page;
mod report;
mod seen;
mod spread;
mod story;
mod talk;
mod topic;
mod watch;

pub(crate) use args::DrillArgs;

use crate::connect::Target;
use crate::errors::Problem;
use crate::exit::Exit;
use crate::interrupt::Interrupted;
use crate::node;
use crate::output::{Output, WriteError};
use history::History;
use load::Sent;
use page::{PageFile, Story};
use report::Report;

/// What a drill has shown.
#[derive(Debug)]
struct Drilled {
    report: Report,
    history: History,
    /// By partition.
    sent: Vec<Vec<Sent>>,
}

pub(crate) fn run(args: &DrillArgs, out: &Output) -> Result<Exit, Problem> {
    args.check()?;
    let target = match args.is_elsewhere() {
        true => Some(target(args, out)?),
        false => None,
    };
    let page = args.html.as_deref().map(PageFile::open).transpose()?;
    node::log_lines(args.log_level);
    let drilled = match &target {
        Some(target) => node::run(elsewhere::told(args, target, out))?,
        None => node::run(story::told(args, out))?,
    };
    let drilled = match drilled {
        Ok(drilled) => drilled,
        Err(Interrupted(signal)) => return Ok(Exit::Interrupted(signal)),
    };
    let Drilled {
        report,
        history,
        sent,
    } = &drilled;
    match out.results(&report.render(args.output)) {
        Ok(()) | Err(WriteError::Closed) => {}
        Err(WriteError::Problem(problem)) => return Err(problem),
    }
    if let Some(file) = page {
        file.write(&page::page(Story {
            report,
            history,
            sent,
        }))?;
    }
    // A drill that loses records has found something.
    Ok(match report.is_sound() {
        true => Exit::Done,
        false => Exit::Failed,
    })
}

fn target(args: &DrillArgs, out: &Output) -> Result<Target, Problem> {
    let target = Target::new(&args.connection, out)?;
    if target.is_controllers() {
        return Err(
            Problem::misuse("klamm drill does not work with controllers")
                .because("controllers take no records, and do not say who leads")
                .next("use --bootstrap-server with a broker"),
        );
    }
    Ok(target)
}
