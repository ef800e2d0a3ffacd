//! ListOffsets and OffsetForLeaderEpoch: where things are in a log.

use std::sync::Arc;

use klamm_log::{LogError, Timestamped};
use klamm_protocol::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsPartitionResponse, ListOffsetsRequest, ListOffsetsResponse,
    ListOffsetsTopicResponse,
};
use klamm_protocol::messages::offset_for_leader_epoch::{
    EpochEndOffset, OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
};
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, Offset};
use klamm_replica::{Isolation, ReplicaError};

use super::fetch::isolation;
use super::hosted::{Hosted, Moment, State};
use super::{Replicas, Shared};

/// Timestamps that stand for places in a log.
const LATEST: i64 = -1;
const EARLIEST: i64 = -2;
const MAX_TIMESTAMP: i64 = -3;
const EARLIEST_LOCAL: i64 = -4;
const LATEST_TIERED: i64 = -5;
const EARLIEST_PENDING_UPLOAD: i64 = -6;

/// The first version that knows OFFSET_NOT_AVAILABLE.
const WITH_NOT_AVAILABLE: i16 = 5;
/// The first version with leader epochs.
const WITH_EPOCHS: i16 = 4;

impl Replicas {
    /// Answers ListOffsets.
    pub(crate) async fn list_offsets(
        &self,
        request: ListOffsetsRequest,
        version: i16,
    ) -> ListOffsetsResponse {
        self.blocking(move |shared| shared.list_offsets(&request, version))
            .await
    }

    /// Answers OffsetForLeaderEpoch.
    pub(crate) async fn offset_for_leader_epoch(
        &self,
        request: OffsetForLeaderEpochRequest,
    ) -> OffsetForLeaderEpochResponse {
        self.blocking(move |shared| shared.ends_of_epochs(&request))
            .await
    }
}

/// What was found: a timestamp, an offset, and the leader epoch there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    timestamp: i64,
    offset: Offset,
    epoch: Option<LeaderEpoch>,
}

impl Place {
    const NONE: Self = Self {
        timestamp: -1,
        offset: Offset(-1),
        epoch: None,
    };
}

impl Shared {
    fn list_offsets(&self, request: &ListOffsetsRequest, version: i16) -> ListOffsetsResponse {
        let moment = self.moment();
        let is_broker = BrokerId(request.replica_id).known().is_some();
        let isolation = (!is_broker).then(|| isolation(request.isolation_level));
        let topics = request.topics.iter().map(|topic| {
            let partitions = topic.partitions.iter().map(|asked| {
                let index = asked.partition_index;
                let found = self
                    .find_by_name(&moment.image, &topic.name, index)
                    .and_then(|hosted| self.place_in(&hosted, asked, isolation, &moment));
                answer(index, found, version)
            });
            ListOffsetsTopicResponse {
                name: topic.name.clone(),
                partitions: partitions.collect(),
                ..ListOffsetsTopicResponse::default()
            }
        });
        ListOffsetsResponse {
            topics: topics.collect(),
            ..ListOffsetsResponse::default()
        }
    }

    fn place_in(
        &self,
        hosted: &Arc<Hosted>,
        asked: &ListOffsetsPartition,
        isolation: Option<Isolation>,
        moment: &Moment,
    ) -> Result<Place, ErrorCode> {
        let epoch = known_epoch(asked.current_leader_epoch);
        self.with(hosted, moment, |state| {
            find(state, asked.timestamp, isolation, epoch)
        })?
    }

