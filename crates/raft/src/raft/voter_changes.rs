//! Changes of who votes (KIP-853), and of the level of `kraft.version` that they need. A voter may be
//! updated, and voters of the configuration be put into the log; none is added or removed yet.

use klamm_protocol::messages::add_raft_voter::{AddRaftVoterRequest, AddRaftVoterResponse};
use klamm_protocol::messages::remove_raft_voter::{
    RemoveRaftVoterRequest, RemoveRaftVoterResponse,
};
use klamm_protocol::messages::update_raft_voter::{
    CurrentLeader, UpdateRaftVoterRequest, UpdateRaftVoterResponse,
};
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, Offset, Uuid, VersionRange};
use thiserror::Error;

use super::Raft;
use crate::role::{Leader, Role};
use crate::time::Now;
use crate::{
    AnswerId, ControlRecord, Endpoint, Endpoints, Inbound, KRaftVersion, ReplicaKey, Response,
    Voter,
};

/// An update of a voter that is answered once it is committed.
#[derive(Debug)]
pub(crate) struct VoterUpdate {
    id: AnswerId,
    listener: String,
    end: Offset,
}

/// The level of `kraft.version` is not raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum UpgradeError {
    /// This node does not lead the epoch, or has not committed anything in it.
    #[error("not the leader of epoch {0}")]
    NotLeader(LeaderEpoch),
    /// Only this node's directory is known, and the log names the directories of all voters.
    #[error("the directories of the other voters are not known")]
    UnknownDirectories,
    /// This node does not support the level.
    #[error("kraft.version {0} is not supported")]
    Unsupported(KRaftVersion),
}

/// Why the voters stay as they are.
#[derive(Debug)]
struct Refusal {
    code: ErrorCode,
    text: String,
}

impl Refusal {
    fn new(code: ErrorCode, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { code, text }
    }
}

impl Raft {
    pub(super) fn add_voter_request(&mut self, inbound: &Inbound, request: &AddRaftVoterRequest) {
        let refusal = self.refuse_addition(request);
        let response = AddRaftVoterResponse {
            error_code: refusal.code.0,
            error_message: Some((&*refusal.text).into()),
            ..AddRaftVoterResponse::default()
        };
        self.answer(inbound.id, Response::AddRaftVoter(response));
    }

    pub(super) fn remove_voter_request(
        &mut self,
        inbound: &Inbound,
        request: &RemoveRaftVoterRequest,
    ) {
        let refusal = self.refuse_removal(request);
        let response = RemoveRaftVoterResponse {
            error_code: refusal.code.0,
            error_message: Some((&*refusal.text).into()),
            ..RemoveRaftVoterResponse::default()
        };
        self.answer(inbound.id, Response::RemoveRaftVoter(response));
    }

    pub(super) fn update_voter_request(
        &mut self,
        inbound: &Inbound,
        request: &UpdateRaftVoterRequest,
        now: Now,
    ) {
        let updated = match self.updated_voter(request) {
            Ok(updated) => updated,
            Err(code) => return self.answer_update(inbound.id, &inbound.listener, code),
        };
        let Some(voter) = updated else {
            return self.answer_update(inbound.id, &inbound.listener, ErrorCode::NONE);
        };
        let voters = self.voters().with(voter);
        let end = self.append_control(vec![ControlRecord::Voters(voters)], now);
        if let Role::Leader(leader) = &mut self.role {
            leader.updating = Some(VoterUpdate {
                id: inbound.id,
                listener: inbound.listener.clone(),
                end,
            });
        }
    }

    /// Raises the level of `kraft.version` as the leader of an epoch, so that the log says who votes.
    /// Returns the end of the log with that. Without a change where it is there already.
    pub fn upgrade(
        &mut self,
        epoch: LeaderEpoch,
        version: KRaftVersion,
        now: Now,
    ) -> Result<Offset, UpgradeError> {
        self.check_upgrade(epoch, version)?;
        if version <= self.kraft_version() {
            return Ok(self.log.end());
        }
        let voters = self.voters().with(self.own_voter());
        let records = vec![
            ControlRecord::KRaftVersion(version),
            ControlRecord::Voters(voters),
        ];
        let end = self.append_control(records, now);
        self.advance(now);
        Ok(end)
    }

