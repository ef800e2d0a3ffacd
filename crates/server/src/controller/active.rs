use klamm_controller::{ControllerConfig, Decision, LeaderChange, Lost, Sessions, View};
use klamm_metadata::{ApplyError, CLUSTER_NAME, Image, Operation, Record, ResourceType};
use klamm_protocol::{ErrorCode, LeaderEpoch, Offset};
use klamm_raft::{AppendError, KRaftVersion, UpgradeError};
use thiserror::Error;

use super::pace::Pace;
use super::presence::Presence;
use super::refusals::Refusals;
use super::rounds::Rounds;
use crate::client::{Client, allows};
use crate::clock::Now;
use crate::metrics::Meters;
use crate::node::NodeInfo;
use crate::quorum::{BatchError, Quorum, Target, batches};

/// What a node has while it is the active controller.
#[derive(Debug)]
pub(crate) struct Lead {
    /// The epoch that it leads.
    pub(crate) epoch: LeaderEpoch,
    /// The cluster with all that was decided, committed or not.
    pub(crate) image: Image,
    /// When brokers were last heard of.
    pub(crate) sessions: Sessions,
    /// What is done from time to time.
    pub(crate) rounds: Rounds,
    /// When snapshots are made.
    pub(crate) pace: Pace,
    /// Brokers that were fenced since their connections are gone.
    pub(crate) lost: Lost,
    /// Registrations that were refused.
    pub(crate) refusals: Refusals,
    /// A record did not fit the image: it has to be made again.
    pub(crate) is_broken: bool,
    /// The end of the records that it began with; they are committed before anything else.
    pub(crate) begun_at: Option<Offset>,
}

/// The active controller, as requests see it.
#[derive(Debug)]
pub(crate) struct Active<'a> {
    pub(crate) lead: &'a mut Lead,
    pub(crate) quorum: &'a mut Quorum,
    pub(crate) presence: &'a mut Presence,
    pub(crate) meters: &'a mut Meters,
    pub(crate) node: &'a NodeInfo,
    pub(crate) now: Now,
    /// Who asked for what is done, unless the controller does it by itself.
    pub(crate) by: Option<&'a Client>,
}

/// An answer that waits until what it depends on is committed.
#[derive(Debug)]
#[must_use = "somebody waits for the answer"]
pub(crate) struct Pending<R> {
    /// The answer.
    pub(crate) response: R,
    /// It may go out when the high watermark is here.
    pub(crate) at: Offset,
}

impl<R> Pending<R> {
    pub(crate) fn map<S>(self, change: impl FnOnce(R) -> S) -> Pending<S> {
        Pending {
            response: change(self.response),
            at: self.at,
        }
    }
}