    fn ends_of_epochs(
        &self,
        request: &OffsetForLeaderEpochRequest,
    ) -> OffsetForLeaderEpochResponse {
        let moment = self.moment();
        let topics = request.topics.iter().map(|topic| {
            let partitions = topic.partitions.iter().map(|asked| {
                let current = known_epoch(asked.current_leader_epoch);
                let found = self
                    .find_by_name(&moment.image, &topic.topic, asked.partition)
                    .and_then(|hosted| {
                        self.with(&hosted, &moment, |state| {
                            let epoch = LeaderEpoch(asked.leader_epoch);
                            Ok(state.replica.end_of_epoch(epoch, current))
                        })
                    });
                let mut answer = EpochEndOffset {
                    partition: asked.partition,
                    leader_epoch: -1,
                    end_offset: -1,
                    ..EpochEndOffset::default()
                };
                match found {
                    Ok(Ok(Some(end))) => {
                        answer.leader_epoch = end.epoch.0;
                        answer.end_offset = end.end.0;
                    }
                    Ok(Ok(None)) => {}
                    Ok(Err(error)) => answer.error_code = ErrorCode::from(error).0,
                    Err(error) => answer.error_code = error.0,
                }
                answer
            });
            OffsetForLeaderTopicResult {
                topic: topic.topic.clone(),
                partitions: partitions.collect(),
                ..OffsetForLeaderTopicResult::default()
            }
        });
        OffsetForLeaderEpochResponse {
            topics: topics.collect(),
            ..OffsetForLeaderEpochResponse::default()
        }
    }
}

fn known_epoch(epoch: i32) -> Option<LeaderEpoch> {
    (epoch >= 0).then_some(LeaderEpoch(epoch))
}

fn answer(
    index: i32,
    found: Result<Place, ErrorCode>,
    version: i16,
) -> ListOffsetsPartitionResponse {
    let (place, error) = match found {
        Ok(place) => (place, ErrorCode::NONE),
        Err(ErrorCode::OFFSET_NOT_AVAILABLE) if version < WITH_NOT_AVAILABLE => {
            (Place::NONE, ErrorCode::LEADER_NOT_AVAILABLE)
        }
        Err(error) => (Place::NONE, error),
    };
    let epoch = place.epoch.filter(|_| version >= WITH_EPOCHS);
    ListOffsetsPartitionResponse {
        partition_index: index,
        error_code: error.0,
        timestamp: place.timestamp,
        offset: place.offset.0,
        leader_epoch: epoch.map_or(-1, |epoch| epoch.0),
        ..ListOffsetsPartitionResponse::default()
    }
}

/// A place in a log. A client is told of none that it may not read yet; a broker (no isolation
/// level) of all.
fn find(
    state: &mut State,
    timestamp: i64,
    isolation: Option<Isolation>,
    epoch: Option<LeaderEpoch>,
) -> Result<Result<Place, ErrorCode>, LogError> {
    let code = |error: ReplicaError| ErrorCode::from(error);
    let latest = state.replica.latest_offset(isolation, epoch);
    let at = |offset: Offset, epoch| Place {
        timestamp: -1,
        offset,
        epoch,
    };
    match timestamp {
        EARLIEST | EARLIEST_LOCAL => {
            // A new leader knows where its log begins.
            if let Err(error) = state.replica.latest_offset(None, epoch) {
                return Ok(Err(code(error)));
            }
            let start = state.replica.log().start();
            Ok(Ok(at(start, state.log.epochs().of(start))))
        }
        LATEST => Ok(latest
            .map(|offset| at(offset, state.replica.log().last_epoch()))
            .map_err(code)),
        LATEST_TIERED | EARLIEST_PENDING_UPLOAD => {
            // Nothing of the log is elsewhere.
            let asked = state.replica.latest_offset(None, epoch);
            Ok(asked.map(|_| Place::NONE).map_err(code))
        }
        timestamp if timestamp >= 0 || timestamp == MAX_TIMESTAMP => {
            let latest = match latest {
                Ok(latest) => latest,
                Err(error) => return Ok(Err(code(error))),
            };
            let found = match timestamp {
                MAX_TIMESTAMP => state.log.find_latest_timestamp(),
                timestamp => state.log.find_timestamp(timestamp),
            };
            let found = match found {
                Err(error @ (LogError::Io { .. } | LogError::Failed { .. })) => return Err(error),
                Err(error) => {
                    tracing::error!(%error, "a log cannot be read");
                    return Ok(Err(ErrorCode::CORRUPT_MESSAGE));
                }
                Ok(found) => found.filter(|found| found.offset < latest),
            };
            Ok(Ok(found.map_or(Place::NONE, place)))
        }
        _ => Ok(Err(ErrorCode::UNSUPPORTED_VERSION)),
    }
}

fn place(found: Timestamped) -> Place {
    Place {
        timestamp: found.timestamp,
        offset: found.offset,
        epoch: Some(found.epoch).filter(|epoch| epoch.0 >= 0),
    }
}
