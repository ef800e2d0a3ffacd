use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use klamm_net::ServerAddress;
use klamm_protocol::messages::elect_leaders::{
    ElectLeadersRequest, ElectLeadersResponse, TopicPartitions,
};
use klamm_protocol::{ErrorCode, PartitionIndex, Request};
use thiserror::Error;
use tokio::sync::watch;

use super::topics::{TopicSelection, describe_topics};
use super::{Admin, PartitionDescription};
use crate::call::{Call, Effect, Verdict};
use crate::client::{Client, Route};
use crate::error::{PartitionError, is_authorization};
use crate::retry::Deadline;
use crate::types::{TopicPartition, by_topic};
use crate::{Bootstrap, ClientError};

/// The most partitions that one request names.
///
/// Apache Kafka's controller refuses an operation of more than 10,000 changes as a whole; half of
/// that leaves room for changes that come with an election.
pub const MAX_ELECTIONS_PER_REQUEST: usize = 5_000;

/// Which replica is to lead (KIP-460).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElectionType {
    /// The preferred leader, the first replica of the assignment, if it is in sync.
    Preferred,
    /// Any live replica, where no replica in sync is live: records that it lacks are lost.
    Unclean,
}

impl ElectionType {
    fn wire(self) -> i8 {
        match self {
            Self::Preferred => 0,
            Self::Unclean => 1,
        }
    }

    /// Whether a partition is one that an election of this type is for.
    fn is_for(self, partition: &PartitionDescription) -> bool {
        match self {
            Self::Preferred => partition.leader != partition.preferred_leader(),
            Self::Unclean => partition.leader.is_none(),
        }
    }
}

impl fmt::Display for ElectionType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Preferred => "preferred",
            Self::Unclean => "unclean",
        })
    }
}

/// The partitions that an election is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElectionScope {
    /// Every partition of the cluster. Those that need no election are left out of the result.
    All,
    /// These; naming one twice is the same as naming it once.
    Partitions(Vec<TopicPartition>),
}

/// Options of [`Admin::elect_leaders`].
#[derive(Clone, Debug, Default)]
pub struct ElectLeadersOptions {
    /// How long the call may take, `default_api_timeout` if `None`.
    pub timeout: Option<Duration>,
}

/// Why an election failed, as a whole or for one partition.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ElectLeadersError {
    /// This client may not elect leaders: that takes ALTER on the cluster. Nothing was elected.
    #[error(
        "{server}: not authorized to elect leaders ({code}); \
         it takes the ALTER permission on the cluster"
    )]
    NotAuthorized {
        /// The server.
        server: ServerAddress,
        /// The authorization error code, CLUSTER_AUTHORIZATION_FAILED.
        code: ErrorCode,
    },
    /// The controller refuses to elect so many partitions at once, and without brokers there is
    /// nobody to ask which they are. Nothing was elected.
    #[error(
        "{server}: the controller refuses to elect all partitions of a cluster this large at once; \
         connect to brokers, which know the partitions, or name them"
    )]
    TooManyPartitions {
        /// The server.
        server: ServerAddress,
    },
    /// One partition's election failed.
    #[error("{partition}: {error}")]
    Partition {
        /// The partition.
        partition: TopicPartition,
        /// What the server says of it.
        error: PartitionError,
    },
    /// The partition is not in the result. Where all partitions were asked for, it needs no
    /// election or does not exist.
    #[error("{0} is not in the result: it was not asked for, needs no election, or does not exist")]
    NotInResult(TopicPartition),
    /// The call failed.
    #[error("{cause}{}", decided_text(.decided))]
    Call {
        /// Why.
        cause: ClientError,
        /// What was decided before. It stands.
        decided: BTreeMap<TopicPartition, Result<(), PartitionError>>,
    },
}

impl ElectLeadersError {
    /// Whether the partition has the leader already that the election was to give it.
    pub fn is_election_not_needed(&self) -> bool {
        matches!(self, Self::Partition { error, .. } if error.is_election_not_needed())
    }
}

fn decided_text(decided: &BTreeMap<TopicPartition, Result<(), PartitionError>>) -> String {
    match decided.len() {
        0 => String::new(),
        1 => "; 1 partition was decided before".to_owned(),
        count => format!("; {count} partitions were decided before"),
    }
}

/// The result of [`Admin::elect_leaders`], which is under way or done. It may be awaited more than
/// once, for one partition, all, or as a map. Dropping it does not stop the election.
#[derive(Clone, Debug)]
pub struct ElectLeadersResult {
    outcome: watch::Receiver<Option<Arc<Outcome>>>,
}

#[derive(Debug)]
struct Outcome(Result<BTreeMap<TopicPartition, Result<(), PartitionError>>, ElectLeadersError>);

