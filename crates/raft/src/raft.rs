mod answers;
mod describe;
mod epoch;
mod fetch;
mod fetched;
mod records;
mod requests;
mod responses;
mod snapshot;
mod timers;
mod transitions;
mod vote;
mod voter_changes;

use std::collections::VecDeque;
use std::time::Duration;

use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, Offset};

use crate::log_shape::LogShape;
use crate::peers::Peers;
use crate::role::{Parked, Role, Unattached};
use crate::time::{Now, Random};
pub use voter_changes::UpgradeError;
pub(crate) use voter_changes::VoterUpdate;

use crate::voter_history::VoterHistory;
use crate::{
    AppendId, ControlRecord, ElectionState, Inbound, Incident, KRaftVersion, Leadership, Node,
    OffsetAndEpoch, Output, Request, RequestId, Response, SendError, Settings, VoterSet,
};

/// One node of the metadata quorum.
///
/// # The contract
///
/// The machine does nothing by itself and holds no records. The caller
///
/// - makes it with [`Raft::new`] of what the disk has,
/// - gives it inputs: [`Raft::handle_request`], [`Raft::handle_response`], [`Raft::append`],
///   [`Raft::flushed`], [`Raft::tick`], [`Raft::resign`], [`Raft::snapshot_made`], [`Raft::trim`],
/// - after every input takes [`Raft::poll_output`] until there is none, and carries the outputs out
///   in that order: a response that follows [`Output::Persist`] is only sent once that is durable,
///   and a record is in the log before an answer that reads it,
/// - calls [`Raft::tick`] when [`Raft::deadline`] has come. A tick too early or too often does no
///   harm.
///
/// Appending need not wait for the disk: [`Raft::flushed`] tells later what is durable, and nothing
/// is committed by this node, or counted for it by the leader, before that.
///
/// Input from peers never makes it panic. What they do wrong comes out as [`Output::Incident`].
#[derive(Debug)]
pub struct Raft {
    settings: Settings,
    voters: VoterHistory,
    log: LogShape,
    epoch: LeaderEpoch,
    role: Role,
    /// What is committed as far as this node knows. It never goes back.
    high_watermark: Option<Offset>,
    peers: Peers,
    random: Random,
    outputs: VecDeque<Output>,
    /// What the file `quorum-state` says.
    persisted: ElectionState,
    announced: Option<Leadership>,
    /// The snapshot that the caller is to put in the place of the log.
    installing: Option<OffsetAndEpoch>,
    /// Fetches that waited for this node as a leader, until the next role is settled.
    refused: Vec<Parked>,
    /// The same of an update of a voter.
    refused_update: Option<VoterUpdate>,
}

/// What a node finds on its disk, or in its configuration, when it starts.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// The file `quorum-state`, if there is one.
    pub election: Option<ElectionState>,
    /// The log. All of it is durable.
    pub log: LogShape,
    /// The control records of the latest snapshot and of the log after it, in order. Those of a
    /// snapshot have the offset before its end, -1 for the bootstrap snapshot.
    pub control: Vec<(Offset, ControlRecord)>,
    /// `controller.quorum.voters`: the voters while the log has none.
    pub static_voters: VoterSet,
}

impl Raft {
    /// A node that starts. It takes up the role that it may have had before, except that a leader
    /// resigns: it may have lost records that it had not flushed, and one offset must never have
    /// two records in one epoch.
    pub fn new(settings: Settings, start: Start, now: Now) -> Self {
        let mut voters = VoterHistory::new(start.static_voters);
        for (offset, record) in &start.control {
            voters.append(*offset, record);
        }
        let mut log = start.log;
        log.all_flushed();
        // A snapshot has committed records alone.
        let snapshot = log.latest_snapshot().map(|id| id.offset);
        let mut raft = Self {
            random: Random::new(settings.seed),
            settings,
            voters,
            log,
            epoch: LeaderEpoch(0),
            role: Role::Unattached(Unattached {
                leader: None,
                voted: None,
                election_at: None,
            }),
            high_watermark: snapshot.filter(|offset| *offset > Offset(0)),
            peers: Peers::default(),
            outputs: VecDeque::new(),
            persisted: start.election.unwrap_or_default(),
            announced: None,
            installing: None,
            refused: Vec::new(),
            refused_update: None,
        };
        raft.restore(start.election.unwrap_or_default(), now);
        raft.advance(now);
        raft
    }

    /// Takes a request. Its answer comes out as [`Output::Answer`], at once or later.
    pub fn handle_request(&mut self, inbound: Inbound, now: Now) {
        match inbound.request {
            Request::Vote(ref request) => self.vote_request(&inbound, request, now),
            Request::BeginQuorumEpoch(ref request) => {
                self.begin_epoch_request(&inbound, request, now);
            }
            Request::EndQuorumEpoch(ref request) => self.end_epoch_request(&inbound, request, now),
            Request::Fetch(_) => self.fetch_request(inbound, now),
            Request::FetchSnapshot(ref request) => {
                self.fetch_snapshot_request(&inbound, request, now);
            }
            Request::DescribeQuorum(ref request) => self.describe_request(&inbound, request, now),
            Request::AddRaftVoter(ref request) => self.add_voter_request(&inbound, request),
            Request::RemoveRaftVoter(ref request) => self.remove_voter_request(&inbound, request),
            Request::UpdateRaftVoter(ref request) => {
                self.update_voter_request(&inbound, request, now);
            }
        }
        self.advance(now);
    }

