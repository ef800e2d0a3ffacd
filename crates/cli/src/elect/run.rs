use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use klamm_client::{
    Admin, ClientError, ElectLeadersError, ElectLeadersOptions, ElectionScope, ErrorCode,
    PartitionError, TopicPartition, TopicSelection,
};
use tokio::time::{Instant, sleep, timeout};

use crate::args::Format;
use crate::cluster::Cluster;
use crate::connect::{Target, client_problem};
use crate::errors::Problem;
use crate::exit::Exit;
use crate::input;
use crate::interrupt::{Interrupt, Interrupted};
use crate::metadata::{Elr, cluster};
use crate::output::{Output, WriteError};

use super::advice::advice_for_code;
use super::args::{ElectArgs, ElectionType};
use super::file;
use super::outcome::{Failure, Outcome};
use super::plan::Plan;
use super::progress::Progress;
use super::render;
use super::report::{Report, dry_run, report};
use super::request::{Request, Scope};

/// How long brokers get to learn of the elections, before results show the leaders as they are.
const SETTLE: Duration = Duration::from_secs(3);

/// How long a person who pressed Ctrl-C waits for the leaders as they are.
const LAST_LOOK: Duration = Duration::from_secs(1);

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
    if request.election == ElectionType::Unclean && !request.dry_run {
        confirm_unclean(args.yes, out)?;
    }
    crate::block_on(elect(&request, &target, args.output, out))
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

