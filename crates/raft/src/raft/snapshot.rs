//! Snapshots (KIP-630): made by the caller, fetched from the leader, put in the place of the log.

use klamm_protocol::messages::fetch_snapshot::{
    FetchSnapshotRequest, FetchSnapshotResponse, NodeEndpoint, RequestPartitionSnapshot,
    RequestSnapshotId, RequestTopicSnapshot, ResponsePartitionSnapshot, ResponseSnapshotId,
    ResponseTopicSnapshot,
};
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, Offset, Request as _};

use super::Raft;
use super::fetch::MAX_FETCH_BYTES;
use super::responses::Said;
use crate::role::Role;
use crate::time::Now;
use crate::{
    Answer, ControlRecord, Inbound, Incident, METADATA_TOPIC, OffsetAndEpoch, Output, Read,
    ReplicaKey, Request, Response, SnapshotError, SnapshotPart,
};

impl Raft {
    /// Notes a snapshot of the records before its offset that the caller has made, complete and
    /// durable, of `len` bytes.
    pub fn snapshot_made(&mut self, id: OffsetAndEpoch, len: u64) -> Result<(), SnapshotError> {
        if self.high_watermark.is_none_or(|known| known < id.offset) {
            return Err(SnapshotError::NotCommitted(id));
        }
        if !self.log.is_place(id) {
            return Err(SnapshotError::NoPlace(id));
        }
        self.log.add_snapshot(id, len);
        Ok(())
    }

    /// Notes that the caller is about to remove the log before a snapshot, and earlier snapshots.
    pub fn trim(&mut self, id: OffsetAndEpoch) -> Result<(), SnapshotError> {
        if self.log.snapshot_len(id).is_none() || id.offset < self.log.start() {
            return Err(SnapshotError::Unknown(id));
        }
        self.log.trim(id);
        self.voters.trim(id.offset);
        Ok(())
    }

    /// Notes that the snapshot of [`Output::InstallSnapshot`] has taken the place of the log.
    /// `control` are its control records, at the offset before its end.
    pub fn snapshot_installed(
        &mut self,
        id: OffsetAndEpoch,
        len: u64,
        control: &[(Offset, ControlRecord)],
        now: Now,
    ) {
        if self.installing != Some(id) {
            return;
        }
        self.installing = None;
        self.log.restart(id, len);
        self.voters.restart(control);
        self.commit(id.offset);
        self.advance(now);
    }

    pub(super) fn fetch_snapshot_request(
        &mut self,
        inbound: &Inbound,
        request: &FetchSnapshotRequest,
        now: Now,
    ) {
        let top_level = |error: ErrorCode| {
            Response::FetchSnapshot(FetchSnapshotResponse {
                error_code: error.0,
                ..FetchSnapshotResponse::default()
            })
        };
        if !self.has_cluster_id(request.cluster_id.as_deref()) {
            let response = top_level(ErrorCode::INCONSISTENT_CLUSTER_ID);
            return self.answer(inbound.id, response);
        }
        let asked = match request.topics.as_slice() {
            [topic] => match topic.partitions.as_slice() {
                [partition] => Some((topic, partition)),
                _ => None,
            },
            _ => None,
        };
        let Some((topic, partition)) = asked else {
            return self.answer(inbound.id, top_level(ErrorCode::INVALID_REQUEST));
        };
        let mut answered = ResponsePartitionSnapshot {
            index: partition.partition,
            ..ResponsePartitionSnapshot::default()
        };
        let is_metadata = &*topic.name == METADATA_TOPIC && partition.partition == 0;
        if !is_metadata {
            answered.error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION.0;
            return self.answer_snapshot(inbound, &topic.name, answered, None);
        }
        answered.current_leader.leader_id = self.leader().unwrap_or(BrokerId::NONE).0;
        answered.current_leader.leader_epoch = self.epoch.0;
        let id = OffsetAndEpoch {
            epoch: LeaderEpoch(partition.snapshot_id.epoch),
            offset: Offset(partition.snapshot_id.end_offset),
        };
        // The bootstrap snapshot is never replicated.
        let known = self
            .log
            .snapshot_len(id)
            .filter(|_| id != OffsetAndEpoch::BOOTSTRAP);
        let position = u64::try_from(partition.position).ok();
        let checked = self
            .check_leader(LeaderEpoch(partition.current_leader_epoch))
            .and(known.ok_or(ErrorCode::SNAPSHOT_NOT_FOUND))
            .and_then(|len| match position {
                Some(position) if position < len => Ok((len, position)),
                _ => Err(ErrorCode::POSITION_OUT_OF_RANGE),
            });
        let (len, position) = match checked {
            Ok(found) => found,
            Err(error) => {
                answered.error_code = error.0;
                return self.answer_snapshot(inbound, METADATA_TOPIC, answered, None);
            }
        };
        let replica = ReplicaKey::new(BrokerId(request.replica_id), partition.replica_directory_id);
        let (local, next_check) = (self.settings.replica(), self.next_quorum_check(now));
        if let Role::Leader(leader) = &mut self.role {
            leader.hear(replica, local, next_check);
        }
        answered.snapshot_id = ResponseSnapshotId {
            end_offset: id.offset.0,
            epoch: id.epoch.0,
            ..ResponseSnapshotId::default()
        };
        answered.size = i64::try_from(len).unwrap_or(i64::MAX);
        answered.position = partition.position;
        let max_bytes = u32::try_from(request.max_bytes).unwrap_or(0);
        let read = Read::Snapshot {
            id,
            position,
            max_bytes: max_bytes.min(MAX_FETCH_BYTES),
        };
        self.answer_snapshot(inbound, METADATA_TOPIC, answered, Some(read));
    }

