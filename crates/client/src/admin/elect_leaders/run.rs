use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use klamm_net::ServerAddress;
use klamm_protocol::messages::elect_leaders::{
    ElectLeadersRequest, ElectLeadersResponse, TopicPartitions,
};
use klamm_protocol::{ErrorCode, PartitionIndex, Request};

use super::{ElectLeadersError, ElectionScope, ElectionType, MAX_ELECTIONS_PER_REQUEST};
use crate::admin::topics::{TopicSelection, metadata};
use crate::call::{Call, Effect, Verdict};
use crate::client::{Client, Route};
use crate::error::{PartitionError, is_authorization};
use crate::retry::Deadline;
use crate::types::{TopicPartition, by_topic};
use crate::{Bootstrap, ClientError};

/// How often the partitions that need an election are looked up, while the controller still refuses
/// to elect all at once: the broker that is asked may be behind.
const MAX_LOOKUPS: usize = 3;

/// What a run has decided so far, for whoever stops it.
#[derive(Clone, Debug, Default)]
pub(super) struct Decided(Arc<Mutex<BTreeMap<TopicPartition, Result<(), PartitionError>>>>);

impl Decided {
    pub(super) fn lock(
        &self,
    ) -> MutexGuard<'_, BTreeMap<TopicPartition, Result<(), PartitionError>>> {
        // Nothing panics while it holds this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An election under way.
pub(super) struct Run {
    client: Client,
    election: ElectionType,
    deadline: Deadline,
    decided: Decided,
}

impl Run {
    pub(super) fn new(
        client: Client,
        election: ElectionType,
        deadline: Deadline,
        decided: Decided,
    ) -> Self {
        Self {
            client,
            election,
            deadline,
            decided,
        }
    }

    pub(super) async fn all(
        self,
        scope: ElectionScope,
    ) -> Result<BTreeMap<TopicPartition, Result<(), PartitionError>>, ElectLeadersError> {
        let ended = match scope {
            ElectionScope::Partitions(partitions) => self.named(partitions).await,
            ElectionScope::All => self.every().await,
        };
        let decided = self.decided.lock().clone();
        match ended {
            Ok(()) => Ok(decided),
            Err(End::NotAuthorized { server, code }) if decided.is_empty() => {
                Err(ElectLeadersError::NotAuthorized { server, code })
            }
            // The permission was taken away between two requests: what the first elected stands.
            Err(End::NotAuthorized { server, code }) => Err(ElectLeadersError::Call {
                cause: ClientError::from_answer(ElectLeadersRequest::KEY, &server, code, None),
                decided,
            }),
            Err(End::TooManyPartitions { server }) => {
                Err(ElectLeadersError::TooManyPartitions { server })
            }
            Err(End::Failed(cause)) => Err(ElectLeadersError::Call { cause, decided }),
        }
    }

    /// Asks for all partitions at once; where that is refused since they are too many, for each
    /// that needs it by name, and then for all again, in case a broker did not know of some.
    async fn every(&self) -> Result<(), End> {
        let mut ended = self.request(None).await;
        for _ in 0..MAX_LOOKUPS {
            match ended {
                Err(End::Failed(error)) if is_too_large(&error) => self.looked_up(error).await?,
                ended => return ended,
            }
            ended = self.request(None).await;
        }
        ended
    }

    /// Elects every partition that needs it, by name.
    async fn looked_up(&self, refusal: ClientError) -> Result<(), End> {
        if let (Bootstrap::Controllers(_), ClientError::Server { server, .. }) =
            (&self.client.config().bootstrap, refusal)
        {
            return Err(End::TooManyPartitions { server });
        }
        let known = metadata(&self.client, &TopicSelection::All, self.deadline).await;
        let mut partitions = Vec::new();
        let known = known.map_err(End::Failed)?;
        for topic in known.topics.into_values().flatten() {
            let needing = topic
                .topic_partitions()
                .filter(|(_, known)| self.election.is_for(known));
            partitions.extend(needing.map(|(partition, _)| partition));
        }
        self.named(partitions).await?;
        // As in an answer for all partitions.
        self.decided
            .lock()
            .retain(|_, result| !matches!(result, Err(error) if error.is_election_not_needed()));
        Ok(())
    }

    async fn named(&self, partitions: Vec<TopicPartition>) -> Result<(), End> {
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

    async fn request(&self, partitions: Option<&[TopicPartition]>) -> Result<(), End> {
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
        let mut known = self.decided.lock();
        let ended = answer.map_err(End::Failed).and_then(|answer| {
            let undecided = ErrorCode::REQUEST_TIMED_OUT;
            let decided = results(&answer.response)
                .filter(|(_, result)| !matches!(result, Err(error) if error.code == undecided));
            let code = ErrorCode(answer.response.error_code);
            let lifted = lifted_authorization(&answer.response);
            match lifted.unwrap_or(code) {
                ErrorCode::NONE => {
                    known.extend(results(&answer.response));
                    fill_in(&mut known, partitions);
                    Ok(())
                }
                code if is_authorization(code) => Err(End::NotAuthorized {
                    server: answer.server,
                    code,
                }),
                code => {
                    if code == undecided {
                        known.extend(decided);
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
        known.extend(elected.into_iter().map(|partition| (partition, Ok(()))));
        ended
    }
}

/// Names each partition that was asked for and that the answer leaves out.
fn fill_in(
    known: &mut BTreeMap<TopicPartition, Result<(), PartitionError>>,
    partitions: Option<&[TopicPartition]>,
) {
    for partition in partitions.unwrap_or_default() {
        if !known.contains_key(partition) {
            known.insert(partition.clone(), Err(PartitionError::left_out()));
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