/// Says what an unclean election risks, and asks where there is a person to ask. A script goes on: Apache's tool does
/// not ask either.
fn confirm_unclean(yes: bool, out: &Output) -> Result<(), Problem> {
    out.warn(
        "an unclean election may lose records for good: the new leader need not have all that was \
         acknowledged, and the other replicas cut theirs to match it. Only partitions without a leader are \
         touched.",
    );
    if yes || !out.can_ask() || out.confirm("Elect leaders all the same?") {
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
    out: &Output,
) -> Result<Exit, Problem> {
    let mut interrupt = Interrupt::new();
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
    let mut election = Election {
        admin: &admin,
        request,
        out,
        timeout: target.timeout(),
        results: BTreeMap::new(),
        problem: None,
        interrupted: None,
    };
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
async fn look(admin: &Admin, scope: &Scope) -> Result<Cluster, ClientError> {
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

/// Results to standard output. Where those are for machines, what people should know goes to standard error.
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

/// An election under way.
struct Election<'a> {
    admin: &'a Admin,
    request: &'a Request,
    out: &'a Output,
    /// For each wave.
    timeout: Duration,
    results: BTreeMap<TopicPartition, Outcome>,
    /// What ended it early.
    problem: Option<Problem>,
    interrupted: Option<Interrupted>,
}

impl Election<'_> {
    /// `planned` are all partitions that the plan is about, as far as they are known.
    async fn carry_out(
        &mut self,
        plan: &Plan,
        planned: &[TopicPartition],
        interrupt: &mut Interrupt,
    ) {
        if plan.is_all && plan.waves.is_empty() {
            self.wave(ElectionScope::All, planned, interrupt).await;
            return;
        }
        let pause = self
            .request
            .waves
            .map_or(Duration::ZERO, |waves| waves.pause);
        let progress = Progress::new(self.out, plan.waves.len(), plan.count());
        for (index, wave) in plan.waves.iter().enumerate() {
            if index > 0 {
                progress.pauses(index, pause);
                if let Err(interrupted) = interrupt.race(sleep(pause)).await {
                    self.interrupted = Some(interrupted);
                    break;
                }
            }
            progress.begins(index + 1);
            self.wave(ElectionScope::Partitions(wave.clone()), wave, interrupt)
                .await;
            if self.interrupted.is_some() || self.problem.is_some() {
                break;
            }
            let failed = |tp: &&TopicPartition| {
                self.results
                    .get(*tp)
                    .is_some_and(|outcome| outcome.failure().is_some())
            };
            progress.ended(index + 1, wave.len(), wave.iter().filter(failed).count());
        }
        progress.clear();
    }

    async fn wave(
        &mut self,
        scope: ElectionScope,
        asked: &[TopicPartition],
        interrupt: &mut Interrupt,
    ) {
        let election = match self.request.election {
            ElectionType::Preferred => klamm_client::ElectionType::Preferred,
            ElectionType::Unclean => klamm_client::ElectionType::Unclean,
        };
        let options = ElectLeadersOptions {
            timeout: Some(self.timeout),
        };
        let result = self.admin.elect_leaders(election, scope, options);
        match interrupt.race(result.partitions()).await {
            Ok(Ok(decided)) => self.record(decided),
            Ok(Err(ElectLeadersError::Call { cause, decided })) => {
                self.record(decided);
                self.call_failed(&cause, asked);
            }
            Ok(Err(error)) => {
                let problem = Problem::failure(self.ended_early()).because(error.to_string());
                self.problem = Some(match error {
                    ElectLeadersError::NotAuthorized { code, .. } => {
                        problem.next(advice_for_code(code.0))
                    }
                    _ => problem,
                });
            }
            Err(interrupted) => {
                self.interrupted = Some(interrupted);
                self.rest(asked, &Failure::unknown());
            }
        }
    }

    fn record(&mut self, decided: BTreeMap<TopicPartition, Result<(), PartitionError>>) {
        self.results
            .extend(decided.into_iter().map(|(tp, result)| (tp, result.into())));
    }

    /// What a call that failed as a whole means for the partitions that it was to elect.
    fn call_failed(&mut self, cause: &ClientError, asked: &[TopicPartition]) {
        let failure = match cause {
            ClientError::Server { code, message, .. } if *code == ErrorCode::REQUEST_TIMED_OUT => {
                Some(Failure::new(*code, message.as_deref()))
            }
            ClientError::GaveUp {
                outcome_unknown: true,
                ..
            }
            | ClientError::OutcomeUnknown { .. }
            | ClientError::Stopped => Some(Failure::unknown()),
            _ => None,
        };
        let what = match &failure {
            Some(_) => "the election was not answered in full",
            None => self.ended_early(),
        };
        let problem = client_problem(what, cause);
        self.problem = Some(match cause {
            // With a failure the advice stands with its partitions.
            ClientError::Server { code, .. } if failure.is_none() => {
                problem.next(advice_for_code(code.0))
            }
            _ => problem,
        });
        if let Some(failure) = failure {
            self.rest(asked, &failure);
        }
    }

    fn ended_early(&self) -> &'static str {
        if self.results.is_empty() {
            "no leader was elected"
        } else {
            "the election ended early"
        }
    }

    /// Gives a failure to the partitions of a wave that have no result.
    fn rest(&mut self, asked: &[TopicPartition], failure: &Failure) {
        for tp in asked {
            self.results
                .entry(tp.clone())
                .or_insert_with(|| Outcome::Failed(failure.clone()));
        }
    }

    /// Names what was planned and never asked for, where anything was.
    fn leave_no_gaps(&mut self, planned: &[TopicPartition]) {
        if !self.results.is_empty() && (self.interrupted.is_some() || self.problem.is_some()) {
            self.rest(planned, &Failure::not_asked());
        }
    }

    /// Who leads afterwards, once brokers know of the elections, or as far as they do when the time is over.
    async fn look_after(&self, before: &Cluster, interrupt: &mut Interrupt) -> Option<Cluster> {
        if self.interrupted.is_some() {
            let look = timeout(LAST_LOOK, look(self.admin, &self.request.scope));
            return look.await.ok().and_then(Result::ok);
        }
        let until = Instant::now() + SETTLE;
        let mut wait = Duration::from_millis(10);
        loop {
            let look = interrupt.race(look(self.admin, &self.request.scope)).await;
            let after = match look {
                Err(_) => return None,
                Ok(Ok(after)) => after,
                Ok(Err(error)) => {
                    let problem =
                        client_problem("the leaders after the election are not known", &error);
                    self.out.problem(&problem);
                    return None;
                }
            };
            if Instant::now() + wait >= until || self.is_settled(before, &after) {
                return Some(after);
            }
            if interrupt.race(sleep(wait)).await.is_err() {
                return Some(after);
            }
            wait = (wait * 2).min(Duration::from_millis(500));
        }
    }

    /// Whether metadata shows every election that was carried out.
    fn is_settled(&self, before: &Cluster, after: &Cluster) -> bool {
        let elected = self
            .results
            .iter()
            .filter(|(_, outcome)| **outcome == Outcome::Elected);
        elected.into_iter().all(|(tp, _)| {
            match (before.partitions.get(tp), after.partitions.get(tp)) {
                (Some(before), Some(after)) => match (before.leader_epoch, after.leader_epoch) {
                    (Some(old), Some(new)) => new > old,
                    _ => before.leader != after.leader,
                },
                _ => true,
            }
        })
    }
}