    /// Whether [`Raft::upgrade`] would succeed.
    pub fn check_upgrade(
        &self,
        epoch: LeaderEpoch,
        version: KRaftVersion,
    ) -> Result<(), UpgradeError> {
        let is_committed =
            matches!(&self.role, Role::Leader(leader) if leader.high_watermark.is_some());
        if epoch != self.epoch || !is_committed {
            return Err(UpgradeError::NotLeader(epoch));
        }
        if !self.settings.kraft_versions.contains(version.0) {
            return Err(UpgradeError::Unsupported(version));
        }
        let is_alone = self.voters().is_only(self.settings.replica());
        if version > self.kraft_version() && !is_alone {
            return Err(UpgradeError::UnknownDirectories);
        }
        Ok(())
    }

    /// Answers the update of a voter that is committed now.
    pub(super) fn answer_committed_update(&mut self) {
        let Role::Leader(leader) = &mut self.role else {
            return;
        };
        let committed = leader.high_watermark;
        let is_committed =
            |update: &mut VoterUpdate| committed.is_some_and(|committed| update.end <= committed);
        if let Some(update) = leader.updating.take_if(is_committed) {
            self.answer_update(update.id, &update.listener, ErrorCode::NONE);
        }
    }

    pub(super) fn answer_update(&mut self, id: AnswerId, listener: &str, code: ErrorCode) {
        let mut current = CurrentLeader {
            leader_id: self.leader_or_none(),
            leader_epoch: self.epoch.0,
            ..CurrentLeader::default()
        };
        if let Some((_, Endpoint { host, port })) = self.leader_endpoint(listener) {
            current.host = host.into();
            current.port = i32::from(port);
        }
        let response = UpdateRaftVoterResponse {
            error_code: code.0,
            current_leader: current,
            ..UpdateRaftVoterResponse::default()
        };
        self.answer(id, Response::UpdateRaftVoter(response));
    }

    pub(super) fn refuse_update(&mut self, update: VoterUpdate) {
        self.answer_update(
            update.id,
            &update.listener,
            ErrorCode::NOT_LEADER_OR_FOLLOWER,
        );
    }

    fn refuse_addition(&self, request: &AddRaftVoterRequest) -> Refusal {
        let checked = || {
            let leader = self.check_change(request.cluster_id.as_deref())?;
            let Some(key) = voter_key(request.voter_id, request.voter_directory_id) else {
                return Err(no_voter());
            };
            let endpoints = request.listeners.iter();
            let endpoints = endpoints.map(|at| (&*at.name, &*at.host, at.port));
            if self.usable(endpoints).is_none() {
                let text = format!(
                    "the new voter has no endpoint for the listener {}, by which controllers reach \
                     each other",
                    self.settings.listener
                );
                return Err(Refusal::new(ErrorCode::INVALID_REQUEST, text));
            }
            self.check_voters_may_change()?;
            if self.voters().voter(key.id).is_some() {
                let text = format!("node {} is a voter already", key.id);
                return Err(Refusal::new(ErrorCode::DUPLICATE_VOTER, text));
            }
            let observer = leader.observers.get(&key);
            if observer.and_then(|observer| observer.end) < Some(self.log.end()) {
                let text = format!(
                    "node {key} has not fetched all of the metadata log; start it as an observer, \
                     and wait until it has"
                );
                return Err(Refusal::new(ErrorCode::REQUEST_TIMED_OUT, text));
            }
            Ok(())
        };
        match checked() {
            Err(refusal) => refusal,
            Ok(()) => Refusal::new(ErrorCode::INVALID_REQUEST, NO_CHANGES),
        }
    }

    fn refuse_removal(&self, request: &RemoveRaftVoterRequest) -> Refusal {
        let checked = || {
            self.check_change(request.cluster_id.as_deref())?;
            let Some(key) = voter_key(request.voter_id, request.voter_directory_id) else {
                return Err(no_voter());
            };
            self.check_voters_may_change()?;
            if !self.voters().contains(key) {
                let text = format!("{key} is not among the voters");
                return Err(Refusal::new(ErrorCode::VOTER_NOT_FOUND, text));
            }
            if self.voters().len() == 1 {
                let text = format!("{key} is the only voter, and nobody else could decide");
                return Err(Refusal::new(ErrorCode::INVALID_REQUEST, text));
            }
            Ok(())
        };
        match checked() {
            Err(refusal) => refusal,
            Ok(()) => Refusal::new(ErrorCode::INVALID_REQUEST, NO_CHANGES),
        }
    }