impl ElectLeadersResult {
    /// Waits for one partition's election.
    pub async fn partition(&self, partition: &TopicPartition) -> Result<(), ElectLeadersError> {
        match self
            .outcome()
            .await?
            .0
            .as_ref()
            .map_err(Clone::clone)?
            .get(partition)
        {
            None => Err(ElectLeadersError::NotInResult(partition.clone())),
            Some(result) => one(partition, result),
        }
    }

    /// Waits for all. The first partition in order that failed, one that needed no election
    /// included, is the error.
    pub async fn all(&self) -> Result<(), ElectLeadersError> {
        let outcome = self.outcome().await?;
        let results = outcome.0.as_ref().map_err(Clone::clone)?;
        results
            .iter()
            .try_for_each(|(partition, result)| one(partition, result))
    }

    /// Waits for all, and says what became of each. Where all partitions were asked for, those
    /// that need no election are left out.
    pub async fn partitions(
        &self,
    ) -> Result<BTreeMap<TopicPartition, Result<(), PartitionError>>, ElectLeadersError> {
        self.outcome().await?.0.clone()
    }

    async fn outcome(&self) -> Result<Arc<Outcome>, ElectLeadersError> {
        let mut outcome = self.outcome.clone();
        let stopped = || ElectLeadersError::Call {
            cause: ClientError::Stopped,
            decided: BTreeMap::new(),
        };
        let outcome = outcome
            .wait_for(Option::is_some)
            .await
            .map_err(|_| stopped())?;
        outcome.clone().ok_or_else(stopped)
    }
}

fn one(
    partition: &TopicPartition,
    result: &Result<(), PartitionError>,
) -> Result<(), ElectLeadersError> {
    result
        .clone()
        .map_err(|error| ElectLeadersError::Partition {
            partition: partition.clone(),
            error,
        })
}

impl Admin {
    /// Elects leaders (KIP-183, KIP-460). The election starts at once; must be called within a
    /// tokio runtime.
    ///
    /// Elections are asked for again after passing failures, until the deadline: a partition that
    /// an earlier request elected before its answer was lost is then one that needs no election.
    /// More than [`MAX_ELECTIONS_PER_REQUEST`] partitions are asked for in several requests, one
    /// after the other. Where a server refuses to elect all partitions at once, those that need an
    /// election are looked up and named.
    ///
    /// An unclean election is never sent to a server that only knows preferred ones (version 0).
    pub fn elect_leaders(
        &self,
        election: ElectionType,
        scope: ElectionScope,
        options: ElectLeadersOptions,
    ) -> ElectLeadersResult {
        let (sender, outcome) = watch::channel(None);
        let run = Run {
            client: self.client.clone(),
            election,
            deadline: self.deadline(options.timeout),
            results: BTreeMap::new(),
        };
        tokio::spawn(async move {
            // Nobody may be waiting.
            let _ = sender.send(Some(Arc::new(Outcome(run.all(scope).await))));
        });
        ElectLeadersResult { outcome }
    }
}

/// An election under way.
struct Run {
    client: Client,
    election: ElectionType,
    deadline: Deadline,
    results: BTreeMap<TopicPartition, Result<(), PartitionError>>,
}

impl Run {
    async fn all(
        mut self,
        scope: ElectionScope,
    ) -> Result<BTreeMap<TopicPartition, Result<(), PartitionError>>, ElectLeadersError> {
        let ended = match scope {
            ElectionScope::Partitions(partitions) => self.named(partitions).await,
            ElectionScope::All => match self.request(None).await {
                Err(End::Failed(error)) if is_too_large(&error) => self.looked_up(error).await,
                ended => ended,
            },
        };
        match ended {
            Ok(()) => Ok(self.results),
            Err(End::NotAuthorized { server, code }) => {
                Err(ElectLeadersError::NotAuthorized { server, code })
            }
            Err(End::TooManyPartitions { server }) => {
                Err(ElectLeadersError::TooManyPartitions { server })
            }
            Err(End::Failed(cause)) => Err(ElectLeadersError::Call {
                cause,
                decided: self.results,
            }),
        }
    }

    /// Elects every partition that needs it, by name.
    async fn looked_up(&mut self, refusal: ClientError) -> Result<(), End> {
        if let (Bootstrap::Controllers(_), ClientError::Server { server, .. }) =
            (&self.client.config().bootstrap, refusal)
        {
            return Err(End::TooManyPartitions { server });
        }
        let topics = describe_topics(&self.client, &TopicSelection::All, self.deadline).await;
        let mut partitions = Vec::new();
        for topic in topics.map_err(End::Failed)?.into_values().flatten() {
            let needing = topic
                .partitions
                .iter()
                .filter(|partition| self.election.is_for(partition));
            partitions.extend(
                needing.map(|partition| TopicPartition::new(topic.name.clone(), partition.index)),
            );
        }
        self.named(partitions).await?;
        // As in an answer for all partitions.
        self.results
            .retain(|_, result| !matches!(result, Err(error) if error.is_election_not_needed()));
        Ok(())
    }