/// What was decided did not get into the log.
#[derive(Debug, Error)]
pub(crate) enum CommitError {
    /// The records cannot be written.
    #[error("records cannot be written: {0}")]
    Batch(#[from] BatchError),
    /// A record does not fit the metadata: the handler that made it is to blame.
    #[error("a record does not fit the metadata: {0}")]
    Apply(#[from] ApplyError),
    /// The quorum takes no records.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The log has no `metadata.version` yet.
    #[error("the metadata log is empty")]
    NotBegun,
    /// The system gives no random bytes for what nobody may guess.
    #[error("the system gives no random bytes: {0}")]
    Chance(std::io::Error),
}

impl From<&CommitError> for ErrorCode {
    fn from(error: &CommitError) -> Self {
        match error {
            CommitError::Append(AppendError::NotLeader(_)) | CommitError::NotBegun => {
                Self::NOT_CONTROLLER
            }
            CommitError::Batch(BatchError::NoTransactions { .. }) => Self::POLICY_VIOLATION,
            CommitError::Batch(_)
            | CommitError::Apply(_)
            | CommitError::Append(_)
            | CommitError::Chance(_) => Self::UNKNOWN_SERVER_ERROR,
        }
    }
}

impl<'a> Active<'a> {
    /// What handlers decide on.
    pub(crate) fn view(&self) -> Result<View<'_>, CommitError> {
        let config: &ControllerConfig = &self.node.settings.controller;
        let view = View::new(&self.lead.image, config).ok_or(CommitError::NotBegun)?;
        Ok(view.awaiting(&self.lead.lost))
    }

    /// The time for the controller's decisions.
    pub(crate) fn moment(&self) -> klamm_controller::Now {
        self.now.into()
    }

    /// The offset that the next record gets.
    pub(crate) fn next_offset(&self) -> Offset {
        self.quorum.raft().log().end()
    }

    /// Whether a client may do something to a resource.
    pub(crate) fn allows(
        &self,
        client: &Client,
        operation: Operation,
        kind: ResourceType,
        name: &str,
    ) -> bool {
        allows(
            &self.lead.image,
            self.node.settings.authorizer.as_ref(),
            client,
            operation,
            kind,
            name,
        )
    }

    /// Whether a client may do something to the cluster.
    pub(crate) fn allows_on_cluster(&self, client: &Client, operation: Operation) -> bool {
        self.allows(client, operation, ResourceType::Cluster, CLUSTER_NAME)
    }

    /// Appends a decision's records and applies them at once, so that the next decision sees them.
    /// The answer waits until they are committed.
    pub(crate) fn commit<R>(&mut self, decision: Decision<R>) -> Result<Pending<R>, CommitError> {
        let at = self.append(&decision.records, decision.atomic)?;
        for change in &decision.leader_changes {
            self.meters.leader_changed(change);
            self.tell(change);
        }
        let response = decision.response;
        Ok(Pending { response, at })
    }

    /// An answer that waits until what it was made of is committed.
    pub(crate) fn read<R>(&self, response: R) -> Pending<R> {
        let at = self.next_offset();
        Pending { response, at }
    }

    pub(crate) fn append(
        &mut self,
        records: &[Record],
        atomic: bool,
    ) -> Result<Offset, CommitError> {
        if records.is_empty() {
            return Ok(self.next_offset());
        }
        let target = Target {
            base: self.next_offset(),
            epoch: self.lead.epoch,
            version: self.lead.image.features().metadata_version(),
            timestamp_ms: self.now.timestamp_ms,
            max_batch_bytes: self.node.settings.metadata_log.max_batch_bytes as usize,
        };
        let batches = batches(records, atomic, target)?;
        let effective = records.iter().filter(|record| !is_of_transaction(record));
        for record in effective {
            // What the image refuses must not get into the log.
            if let Err(error) = self.lead.image.apply(record) {
                self.lead.is_broken = true;
                self.meters.metadata_errors += 1;
                tracing::error!(%error, ?record, "a decision does not fit the metadata");
                return Err(error.into());
            }
        }
        let bytes = batches.len();
        let appended = self
            .quorum
            .append(self.lead.epoch, batches, self.now.into());
        self.lead.is_broken |= appended.is_err();
        self.lead.rounds.wrote(self.now.elapsed);
        self.lead.pace.wrote(bytes, self.now.elapsed);
        let end = appended?;
        self.meters.appended(end, self.now);
        Ok(end)
    }

    /// Raises the level of `kraft.version`, which is the quorum's own; `only_check` says whether that
    /// would succeed.
    pub(crate) fn raise_kraft_version(
        &mut self,
        level: i16,
        only_check: bool,
    ) -> Result<(), UpgradeError> {
        let (epoch, version) = (self.lead.epoch, KRaftVersion(level));
        match only_check {
            true => self.quorum.raft().check_upgrade(epoch, version),
            false => self.quorum.upgrade(epoch, version, self.now.into()),
        }
    }

    fn tell(&self, change: &LeaderChange) {
        let topic = self.lead.image.topics().by_id(change.place.topic);
        tracing::info!(
            target: "klamm::leaders",
            topic = topic.map_or("?", |topic| topic.name()),
            partition = change.place.index.0,
            from = change.from.0,
            to = change.to.0,
            leader_epoch = change.epoch.0,
            how = ?change.how,
            why = change.why.name(),
            by = self.by.map(|client| &*client.principal),
            "leader changed"
        );
    }
}

fn is_of_transaction(record: &Record) -> bool {
    matches!(
        record,
        Record::BeginTransaction(_) | Record::EndTransaction(_) | Record::AbortTransaction(_)
    )
}
