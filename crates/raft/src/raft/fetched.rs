//! Fetch, on the follower's side.

use klamm_protocol::messages::fetch::{FetchRequest, FetchResponse, PartitionData};
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, Offset, Request as _};

use super::Raft;
use super::responses::Said;
use crate::role::Role;
use crate::time::Now;
use crate::{Incident, METADATA_TOPIC_ID, OffsetAndEpoch, Output};

impl Raft {
    pub(super) fn fetch_response_from(
        &mut self,
        node: BrokerId,
        response: FetchResponse,
        now: Now,
    ) -> bool {
        let partition = match response.responses.as_slice() {
            [topic] if topic.topic_id == METADATA_TOPIC_ID => match topic.partitions.as_slice() {
                [partition] if partition.partition_index == 0 => partition,
                _ => return self.malformed(node),
            },
            _ => return self.malformed(node),
        };
        let leader = partition.current_leader.leader_id;
        let endpoints = response.node_endpoints.iter().filter_map(|node| {
            let port = u16::try_from(node.port).ok()?;
            Some((node.node_id, &*node.host, port))
        });
        let said = Said {
            node,
            api: FetchRequest::KEY,
            error: ErrorCode(partition.error_code),
            leader: BrokerId(leader).known(),
            epoch: LeaderEpoch(partition.current_leader.leader_epoch),
            endpoints: self.endpoints_in(leader, endpoints),
        };
        if let Some(handled) = self.common_response(said, now) {
            return handled;
        }
        let Role::Follower(role) = &self.role else {
            // Only the leader of an epoch answers without an error.
            return self.malformed(node);
        };
        let leader = role.leader;
        let is_well = if partition.diverging_epoch.epoch >= 0 {
            let diverging = OffsetAndEpoch {
                epoch: LeaderEpoch(partition.diverging_epoch.epoch),
                offset: Offset(partition.diverging_epoch.end_offset),
            };
            self.cut(leader, diverging)
        } else if partition.snapshot_id.epoch >= 0 || partition.snapshot_id.end_offset >= 0 {
            let id = OffsetAndEpoch {
                epoch: LeaderEpoch(partition.snapshot_id.epoch),
                offset: Offset(partition.snapshot_id.end_offset),
            };
            self.begin_snapshot(node, id)
        } else {
            self.take_records(leader, partition)
        };
        if is_well {
            let fetch_until = now.after(self.settings.fetch_timeout);
            if let Role::Follower(role) = &mut self.role {
                role.fetch_until = fetch_until;
                role.has_fetched = true;
            }
        }
        is_well
    }

    /// Removes the records that the leader does not have.
    fn cut(&mut self, leader: BrokerId, diverging: OffsetAndEpoch) -> bool {
        let to = self.log.cut_for(diverging);
        if let Some(high_watermark) = self.high_watermark.filter(|committed| to < *committed) {
            self.incident(Incident::CommittedRecordsDiverge {
                leader,
                epoch: self.epoch,
                to: diverging,
                high_watermark,
            });
            return false;
        }
        if to < self.log.end() {
            self.log.truncate(to);
            self.voters.truncate(to);
            self.outputs.push_back(Output::Truncate(to));
        }
        true
    }

    fn take_records(&mut self, leader: BrokerId, partition: &PartitionData) -> bool {
        let records = partition.records.clone().unwrap_or_default();
        if !records.is_empty()
            && let Err(reason) = self.append_fetched(records)
        {
            self.incident(Incident::BadRecords { leader, reason });
            return false;
        }
        // What the leader has committed may be beyond what this node has.
        if partition.high_watermark >= 0 {
            self.commit(Offset(partition.high_watermark).min(self.log.end()));
        }
        true
    }
}
