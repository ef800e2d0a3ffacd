//! Fetch, on the leader's side.

use std::time::Duration;

use klamm_protocol::messages::fetch::{FetchRequest, FetchResponse};
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, Offset};

use super::Raft;
use crate::log_shape::Position;
use crate::role::{Fetch, Parked, Role};
use crate::time::Now;
use crate::{
    Answer, AnswerId, Inbound, METADATA_TOPIC_ID, OffsetAndEpoch, Output, Read, ReplicaKey,
    Request, Response,
};

/// The most bytes of records that one Fetch brings.
pub(super) const MAX_FETCH_BYTES: u32 = 8 << 20;

/// How many Fetches may wait for records at a time. One more is answered at once, with nothing.
const MAX_PARKED: usize = 20_000;

impl Raft {
    pub(super) fn fetch_request(&mut self, inbound: Inbound, now: Now) {
        let Request::Fetch(request) = &inbound.request else {
            return;
        };
        let top_level = |error: ErrorCode| {
            Response::Fetch(FetchResponse {
                error_code: error.0,
                ..FetchResponse::default()
            })
        };
        if !self.has_cluster_id(request.cluster_id.as_deref()) {
            let response = top_level(ErrorCode::INCONSISTENT_CLUSTER_ID);
            return self.answer(inbound.id, response);
        }
        let Some(fetch) = Fetch::of(&inbound, request) else {
            return self.answer(inbound.id, top_level(ErrorCode::INVALID_REQUEST));
        };
        let Fetch { tip, epoch, .. } = fetch;
        let is_valid = request.max_wait_ms >= 0
            && tip.offset >= Offset(0)
            && tip.epoch >= LeaderEpoch(0)
            && tip.epoch <= epoch;
        if !is_valid {
            let error = ErrorCode::INVALID_REQUEST;
            let response = self.fetch_response(&fetch, error, Position::Valid);
            return self.answer(inbound.id, Response::Fetch(response));
        }
        let wait = Duration::from_millis(request.max_wait_ms.unsigned_abs().into());
        if self.check_fetch(&fetch).is_ok() && self.position_of(fetch.tip) == Position::Valid {
            self.note_fetch(&fetch, now);
        }
        let Some(fetch) = self.serve(inbound.id, fetch, !wait.is_zero()) else {
            return;
        };
        let Role::Leader(leader) = &mut self.role else {
            return;
        };
        leader.parked.push(Parked {
            id: inbound.id,
            fetch,
            until: now.after(wait),
        });
    }

    /// Whether this node can serve a Fetch at all.
    fn check_fetch(&self, fetch: &Fetch) -> Result<(), ErrorCode> {
        self.check_leader(fetch.epoch)?;
        // No replica has the leader's own id.
        if fetch.replica.id == self.settings.id {
            return Err(ErrorCode::UNKNOWN_SERVER_ERROR);
        }
        Ok(())
    }

    /// Answers a Fetch, or gives it back if it `may_wait` and there is nothing to bring.
    fn serve(&mut self, id: AnswerId, fetch: Fetch, may_wait: bool) -> Option<Fetch> {
        if let Err(error) = self.check_fetch(&fetch) {
            let response = self.fetch_response(&fetch, error, Position::Valid);
            self.answer(id, Response::Fetch(response));
            return None;
        }
        let position = self.position_of(fetch.tip);
        let Role::Leader(leader) = &self.role else {
            return None;
        };
        let has_records = position == Position::Valid && fetch.tip.offset < self.log.end();
        let tells_more = leader
            .high_watermark
            .is_some_and(|known| known > fetch.high_watermark);
        let has_room = leader.parked.len() < MAX_PARKED;
        let has_news = has_records || tells_more || position != Position::Valid;
        if may_wait && has_room && !has_news {
            return Some(fetch);
        }
        let response = self.fetch_response(&fetch, ErrorCode::NONE, position);
        self.outputs.push_back(Output::Answer(Answer {
            id,
            response: Response::Fetch(response),
            read: has_records.then_some(Read::Log {
                from: fetch.tip.offset,
                max_bytes: fetch.max_bytes,
            }),
        }));
        None
    }

    /// How a replica's log relates to this one.
    fn position_of(&self, tip: OffsetAndEpoch) -> Position {
        // A replica that has nothing gets there sooner with a snapshot than by the log.
        let snapshot = self.log.latest_snapshot();
        match snapshot.filter(|id| *id != OffsetAndEpoch::BOOTSTRAP) {
            Some(id) if tip.offset == Offset(0) => Position::Snapshot(id),
            _ => self.log.locate(tip),
        }
    }

    /// Notes how far a replica is.
    fn note_fetch(&mut self, fetch: &Fetch, now: Now) {
        let local = self.settings.replica();
        let next_check = self.next_quorum_check(now);
        let end = self.log.end();
        let Role::Leader(leader) = &mut self.role else {
            return;
        };
        if fetch.replica.id.known().is_none() {
            // A client, not a replica.
            return;
        }
        leader.hear(fetch.replica, local, next_check);
        let has_grown = leader.fetched(fetch.replica, fetch.tip.offset, end, now);
        if has_grown {
            self.publish_high_watermark();
        }
    }

    /// Tells what is committed now.
    pub(super) fn publish_high_watermark(&mut self) {
        if let Role::Leader(leader) = &self.role
            && let Some(offset) = leader.high_watermark
        {
            self.commit(offset);
            self.answer_committed_update();
        }
    }

    /// Answers the waiting Fetches for which there is something now, and those that have waited
    /// long enough.
    pub(super) fn wake_parked(&mut self, now: Now) {
        let end = self.log.end();
        let Role::Leader(leader) = &mut self.role else {
            return;
        };
        let high_watermark = leader.high_watermark;
        let is_due = |parked: &mut Parked| {
            let fetch = &parked.fetch;
            let has_news = fetch.tip.offset < end
                || high_watermark.is_some_and(|known| known > fetch.high_watermark);
            has_news || now.is_past(parked.until)
        };
        let due: Vec<Parked> = leader.parked.extract_if(.., is_due).collect();
        for parked in due {
            self.serve(parked.id, parked.fetch, false);
        }
    }
}

impl Fetch {
    /// What matters of a request for the metadata partition; `None` if it is for anything else.
    fn of(inbound: &Inbound, request: &FetchRequest) -> Option<Self> {
        let [topic] = request.topics.as_slice() else {
            return None;
        };
        let [partition] = topic.partitions.as_slice() else {
            return None;
        };
        if topic.topic_id != METADATA_TOPIC_ID || partition.partition != 0 {
            return None;
        }
        // Version 15 moved the id.
        let replica = match BrokerId(request.replica_state.replica_id).known() {
            Some(id) => id,
            None => BrokerId(request.replica_id),
        };
        Some(Self {
            listener: inbound.listener.clone(),
            version: inbound.version,
            replica: ReplicaKey::new(replica, partition.replica_directory_id),
            epoch: LeaderEpoch(partition.current_leader_epoch),
            tip: OffsetAndEpoch {
                epoch: LeaderEpoch(partition.last_fetched_epoch),
                offset: Offset(partition.fetch_offset),
            },
            max_bytes: MAX_FETCH_BYTES.min(u32::try_from(request.max_bytes).unwrap_or(0)),
            high_watermark: Offset(partition.high_watermark),
        })
    }
}
