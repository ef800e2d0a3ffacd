use std::collections::BTreeMap;
use std::sync::Arc;

use klamm_net::ServerAddress;
use klamm_protocol::messages::fetch::{FetchResponse, PartitionData};
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, Offset, Uuid};
use tokio::time::Instant;

use super::Consumer;
use super::options::{ConsumeError, OffsetReset, SeekTo};
use super::records::{PartitionRecords, read};
use super::requests::{Asked, Done, Kind};
use super::session::Wanted;
use crate::call::Answer;
use crate::leaders::{Leadership, METADATA_MAX_AGE};
use crate::{ClientError, TopicPartition};

impl Consumer {
    /// Takes in what a task has ended with.
    pub(super) fn finish(&mut self, done: Done) {
        match done {
            Done::Asked(asked) => {
                let settled = match asked {
                    Ok(topics) => {
                        self.leaders.learn(topics);
                        !self.leaders.is_stale()
                    }
                    Err(error) => {
                        self.tell_if_final(&error);
                        false
                    }
                };
                self.metadata
                    .ended(settled, &self.backoff, METADATA_MAX_AGE);
            }
            Done::Fetched {
                leader,
                asked,
                outcome,
            } => {
                if let Some(answer) = self.answered(leader, Kind::Fetch, outcome) {
                    self.fetched(leader, asked, answer);
                }
            }
            Done::Sought {
                leader,
                asked,
                outcome,
            } => {
                let Some(answer) = self.answered(leader, Kind::Seek, outcome) else {
                    return;
                };
                for topic in answer.response.topics {
                    for told in topic.partitions {
                        let key = TopicPartition::new(topic.name.clone(), told.partition_index);
                        let Some(asked) = asked.get(&key) else {
                            continue;
                        };
                        let code = ErrorCode(told.error_code);
                        let found = (told.offset >= 0).then_some(Offset(told.offset));
                        if self.is_usable(&key, asked, code, Leadership::default(), &answer.server)
                        {
                            self.found(&key, asked, found);
                        }
                    }
                }
            }
            Done::Compared {
                leader,
                asked,
                outcome,
            } => {
                let Some(answer) = self.answered(leader, Kind::Compare, outcome) else {
                    return;
                };
                for topic in answer.response.topics {
                    for told in topic.partitions {
                        let key = TopicPartition::new(topic.topic.clone(), told.partition);
                        let Some(asked) = asked.get(&key) else {
                            continue;
                        };
                        let code = ErrorCode(told.error_code);
                        if self.is_usable(&key, asked, code, Leadership::default(), &answer.server)
                        {
                            let is_known = told.end_offset >= 0 && told.leader_epoch >= 0;
                            let end = is_known.then_some(Offset(told.end_offset));
                            self.compared(&key, asked, end);
                        }
                    }
                }
            }
        }
    }

    /// An answer, unless there is none: then the broker is left alone for a while.
    fn answered<T>(
        &mut self,
        leader: BrokerId,
        kind: Kind,
        outcome: Result<Answer<T>, ClientError>,
    ) -> Option<Answer<T>> {
        let broker = self.brokers.entry(leader).or_default();
        broker.asked.retain(|asked| *asked != kind);
        match outcome {
            Ok(answer) => {
                broker.failures = 0;
                broker.not_before = None;
                Some(answer)
            }
            Err(error) => {
                broker.failures = broker.failures.saturating_add(1);
                broker.not_before = Some(Instant::now() + self.backoff.after(broker.failures));
                if kind == Kind::Fetch {
                    broker.session.lost(true);
                }
                let positions = self.positions.keys();
                for partition in positions {
                    if self.leaders.of(partition).leader == Some(leader) {
                        self.leaders.distrust(&partition.topic);
                    }
                }
                self.tell_if_final(&error);
                None
            }
        }
    }

    fn tell_if_final(&mut self, error: &ClientError) {
        if matches!(
            error,
            ClientError::Unsupported { .. } | ClientError::NotAuthorized { .. }
        ) {
            self.ready.push_back(Err(error.clone().into()));
        }
    }