    /// What a voter is to be; `None` where it is that already, and the log says so.
    fn updated_voter(&self, request: &UpdateRaftVoterRequest) -> Result<Option<Voter>, ErrorCode> {
        if !self.has_cluster_id(request.cluster_id.as_deref()) {
            return Err(ErrorCode::INCONSISTENT_CLUSTER_ID);
        }
        self.check_leader(LeaderEpoch(request.current_leader_epoch))?;
        let key = voter_key(request.voter_id, request.voter_directory_id);
        let key = key.ok_or(ErrorCode::INVALID_REQUEST)?;
        let endpoints = request.listeners.iter();
        let endpoints = endpoints.map(|at| (&*at.name, &*at.host, at.port));
        let endpoints = self.usable(endpoints).ok_or(ErrorCode::INVALID_REQUEST)?;
        let levels = &request.k_raft_version_feature;
        let (min, max) = (levels.min_supported_version, levels.max_supported_version);
        if min < 0 || max < min {
            return Err(ErrorCode::INVALID_REQUEST);
        }
        self.check_committed().map_err(|refusal| refusal.code)?;
        let version = self.kraft_version();
        let kraft_versions = VersionRange::new(min, max);
        if version.has_dynamic_voters() {
            self.check_voters_committed()
                .map_err(|refusal| refusal.code)?;
        }
        if !kraft_versions.contains(version.0) {
            return Err(ErrorCode::INVALID_REQUEST);
        }
        if !self.voters().contains(key) {
            return Err(ErrorCode::VOTER_NOT_FOUND);
        }
        let voter = Voter {
            key,
            endpoints,
            kraft_versions,
        };
        // Voters of the configuration are not for the log.
        let is_news = version.has_dynamic_voters() && self.voters().voter(key.id) != Some(&voter);
        Ok(is_news.then_some(voter))
    }

    /// The checks of every change that a client asks for.
    fn check_change(&self, cluster_id: Option<&str>) -> Result<&Leader, Refusal> {
        if !self.has_cluster_id(cluster_id) {
            let text = format!("this is cluster {}", self.settings.cluster_id);
            return Err(Refusal::new(ErrorCode::INCONSISTENT_CLUSTER_ID, text));
        }
        match &self.role {
            Role::Leader(leader) => Ok(leader),
            _ => Err(Refusal::new(
                ErrorCode::NOT_LEADER_OR_FOLLOWER,
                "this node does not lead the metadata quorum",
            )),
        }
    }

    fn check_voters_may_change(&self) -> Result<(), Refusal> {
        self.check_committed()?;
        let version = self.kraft_version();
        if !version.has_dynamic_voters() {
            let text = format!("kraft.version is {version}, and voters can change from 1 on");
            return Err(Refusal::new(ErrorCode::UNSUPPORTED_VERSION, text));
        }
        self.check_voters_committed()
    }

    /// A leader that has committed nothing may not know what was decided before.
    fn check_committed(&self) -> Result<(), Refusal> {
        match &self.role {
            Role::Leader(leader) if leader.updating.is_some() => Err(Refusal::new(
                ErrorCode::REQUEST_TIMED_OUT,
                "another change of the voters is not committed yet; try again",
            )),
            Role::Leader(leader) if leader.high_watermark.is_some() => Ok(()),
            _ => Err(Refusal::new(
                ErrorCode::REQUEST_TIMED_OUT,
                "the leader has not committed anything in its epoch yet; try again",
            )),
        }
    }

    fn check_voters_committed(&self) -> Result<(), Refusal> {
        let at = self.voters.voters_offset();
        let is_committed = at.is_some_and(|at| self.high_watermark.is_some_and(|known| at < known));
        match is_committed {
            true => Ok(()),
            false => Err(Refusal::new(
                ErrorCode::REQUEST_TIMED_OUT,
                "the latest set of voters is not committed yet; try again",
            )),
        }
    }

    /// Endpoints, if one of them is for the listener of controllers.
    fn usable<'a>(
        &self,
        endpoints: impl Iterator<Item = (&'a str, &'a str, u16)>,
    ) -> Option<Endpoints> {
        let endpoints: Endpoints = endpoints
            .map(|(name, host, port)| {
                let host = host.to_owned();
                (name.to_owned(), Endpoint { host, port })
            })
            .collect();
        let listener = &self.settings.listener;
        endpoints.endpoint(listener).is_some().then_some(endpoints)
    }
}

const NO_CHANGES: &str = "this release of klamm neither adds nor removes voters";

fn no_voter() -> Refusal {
    let text = "the request does not name a node and its directory";
    Refusal::new(ErrorCode::INVALID_REQUEST, text)
}

/// A voter with its directory.
fn voter_key(id: i32, directory: Uuid) -> Option<ReplicaKey> {
    let key = ReplicaKey::new(BrokerId(id).known()?, directory);
    key.directory.is_some().then_some(key)
}