    fn answer_snapshot(
        &mut self,
        inbound: &Inbound,
        topic: &str,
        partition: ResponsePartitionSnapshot,
        read: Option<Read>,
    ) {
        let endpoint = self.leader_endpoint(&inbound.listener);
        let node_endpoints = endpoint
            .filter(|_| inbound.version >= 1)
            .map(|(leader, endpoint)| NodeEndpoint {
                node_id: leader.0,
                host: endpoint.host.into(),
                port: endpoint.port,
                ..NodeEndpoint::default()
            });
        let response = FetchSnapshotResponse {
            topics: vec![ResponseTopicSnapshot {
                name: topic.into(),
                partitions: vec![partition],
                ..ResponseTopicSnapshot::default()
            }],
            node_endpoints: node_endpoints.into_iter().collect(),
            ..FetchSnapshotResponse::default()
        };
        self.outputs.push_back(Output::Answer(Answer {
            id: inbound.id,
            response: Response::FetchSnapshot(response),
            read,
        }));
    }

    /// The leader has what this node needs in a snapshot alone.
    pub(super) fn begin_snapshot(&mut self, node: BrokerId, id: OffsetAndEpoch) -> bool {
        let is_id = id.epoch >= LeaderEpoch(0) && id.offset > Offset(0);
        // What is committed here is not given up for less.
        let is_older = self.high_watermark.is_some_and(|known| id.offset < known);
        if !is_id || is_older || self.log.snapshot_len(id).is_some() {
            return self.malformed(node);
        }
        if let Role::Follower(role) = &mut self.role {
            role.snapshot = Some((id, 0));
        }
        true
    }

    pub(super) fn snapshot_request_now(&self, id: OffsetAndEpoch, position: u64) -> Request {
        let partition = RequestPartitionSnapshot {
            current_leader_epoch: self.epoch.0,
            snapshot_id: RequestSnapshotId {
                end_offset: id.offset.0,
                epoch: id.epoch.0,
                ..RequestSnapshotId::default()
            },
            position: i64::try_from(position).unwrap_or(i64::MAX),
            replica_directory_id: self.settings.directory,
            ..RequestPartitionSnapshot::default()
        };
        Request::FetchSnapshot(FetchSnapshotRequest {
            cluster_id: Some(self.settings.cluster_id.as_str().into()),
            replica_id: self.settings.id.0,
            max_bytes: i32::try_from(self.settings.fetch_snapshot_max_bytes).unwrap_or(i32::MAX),
            topics: vec![RequestTopicSnapshot {
                name: METADATA_TOPIC.into(),
                partitions: vec![partition],
                ..RequestTopicSnapshot::default()
            }],
            ..FetchSnapshotRequest::default()
        })
    }

    pub(super) fn snapshot_response(
        &mut self,
        node: BrokerId,
        response: &FetchSnapshotResponse,
        now: Now,
    ) -> bool {
        let partition = match response.topics.as_slice() {
            [topic] => match topic.partitions.as_slice() {
                [partition] if partition.index == 0 => partition,
                _ => return self.malformed(node),
            },
            _ => return self.malformed(node),
        };
        let endpoints = response.node_endpoints.iter();
        let endpoints = endpoints.map(|node| (node.node_id, &*node.host, node.port));
        let leader = partition.current_leader.leader_id;
        let error = ErrorCode(partition.error_code);
        let is_gone = error == ErrorCode::SNAPSHOT_NOT_FOUND;
        let said = Said {
            node,
            api: FetchSnapshotRequest::KEY,
            error: if is_gone { ErrorCode::NONE } else { error },
            leader: BrokerId(leader).known(),
            epoch: LeaderEpoch(partition.current_leader.leader_epoch),
            endpoints: self.endpoints_in(leader, endpoints),
        };
        if let Some(handled) = self.common_response(said, now) {
            return handled;
        }
        let fetch_until = now.after(self.settings.fetch_timeout);
        let Role::Follower(role) = &mut self.role else {
            return self.malformed(node);
        };
        let Some((id, position)) = role.snapshot else {
            return self.malformed(node);
        };
        role.fetch_until = fetch_until;
        role.has_fetched = true;
        let of = &partition.snapshot_id;
        if is_gone || of.end_offset < 0 || of.epoch < 0 {
            // The leader has removed it: a Fetch tells what there is now.
            role.snapshot = None;
            return true;
        }
        let bytes = partition.unaligned_records.clone();
        let end = position + bytes.len() as u64;
        let fits = (of.end_offset, of.epoch) == (id.offset.0, id.epoch.0)
            && u64::try_from(partition.position) == Ok(position)
            && u64::try_from(partition.size).is_ok_and(|size| end <= size)
            && !bytes.is_empty();
        if !fits {
            role.snapshot = None;
            return self.malformed(node);
        }
        let is_complete = u64::try_from(partition.size) == Ok(end);
        role.snapshot = (!is_complete).then_some((id, end));
        let part = SnapshotPart {
            id,
            position,
            bytes,
        };
        self.outputs.push_back(Output::WriteSnapshot(part));
        if is_complete {
            if self.high_watermark.is_some_and(|known| id.offset < known) {
                self.incident(Incident::Malformed { node });
                return false;
            }
            self.installing = Some(id);
            self.outputs.push_back(Output::InstallSnapshot(id));
        }
        true
    }
}