    /// Takes what became of a request that the machine has sent.
    pub fn handle_response(
        &mut self,
        id: RequestId,
        response: Result<Response, SendError>,
        now: Now,
    ) {
        let Some(node) = self.peers.waiting(id) else {
            // The role that asked is gone.
            return;
        };
        let is_good = match response {
            Ok(response) => self.take_response(node, response, now),
            Err(error) => self.not_answered(error, now),
        };
        let backoff = (!is_good).then(|| now.after(self.settings.retry_backoff));
        self.peers.finished(id, backoff);
        self.advance(now);
    }

    /// Notes that an append is durable, and with it all before. What was truncated since then
    /// does not count.
    pub fn flushed(&mut self, append: AppendId, now: Now) {
        self.log.flushed_append(append);
        self.own_end_moved();
        self.advance(now);
    }

    /// Does what its time has come for.
    pub fn tick(&mut self, now: Now) {
        self.advance(now);
    }

    /// Stops leading, if the node leads this epoch, and asks the other voters to elect one of them.
    pub fn resign(&mut self, epoch: LeaderEpoch, now: Now) {
        if epoch == self.epoch && self.is_leader() {
            self.become_resigned(now);
            self.advance(now);
        }
    }

    /// The next thing to do.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When to call [`Raft::tick`], as time since the start that [`Now::elapsed`] counts from.
    pub fn deadline(&self) -> Option<Duration> {
        self.next_deadline()
    }

    /// The latest epoch that the node knows.
    pub fn epoch(&self) -> LeaderEpoch {
        self.epoch
    }

    /// The leader of the epoch, if it is known. A leader that resigned is named until there is a
    /// later epoch.
    pub fn leader(&self) -> Option<BrokerId> {
        self.role.leader(self.settings.id)
    }

    /// The same with the place where it listens for controllers, if that is known, too.
    pub fn leader_node(&self) -> Option<Node> {
        let (id, endpoint) = self.leader_endpoint(&self.settings.listener)?;
        Some(Node { id, endpoint })
    }

    /// Whether this node leads, so that it may append.
    pub fn is_leader(&self) -> bool {
        matches!(self.role, Role::Leader(_))
    }

    /// Whether this node is a voter.
    pub fn is_voter(&self) -> bool {
        self.voters.voters().contains(self.settings.replica())
    }

    /// Records before this offset are committed.
    pub fn high_watermark(&self) -> Option<Offset> {
        self.high_watermark
    }

    /// Where the log begins and ends.
    pub fn log(&self) -> &LogShape {
        &self.log
    }

    /// The latest set of voters in the log.
    pub fn voters(&self) -> &VoterSet {
        self.voters.voters()
    }

    /// The level of `kraft.version`.
    pub fn kraft_version(&self) -> KRaftVersion {
        self.voters.version()
    }

    fn incident(&mut self, incident: Incident) {
        self.outputs.push_back(Output::Incident(incident));
    }

    /// Writes down what must outlive a crash, if it has changed.
    fn persist(&mut self) {
        let state = ElectionState {
            epoch: self.epoch,
            leader: self.leader(),
            voted: self.role.voted(self.settings.replica()),
        };
        if state != self.persisted {
            self.persisted = state;
            self.outputs.push_back(Output::Persist(state));
        }
    }

    /// Tells the caller of a new epoch or leader.
    fn announce(&mut self) {
        let start = match &self.role {
            Role::Leader(leader) => Some(leader.epoch_start),
            _ => None,
        };
        let leadership = Leadership {
            epoch: self.epoch,
            // A leader that resigned does not lead, whatever it has to answer to voters.
            leader: self
                .leader()
                .filter(|_| !matches!(self.role, Role::Resigned(_))),
            start,
        };
        if self.announced != Some(leadership) {
            self.announced = Some(leadership);
            self.outputs.push_back(Output::Leadership(leadership));
        }
    }

    /// Lets the high watermark grow.
    fn commit(&mut self, offset: Offset) {
        if self.high_watermark.is_none_or(|known| known < offset) {
            self.high_watermark = Some(offset);
            self.outputs.push_back(Output::HighWatermark(offset));
        }
    }

    fn has_cluster_id(&self, id: Option<&str>) -> bool {
        id.is_none_or(|id| id == self.settings.cluster_id)
    }

    /// The checks of a request that only the leader of an epoch can answer.
    fn check_leader(&self, epoch: LeaderEpoch) -> Result<(), ErrorCode> {
        if epoch < self.epoch {
            Err(ErrorCode::FENCED_LEADER_EPOCH)
        } else if epoch > self.epoch {
            Err(ErrorCode::UNKNOWN_LEADER_EPOCH)
        } else if !self.is_leader() {
            Err(ErrorCode::NOT_LEADER_OR_FOLLOWER)
        } else {
            Ok(())
        }
    }

    /// The checks of a request that establishes a leader.
    fn check_voter(&self, from: BrokerId, epoch: LeaderEpoch) -> Result<(), ErrorCode> {
        if epoch < self.epoch {
            Err(ErrorCode::FENCED_LEADER_EPOCH)
        } else if from.known().is_none() {
            Err(ErrorCode::INVALID_REQUEST)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests;
