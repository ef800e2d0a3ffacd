mod run;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use klamm_net::ServerAddress;
use klamm_protocol::ErrorCode;
use thiserror::Error;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::{Admin, PartitionDescription};
use crate::ClientError;
use crate::error::PartitionError;
use crate::types::TopicPartition;
use run::{Decided, Run};

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
    decided: Decided,
    task: AbortHandle,
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

    /// Sends no further request, and says what was decided so far.
    ///
    /// A request whose answer has not come may be carried out all the same. Requests name partitions
    /// in order, at most [`MAX_ELECTIONS_PER_REQUEST`] each, one after the other: no others than
    /// the first so many that are not in this result can have been asked for.
    pub fn stop(&self) -> BTreeMap<TopicPartition, Result<(), PartitionError>> {
        self.task.abort();
        self.decided.lock().clone()
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
        let decided = Decided::default();
        let run = Run::new(
            self.client.clone(),
            election,
            self.deadline(options.timeout),
            decided.clone(),
        );
        let task = tokio::spawn(async move {
            // Nobody may be waiting.
            let _ = sender.send(Some(Arc::new(Outcome(run.all(scope).await))));
        });
        ElectLeadersResult {
            outcome,
            decided,
            task: task.abort_handle(),
        }
    }
}
