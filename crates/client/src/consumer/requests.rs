use std::collections::BTreeMap;
use std::sync::Arc;

use klamm_protocol::messages::fetch::FetchResponse;
use klamm_protocol::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic,
};
use klamm_protocol::messages::offset_for_leader_epoch::{
    OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, OffsetForLeaderPartition,
    OffsetForLeaderTopic,
};
use klamm_protocol::{BrokerId, LeaderEpoch, SmallString, VersionRange};
use tokio::time::Instant;

use super::Consumer;
use super::options::{IsolationLevel, SeekTo};
use super::session::{WITH_TOPIC_IDS, Wanted};
use crate::admin::TopicDescription;
use crate::call::{Answer, Call, Effect};
use crate::client::Route;
use crate::leaders::Leadership;
use crate::retry::Deadline;
use crate::types::by_topic;
use crate::{ClientError, ItemError, TopicPartition};

/// ListOffsets' timestamps that stand for places.
const LATEST: i64 = -1;
const EARLIEST: i64 = -2;

/// What is asked of a broker, once at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Fetch,
    Seek,
    Compare,
}

/// What a partition was asked about: what an answer is for is only known from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<T> {
    pub(super) seek: u64,
    pub(super) leadership: Leadership,
    pub(super) what: T,
}

impl<T> Asked<T> {
    pub(super) fn new(seek: u64, leadership: Leadership, what: T) -> Self {
        Self {
            seek,
            leadership,
            what,
        }
    }
}

/// What a task has ended with.
pub(super) enum Done {
    Asked(Result<BTreeMap<SmallString, Result<TopicDescription, ItemError>>, ClientError>),
    Fetched {
        leader: BrokerId,
        asked: Arc<BTreeMap<TopicPartition, Asked<Wanted>>>,
        outcome: Result<Answer<FetchResponse>, ClientError>,
    },
    Sought {
        leader: BrokerId,
        asked: BTreeMap<TopicPartition, Asked<SeekTo>>,
        outcome: Result<Answer<ListOffsetsResponse>, ClientError>,
    },
    Compared {
        leader: BrokerId,
        asked: BTreeMap<TopicPartition, Asked<LeaderEpoch>>,
        outcome: Result<Answer<OffsetForLeaderEpochResponse>, ClientError>,
    },
}

impl Consumer {
    /// Asks a leader for what its partitions need.
    pub(super) fn ask(&mut self, leader: BrokerId, now: Instant) {
        let may_seek = self.may_ask(leader, Kind::Seek);
        let may_compare = self.may_ask(leader, Kind::Compare);
        // What came from this broker and was not given out yet comes first.
        let is_read = self.ready.iter().all(|ready| !self.is_from(leader, ready));
        let may_fetch = is_read && self.may_ask(leader, Kind::Fetch);
        if !may_seek && !may_compare && !may_fetch {
            return;
        }
        let mut to_seek = BTreeMap::new();
        let mut to_compare = BTreeMap::new();
        let mut to_fetch = BTreeMap::new();
        for (partition, position) in &self.positions {
            let leadership = self.leaders.of(partition);
            if leadership.leader != Some(leader) || !position.is_due(now) {
                continue;
            }
            let seek = position.seek;
            if let Some(what) = position.looked_for() {
                if may_seek {
                    to_seek.insert(partition.clone(), Asked::new(seek, leadership, what));
                }
            } else if let Some(what) = position.to_compare(leadership) {
                if may_compare {
                    to_compare.insert(partition.clone(), Asked::new(seek, leadership, what));
                }
            } else if let Some(offset) = position.offset()
                && may_fetch
            {
                let what = Wanted {
                    topic_id: self.leaders.id(&partition.topic),
                    leader_epoch: leadership.wire_epoch(),
                    offset,
                };
                to_fetch.insert(partition.clone(), Asked::new(seek, leadership, what));
            }
        }
        if !to_seek.is_empty() {
            self.begin(leader, Kind::Seek);
            self.seek_at(leader, to_seek);
        }
        if !to_compare.is_empty() {
            self.begin(leader, Kind::Compare);
            self.compare_with(leader, to_compare);
        }
        if !to_fetch.is_empty() {
            self.begin(leader, Kind::Fetch);
            self.fetch_from(leader, Arc::new(to_fetch));
        }
    }