    async fn named(&mut self, partitions: Vec<TopicPartition>) -> Result<(), End> {
        let partitions: Vec<_> = partitions
            .into_iter()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        if partitions.is_empty() {
            // An empty list is not a null one: nothing is elected. The server still authorizes.
            return self.request(Some(&[])).await;
        }
        for batch in partitions.chunks(MAX_ELECTIONS_PER_REQUEST) {
            self.request(Some(batch)).await?;
        }
        Ok(())
    }

    async fn request(&mut self, partitions: Option<&[TopicPartition]>) -> Result<(), End> {
        let mut call = Call::new(Route::Controller, Effect::Repeatable, self.deadline);
        if self.election == ElectionType::Unclean {
            call = call.needing(1, "an unclean election");
        }
        let election_type = self.election.wire();
        let topics = partitions.map(topics);
        // What an answer elected stays elected when the request is sent again for the rest.
        let mut elected = BTreeSet::new();
        let answer = call
            .make(
                &self.client,
                |_version, timeout_ms| ElectLeadersRequest {
                    election_type,
                    topic_partitions: topics.clone(),
                    timeout_ms,
                    ..Default::default()
                },
                |_version, response| {
                    elected.extend(
                        results(response)
                            .filter(|(_, result)| result.is_ok())
                            .map(|(p, _)| p),
                    );
                    verdict(response)
                },
            )
            .await;
        let ended = answer.map_err(End::Failed).and_then(|answer| {
            let undecided = ErrorCode::REQUEST_TIMED_OUT;
            let decided = results(&answer.response)
                .filter(|(_, result)| !matches!(result, Err(error) if error.code == undecided));
            let code = ErrorCode(answer.response.error_code);
            let lifted = lifted_authorization(&answer.response);
            match lifted.unwrap_or(code) {
                ErrorCode::NONE => {
                    self.results.extend(results(&answer.response));
                    self.fill_in(partitions);
                    Ok(())
                }
                code if is_authorization(code) => Err(End::NotAuthorized {
                    server: answer.server,
                    code,
                }),
                code => {
                    if code == undecided {
                        self.results.extend(decided);
                    }
                    let api = ElectLeadersRequest::KEY;
                    Err(End::Failed(ClientError::from_answer(
                        api,
                        &answer.server,
                        code,
                        None,
                    )))
                }
            }
        });
        self.results
            .extend(elected.into_iter().map(|partition| (partition, Ok(()))));
        ended
    }

    /// Names each partition that was asked for and that the answer leaves out.
    fn fill_in(&mut self, partitions: Option<&[TopicPartition]>) {
        for partition in partitions.unwrap_or_default() {
            if !self.results.contains_key(partition) {
                self.results
                    .insert(partition.clone(), Err(PartitionError::left_out()));
            }
        }
    }
}

/// Why a run ended early.
enum End {
    NotAuthorized {
        server: ServerAddress,
        code: ErrorCode,
    },
    TooManyPartitions {
        server: ServerAddress,
    },
    Failed(ClientError),
}

/// Whether the cluster may be larger than one operation of the controller can be.
fn is_too_large(error: &ClientError) -> bool {
    error.code() == Some(ErrorCode::POLICY_VIOLATION)
}

fn topics(partitions: &[TopicPartition]) -> Vec<TopicPartitions> {
    let topics = by_topic(
        partitions.iter().map(|partition| (partition, ())),
        |index, ()| index,
    );
    let topics = topics
        .into_iter()
        .map(|(topic, partitions)| TopicPartitions {
            topic,
            partitions: partitions.into_iter().collect(),
            ..Default::default()
        });
    topics.collect()
}

fn results(
    response: &ElectLeadersResponse,
) -> impl Iterator<Item = (TopicPartition, Result<(), PartitionError>)> + '_ {
    response.replica_election_results.iter().flat_map(|topic| {
        topic.partition_result.iter().map(|result| {
            let partition =
                TopicPartition::new(topic.topic.clone(), PartitionIndex(result.partition_id));
            (
                partition,
                PartitionError::check(result.error_code, result.error_message.clone()),
            )
        })
    })
}

fn codes(response: &ElectLeadersResponse) -> impl Iterator<Item = i16> + '_ {
    let topics = response.replica_election_results.iter();
    topics.flat_map(|topic| {
        topic
            .partition_result
            .iter()
            .map(|result| result.error_code)
    })
}

fn verdict(response: &ElectLeadersResponse) -> Verdict {
    match Verdict::of(response.error_code) {
        Verdict::Retry(code) => Verdict::Retry(code),
        Verdict::Take => Verdict::of_items(codes(response)),
    }
}

/// Version 0 has no code for the whole: a client without authorization finds it at each partition.
fn lifted_authorization(response: &ElectLeadersResponse) -> Option<ErrorCode> {
    if response.error_code != 0 {
        return None;
    }
    codes(response)
        .map(ErrorCode)
        .find(|code| *code == ErrorCode::CLUSTER_AUTHORIZATION_FAILED)
}
