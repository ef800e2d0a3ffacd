use std::cell::Cell;
use std::time::Duration;

use klamm_client::{Admin, TopicSelection};
use tokio::time::sleep;

use crate::args::Format;
use crate::connect::{Target, client_problem};
use crate::duration::Shown;
use crate::errors::Problem;
use crate::exit::Exit;
use crate::interrupt::{Interrupt, Interrupted};
use crate::metadata::{Elr, cluster};
use crate::output::{Output, WriteError};

use super::args::{Filter, LeadersArgs};
use super::frame::Frame;
use super::report::render;
use super::snapshot::Snapshot;

/// Runs `klamm leaders`.
pub(crate) fn run(args: &LeadersArgs, out: &Output) -> Result<Exit, Problem> {
    let target = Target::new(&args.connection, out)?;
    if target.is_controllers() {
        return Err(
            Problem::misuse("klamm leaders does not work with controllers")
                .because("controllers serve no metadata, which says who leads now")
                .next("use --bootstrap-server with a broker"),
        );
    }
    crate::block_on(leaders(args, &target, out))
}

async fn leaders(args: &LeadersArgs, target: &Target, out: &Output) -> Result<Exit, Problem> {
    let mut interrupt = Interrupt::new();
    let interrupted = |by| Problem::interrupted(by, "nothing was shown");
    let admin = interrupt
        .race(target.connect())
        .await
        .map_err(interrupted)??;
    let view = View {
        admin: &admin,
        filter: args.filter(),
        partitions: args.lists_partitions(),
        format: args.output,
        out,
        warned: Cell::new(false),
    };
    let first = interrupt.race(view.look()).await.map_err(interrupted)??;
    match args.watch {
        None => match out.results(&first) {
            Ok(()) | Err(WriteError::Closed) => Ok(Exit::Done),
            Err(WriteError::Problem(problem)) => Err(problem),
        },
        Some(interval) => match view.watch(first, interval, &mut interrupt).await {
            Ok(Interrupted(signal)) => Ok(Exit::Interrupted(signal)),
            Err(WriteError::Closed) => Ok(Exit::Done),
            Err(WriteError::Problem(problem)) => Err(problem),
        },
    }
}

/// What to show, and how.
struct View<'a> {
    admin: &'a Admin,
    filter: Filter,
    partitions: bool,
    format: Format,
    out: &'a Output,
    /// Whether it was said what the filter names in vain.
    warned: Cell<bool>,
}

impl View<'_> {
    /// Asks the cluster, and gives the answer its form.
    async fn look(&self) -> Result<String, Problem> {
        let names: Option<Vec<&str>> = self
            .filter
            .topics
            .iter()
            .map(|topic| topic.name())
            .collect();
        let topics = match names {
            Some(names) if !names.is_empty() => {
                TopicSelection::named(names.into_iter().map(str::to_owned))
            }
            _ => TopicSelection::All,
        };
        let elr = if self.partitions {
            Elr::Wanted
        } else {
            Elr::NotWanted
        };
        let cluster = cluster(self.admin, &topics, elr)
            .await
            .map_err(|error| client_problem("the cluster could not be asked who leads", &error))?;
        if !self.warned.replace(true) {
            for stranger in self.filter.strangers(&cluster) {
                self.out.warn(&stranger);
            }
        }
        let snapshot = Snapshot::new(cluster, &self.filter);
        Ok(render(
            &snapshot,
            self.partitions,
            self.format,
            self.out.look(),
        ))
    }

    /// Shows it again and again until it is told to end.
    async fn watch(
        &self,
        first: String,
        interval: Duration,
        interrupt: &mut Interrupt,
    ) -> Result<Interrupted, WriteError> {
        let mut frame = Frame::new(self.out, self.format);
        let caption = format!("klamm leaders, every {}; Ctrl-C ends it", Shown(interval));
        let mut text = Ok(first);
        loop {
            match &text {
                Ok(text) => frame.show(&caption, text)?,
                Err(problem) => frame.trouble(&caption, problem)?,
            }
            let next = async {
                sleep(interval).await;
                self.look().await
            };
            match interrupt.race(next).await {
                Ok(next) => text = next,
                Err(interrupted) => {
                    frame.end()?;
                    return Ok(interrupted);
                }
            }
        }
    }
}