    fn is_from<E>(
        &self,
        leader: BrokerId,
        ready: &Result<Vec<super::PartitionRecords>, E>,
    ) -> bool {
        let Ok(records) = ready else {
            return false;
        };
        let led = |read: &super::PartitionRecords| self.leaders.of(&read.partition).leader;
        records.iter().any(|read| led(read) == Some(leader))
    }

    /// Whether nothing of a kind is on its way to a broker.
    fn may_ask(&self, leader: BrokerId, kind: Kind) -> bool {
        let broker = self.brokers.get(&leader);
        broker.is_none_or(|broker| !broker.asked.contains(&kind))
    }

    fn begin(&mut self, leader: BrokerId, kind: Kind) {
        self.brokers.entry(leader).or_default().asked.push(kind);
    }

    fn call(&self, leader: BrokerId) -> Call {
        let config = self.client.config();
        // A broker may wait with its answer to a Fetch.
        let within = config.request_timeout + self.options.fetch_max_wait;
        Call::new(Route::Node(leader), Effect::Read, Deadline::after(within))
    }

    fn fetch_from(
        &mut self,
        leader: BrokerId,
        asked: Arc<BTreeMap<TopicPartition, Asked<Wanted>>>,
    ) {
        let broker = self.brokers.entry(leader).or_default();
        let draft = broker.session.next(Arc::clone(&asked));
        let (client, options) = (self.client.clone(), self.options.clone());
        let mut call = self.call(leader);
        if !draft.has_ids() {
            call.needed = VersionRange::new(0, WITH_TOPIC_IDS - 1);
        }
        self.tasks.spawn(async move {
            let build = |version, _timeout_ms| draft.build(version, &options);
            let outcome = call.once(&client, &mut Vec::new(), build).await;
            Done::Fetched {
                leader,
                asked,
                outcome,
            }
        });
    }

    fn seek_at(&mut self, leader: BrokerId, asked: BTreeMap<TopicPartition, Asked<SeekTo>>) {
        let topics = by_topic(&asked, |partition_index, asked| ListOffsetsPartition {
            partition_index,
            current_leader_epoch: asked.leadership.wire_epoch(),
            timestamp: match asked.what {
                SeekTo::Beginning => EARLIEST,
                SeekTo::Timestamp(timestamp) => timestamp,
                SeekTo::End | SeekTo::Offset(_) => LATEST,
            },
            ..Default::default()
        });
        let topics = topics
            .into_iter()
            .map(|(name, partitions)| ListOffsetsTopic {
                name,
                partitions,
                ..Default::default()
            });
        let topics: Vec<_> = topics.collect();
        let isolation = self.options.isolation;
        let (client, mut call) = (self.client.clone(), self.call(leader));
        if isolation == IsolationLevel::ReadCommitted {
            call = call.needing(2, "isolation.level=read_committed");
        }
        self.tasks.spawn(async move {
            let build = move |_version, timeout_ms| ListOffsetsRequest {
                replica_id: -1,
                isolation_level: isolation.wire(),
                topics,
                timeout_ms,
                ..Default::default()
            };
            let outcome = call.once(&client, &mut Vec::new(), build).await;
            Done::Sought {
                leader,
                asked,
                outcome,
            }
        });
    }

    fn compare_with(
        &mut self,
        leader: BrokerId,
        asked: BTreeMap<TopicPartition, Asked<LeaderEpoch>>,
    ) {
        let topics = by_topic(&asked, |partition, asked| OffsetForLeaderPartition {
            partition,
            current_leader_epoch: asked.leadership.wire_epoch(),
            leader_epoch: asked.what.0,
            ..Default::default()
        });
        let topics = topics
            .into_iter()
            .map(|(topic, partitions)| OffsetForLeaderTopic {
                topic,
                partitions,
                ..Default::default()
            });
        let topics: Vec<_> = topics.collect();
        let (client, call) = (self.client.clone(), self.call(leader));
        self.tasks.spawn(async move {
            let build = move |_version, _timeout_ms| OffsetForLeaderEpochRequest {
                replica_id: -1,
                topics,
                ..Default::default()
            };
            let outcome = call.once(&client, &mut Vec::new(), build).await;
            Done::Compared {
                leader,
                asked,
                outcome,
            }
        });
    }
}