    fn fetched(
        &mut self,
        leader: BrokerId,
        asked: Arc<BTreeMap<TopicPartition, Asked<Wanted>>>,
        answer: Answer<FetchResponse>,
    ) {
        let response = answer.response;
        let nodes = response.node_endpoints.iter();
        let nodes = nodes.map(|node| (node.node_id, node.host.as_str(), node.port));
        self.client.learned_nodes(nodes);
        let broker = self.brokers.entry(leader).or_default();
        match ErrorCode(response.error_code) {
            ErrorCode::NONE => {
                let asked = Arc::clone(&asked);
                broker.session.answered(response.session_id, asked);
            }
            code => {
                broker
                    .session
                    .lost(code != ErrorCode::FETCH_SESSION_ID_NOT_FOUND);
                if code.is_invalid_metadata() {
                    for partition in asked.keys() {
                        self.leaders.distrust(&partition.topic);
                    }
                }
                if !matches!(
                    code,
                    ErrorCode::FETCH_SESSION_ID_NOT_FOUND | ErrorCode::INVALID_FETCH_SESSION_EPOCH
                ) {
                    broker.failures = broker.failures.saturating_add(1);
                    broker.not_before = Some(Instant::now() + self.backoff.after(broker.failures));
                }
                return;
            }
        }
        let mut came = Vec::new();
        for topic in response.responses {
            let by_id = topic.topic_id != Uuid::ZERO;
            let named = by_id.then(|| self.leaders.named(topic.topic_id));
            let Some(name) = named.unwrap_or(Some(&topic.topic)).cloned() else {
                continue;
            };
            for told in topic.partitions {
                let key = TopicPartition::new(name.clone(), told.partition_index);
                if let Some(asked) = asked.get(&key) {
                    came.extend(self.partition_fetched(key, asked, told, &answer.server));
                }
            }
        }
        if !came.is_empty() {
            self.ready.push_back(Ok(came));
        }
    }

    fn partition_fetched(
        &mut self,
        key: TopicPartition,
        asked: &Asked<Wanted>,
        told: PartitionData,
        server: &ServerAddress,
    ) -> Option<PartitionRecords> {
        let moved = Leadership::told(
            told.current_leader.leader_id,
            told.current_leader.leader_epoch,
        );
        if !self.is_usable(&key, asked, ErrorCode(told.error_code), moved, server) {
            return None;
        }
        let position = self.positions.get_mut(&key)?;
        let from = asked.what.offset;
        if position.offset() != Some(from) {
            return None;
        }
        let aborted = told.aborted_transactions.unwrap_or_default();
        match read(
            told.records.unwrap_or_default(),
            from,
            aborted,
            &self.options,
        ) {
            Ok(read) => {
                if read.next != from {
                    // What was read just now is this leader's.
                    position.agreed(asked.leadership.epoch);
                }
                position.go_on(read.next, read.epoch);
                (!read.batches.is_empty()).then_some(PartitionRecords {
                    partition: key,
                    from,
                    next: read.next,
                    high_watermark: Offset(told.high_watermark),
                    batches: read.batches,
                })
            }
            Err(error) => {
                position.stop();
                let offset = from;
                self.ready.push_back(Err(ConsumeError::Corrupt {
                    partition: key,
                    offset,
                    error,
                }));
                None
            }
        }
    }

    /// Whether an answer is about where the consumer still is, and no error; what an error means
    /// is done.
    fn is_usable<T>(
        &mut self,
        key: &TopicPartition,
        asked: &Asked<T>,
        code: ErrorCode,
        moved: Leadership,
        server: &ServerAddress,
    ) -> bool {
        let Some(position) = self.positions.get_mut(key) else {
            return false;
        };
        if position.seek != asked.seek {
            return false;
        }
        position.wait_until(None);
        match code {
            ErrorCode::NONE => return true,
            ErrorCode::OFFSET_OUT_OF_RANGE => {
                if self.options.offset_reset == OffsetReset::None
                    && let Some(offset) = position.offset()
                {
                    let partition = key.clone();
                    self.ready
                        .push_back(Err(ConsumeError::OutOfRange { partition, offset }));
                }
                position.reset(self.options.offset_reset);
            }
            code if code.is_retriable() => {
                // A leader that has been named is asked at once (KIP-951).
                if !self.leaders.moved(key, moved) {
                    if code.is_invalid_metadata() {
                        self.leaders.distrust(&key.topic);
                    }
                    position.wait_until(Some(Instant::now() + self.backoff.after(1)));
                }
            }
            code => {
                position.stop();
                self.ready.push_back(Err(ConsumeError::Refused {
                    partition: key.clone(),
                    server: server.clone(),
                    code,
                }));
            }
        }
        false
    }

    fn found(&mut self, key: &TopicPartition, asked: &Asked<SeekTo>, found: Option<Offset>) {
        let Some(position) = self.positions.get_mut(key) else {
            return;
        };
        match found {
            Some(offset) => position.go_on(offset, None),
            // No record is that late.
            None => *position = super::Position::sought(SeekTo::End, asked.seek),
        }
    }

    fn compared(&mut self, key: &TopicPartition, asked: &Asked<LeaderEpoch>, end: Option<Offset>) {
        let Some(position) = self.positions.get_mut(key) else {
            return;
        };
        let Some(at) = position.offset() else {
            return;
        };
        position.agreed(asked.leadership.epoch);
        if end.is_some_and(|end| end >= at) {
            return;
        }
        self.ready.push_back(Err(ConsumeError::Truncated {
            partition: key.clone(),
            position: at,
            diverges_at: end,
        }));
        match (self.options.offset_reset, end) {
            (OffsetReset::None, _) => position.stop(),
            (_, Some(end)) => position.go_on(end, None),
            (reset, None) => position.reset(reset),
        }
    }
}
