use std::collections::BTreeMap;
use std::time::Duration;

use klamm_client::{
    Admin, ClientError, ElectLeadersError, ElectLeadersOptions, ElectionScope, ErrorCode,
    MAX_ELECTIONS_PER_REQUEST, PartitionDescription, PartitionError, TopicPartition,
};
use tokio::time::{Instant, sleep, timeout};

use crate::cluster::Cluster;
use crate::connect::{Target, client_problem};
use crate::errors::Problem;
use crate::interrupt::{Interrupt, Interrupted};
use crate::output::Output;

use super::advice::advice_for_code;
use super::args::ElectionType;
use super::outcome::{Failure, Outcome};
use super::plan::Plan;
use super::progress::Progress;
use super::request::Request;
use super::run::look;

/// How long brokers get to learn of the elections, before results show the leaders as they are.
const SETTLE: Duration = Duration::from_secs(3);

/// How long after the first look the second one comes, and the longest time between two. Most
/// elections are known within a few milliseconds; a broker with thousands of changes to make takes
/// its time, and must not be asked all the while.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// How long a person who pressed Ctrl-C waits for the leaders as they are.
const LAST_LOOK: Duration = Duration::from_secs(1);

/// An election under way.
pub(super) struct Election<'a> {
    target: &'a Target,
    admin: &'a Admin,
    request: &'a Request,
    out: &'a Output,
    pub(super) results: BTreeMap<TopicPartition, Outcome>,
    /// What ended it early.
    pub(super) problem: Option<Problem>,
    pub(super) interrupted: Option<Interrupted>,
}

impl<'a> Election<'a> {
    /// An election that has not begun. `admin` is connected to `target`.
    pub(super) fn new(
        target: &'a Target,
        admin: &'a Admin,
        request: &'a Request,
        out: &'a Output,
    ) -> Self {
        Self {
            target,
            admin,
            request,
            out,
            results: BTreeMap::new(),
            problem: None,
            interrupted: None,
        }
    }

    /// `planned` are all partitions that the plan is about, as far as they are known.
    pub(super) async fn carry_out(
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
            timeout: Some(self.target.timeout()),
        };
        let by_name = matches!(scope, ElectionScope::Partitions(_));
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
                self.record(result.stop());
                self.stopped(asked, by_name);
            }
        }
    }

    /// What a call that was stopped leaves open: one request was under way; where partitions go by
    /// name, those that come after it were not asked for.
    fn stopped(&mut self, asked: &[TopicPartition], by_name: bool) {
        let mut open: Vec<_> = asked
            .iter()
            .filter(|tp| !self.is_known(tp))
            .cloned()
            .collect();
        open.sort();
        open.dedup();
        let in_request = if by_name {
            open.len().min(MAX_ELECTIONS_PER_REQUEST)
        } else {
            open.len()
        };
        let (unknown, not_asked) = open.split_at(in_request);
        self.rest(unknown, &Failure::unknown());
        self.rest(not_asked, &Failure::not_asked());
    }

    fn is_known(&self, partition: &TopicPartition) -> bool {
        self.results.contains_key(partition)
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
    pub(super) fn leave_no_gaps(&mut self, planned: &[TopicPartition]) {
        if !self.results.is_empty() && (self.interrupted.is_some() || self.problem.is_some()) {
            self.rest(planned, &Failure::not_asked());
        }
    }

    /// Who leads afterwards, once brokers know of the elections, or as far as they do when the time
    /// is over.
    pub(super) async fn look_after(
        &self,
        before: &Cluster,
        interrupt: &mut Interrupt,
    ) -> Option<Cluster> {
        if self.interrupted.is_some() {
            // A broker answers in order: on the old connection the election's answer comes first.
            let look = async {
                let admin = self.target.connect().await.ok()?;
                look(&admin, &self.request.scope).await.ok()
            };
            return timeout(LAST_LOOK, look).await.ok().flatten();
        }
        if self.changed_nothing(before) {
            return Some(before.clone());
        }
        let until = Instant::now() + SETTLE;
        let mut wait = FIRST_PAUSE;
        loop {
            let start = Instant::now();
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
            let took = start.elapsed();
            if Instant::now() + wait >= until || self.is_settled(before, &after) {
                return Some(after);
            }
            if interrupt.race(sleep(wait)).await.is_err() {
                return Some(after);
            }
            // A look that takes long is a large one: it is not taken more than half of the time.
            wait = (wait * 2).min(LONGEST_PAUSE).max(took);
        }
    }

    /// Whether every partition is led as it was: none needed an election, and the preferred leaders
    /// were seen to lead just before.
    fn changed_nothing(&self, before: &Cluster) -> bool {
        self.results.iter().all(|(tp, outcome)| {
            *outcome == Outcome::NotNeeded
                && before
                    .partitions
                    .get(tp)
                    .is_some_and(PartitionDescription::is_led_by_preferred)
        })
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
