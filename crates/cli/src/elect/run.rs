use std::collections::BTreeSet;
use std::path::Path;

use klamm_client::{Admin, ClientError, TopicPartition, TopicSelection};

use crate::args::Format;
use crate::cluster::Cluster;
use crate::connect::{Target, client_problem};
use crate::errors::Problem;
use crate::exit::Exit;
use crate::input;
use crate::interrupt::{Interrupt, Interrupted};
use crate::metadata::{Elr, cluster};
use crate::output::{Output, WriteError};

use super::args::{ElectArgs, ElectionType};
use super::election::Election;
use super::file;
use super::plan::Plan;
use super::render;
use super::report::{Report, dry_run, report};
use super::request::{Request, Scope};

/// Runs `klamm elect`.
pub(crate) fn run(args: &ElectArgs, out: &Output) -> Result<Exit, Problem> {
    let mut request = Request::new(args)?;
    let target = Target::new(&args.connection, out)?;
    if target.is_controllers() {
        request.check_for_controllers()?;
    }
    if let Scope::File(path) = &request.scope {
        request.scope = Scope::Listed(read_list(path.as_deref())?);
    }
    crate::block_on(async {
        let mut interrupt = Interrupt::new();
        if request.election == ElectionType::Unclean && !request.dry_run {
            confirm_unclean(args.yes, &mut interrupt, out).await?;
        }
        elect(&request, &target, args.output, interrupt, out).await
    })
}

fn read_list(path: Option<&Path>) -> Result<Vec<TopicPartition>, Problem> {
    let (name, bytes) = match path {
        Some(path) => (path.display().to_string(), input::file(path)),
        None => ("standard input".to_owned(), input::standard()),
    };
    let text = bytes.and_then(input::text).map_err(|error| {
        Problem::misuse(format!("{name} cannot be read"))
            .because(error.to_string())
            .next("check what is given with --path-to-json-file")
    })?;
    file::parse(&name, &text)
}

/// Says what an unclean election risks, and asks where there is a person to ask. A script goes on:
/// Apache's tool does not ask either.
async fn confirm_unclean(
    yes: bool,
    interrupt: &mut Interrupt,
    out: &Output,
) -> Result<(), Problem> {
    out.warn(
        "an unclean election may lose records for good: the new leader need not have all that was \
         acknowledged, and the other replicas cut theirs to match it. Only partitions without a \
         leader are touched.",
    );
    if yes || !out.can_ask() {
        return Ok(());
    }
    let answer = out.confirm("Elect leaders all the same?");
    let answer = interrupt.race(answer).await.map_err(|by| {
        // The error belongs on a line of its own, not behind the question.
        out.talk("");
        Problem::interrupted(by, "nothing was elected")
    })?;
    if answer {
        Ok(())
    } else {
        Err(Problem::failure("nothing was elected")
            .because("the question was not answered with yes"))
    }
}

async fn elect(
    request: &Request,
    target: &Target,
    format: Format,
    mut interrupt: Interrupt,
    out: &Output,
) -> Result<Exit, Problem> {
    let interrupted = |by| Problem::interrupted(by, "nothing was elected");
    let admin = interrupt
        .race(target.connect())
        .await
        .map_err(interrupted)??;
    let before = if target.is_controllers() {
        None
    } else {
        let looked = interrupt
            .race(look(&admin, &request.scope))
            .await
            .map_err(interrupted)?;
        Some(looked.map_err(|error| {
            client_problem("the cluster could not be asked who leads now", &error)
        })?)
    };
    let plan = Plan::new(request, before.as_ref())?;
    if let (true, Some(before)) = (request.dry_run, &before) {
        let waves = plan.waves.len();
        let report = dry_run(
            request,
            &plan.partitions_or_candidates(request.election, before),
            before,
        );
        show(&report, format, out)?;
        if waves > 1 {
            out.talk(&format!("It would take {waves} waves."));
        }
        return Ok(Exit::Done);
    }
    let mut election = Election::new(target, &admin, request, out);
    let planned = match &before {
        Some(before) => plan.partitions_or_candidates(request.election, before),
        None => plan.waves.concat(),
    };
    election.carry_out(&plan, &planned, &mut interrupt).await;
    election.leave_no_gaps(&planned);
    if election.results.is_empty() {
        if let Some(by) = election.interrupted {
            return Err(Problem::interrupted(
                by,
                "the election was asked for, and its answer did not come: leaders may have changed",
            ));
        }
        if let Some(problem) = election.problem {
            return Err(problem);
        }
    }
    let after = match &before {
        Some(before) => election.look_after(before, &mut interrupt).await,
        None => None,
    };
    let report = report(
        request,
        election.results,
        before.as_ref(),
        after.as_ref(),
        election.interrupted.is_some(),
    );
    let shown = show(&report, format, out);
    if let Some(problem) = &election.problem {
        out.problem(problem);
    }
    shown?;
    Ok(match election.interrupted {
        Some(Interrupted(signal)) => Exit::Interrupted(signal),
        None if election.problem.is_some() || report.counts().failed > 0 => Exit::Failed,
        None => Exit::Done,
    })
}

/// The part of the cluster that a request is about.
pub(super) async fn look(admin: &Admin, scope: &Scope) -> Result<Cluster, ClientError> {
    let topics = match scope {
        Scope::Listed(partitions) => {
            let names: BTreeSet<_> = partitions.iter().map(|tp| tp.topic.clone()).collect();
            TopicSelection::named(names)
        }
        Scope::All | Scope::Selected(_) | Scope::File(_) => TopicSelection::All,
    };
    let mut cluster = cluster(admin, &topics, Elr::NotWanted).await?;
    if let Scope::Selected(selection) = scope {
        cluster
            .partitions
            .retain(|tp, _| selection.names(&tp.topic));
    }
    Ok(cluster)
}

/// Results to standard output. Where those are for machines, what people should know goes to
/// standard error.
fn show(report: &Report, format: Format, out: &Output) -> Result<(), Problem> {
    let shown = match out.results(&render::results(report, format, out.look())) {
        Ok(()) | Err(WriteError::Closed) => Ok(()),
        Err(WriteError::Problem(problem)) => Err(problem),
    };
    // What was done must not be lost with results that cannot be written.
    if format != Format::Table || shown.is_err() {
        let look = out.talk_look();
        let advice = render::failures(report, look);
        out.talk(format!("{advice}{}", render::summary(report, look)).trim_end());
    }
    if report.brokers.is_none() && format == Format::Table {
        out.talk("Controllers serve no metadata: leaders before and after are not known.");
    }
    shown
}
