//! What a leader's answers do to the replicas.

use std::collections::BTreeMap;
use std::sync::Arc;

use klamm_log::LogError;
use klamm_metadata::Place;
use klamm_protocol::messages::fetch::{FetchPartition, FetchResponse, PartitionData};
use klamm_protocol::{EpochEnd, ErrorCode, LeaderEpoch, Offset, PartitionIndex};
use klamm_replica::{Fetch, FetchAnswer, Fetched, FetchedError, LeaderOffsets};
use tokio::time::Instant;

use super::super::Shared;
use super::super::hosted::{Hosted, Moment};
use super::{Fetcher, Revised};

/// A partition that was asked for, and what for.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) hosted: Arc<Hosted>,
    pub(super) fetch: Fetch,
}

/// What has changed of what is asked.
#[derive(Debug, Default)]
pub(super) struct News {
    /// The partitions for which another thing is asked, or nothing any more.
    pub(super) places: Vec<Place>,
    /// When a partition that is left alone is due.
    pub(super) due: Option<Instant>,
}

impl Asked {
    /// As the request has it.
    pub(super) fn to_wire(&self, max_bytes: i32) -> FetchPartition {
        let Fetch {
            leader_epoch,
            offset,
            last_fetched_epoch,
            log_start,
            ..
        } = self.fetch;
        FetchPartition {
            partition: self.hosted.place.index.0,
            current_leader_epoch: leader_epoch.0,
            fetch_offset: offset.0,
            last_fetched_epoch: last_fetched_epoch.map_or(-1, |epoch| epoch.0),
            log_start_offset: log_start.0,
            partition_max_bytes: max_bytes,
            ..FetchPartition::default()
        }
    }
}

impl Fetcher {
    /// Brings `asked`, what all partitions want, up to date.
    pub(super) fn refresh(&self, shared: &Shared, asked: &mut BTreeMap<Place, Asked>) -> News {
        let (news, due) = self.following().take_news(Instant::now());
        let moment = shared.moment();
        let mut places = Vec::with_capacity(news.len());
        for Revised { place, hosted } in news {
            let fetch = hosted.and_then(|hosted| {
                let fetch = shared.with(&hosted, &moment, |state| Ok(state.replica.next_fetch()));
                let fetch = fetch.ok()??;
                (fetch.leader == self.leader).then_some(Asked { hosted, fetch })
            });
            match fetch {
                Some(fetch) => asked.insert(place, fetch),
                None => asked.remove(&place),
            };
            places.push(place);
        }
        News { places, due }
    }

    /// Takes an answer: the partitions whose offsets the leader has to be asked for.
    pub(super) fn apply(
        &self,
        shared: &Shared,
        asked: &BTreeMap<Place, Asked>,
        response: FetchResponse,
    ) -> Vec<Place> {
        let moment = shared.moment();
        let mut out_of_range = Vec::new();
        for topic in response.responses {
            for partition in topic.partitions {
                let place = Place {
                    topic: topic.topic_id,
                    index: PartitionIndex(partition.partition_index),
                };
                let Some(asked) = asked.get(&place) else {
                    continue;
                };
                match self.take(shared, &moment, asked, partition) {
                    Taken::Good => self.succeeded(place),
                    Taken::AskOffsets => out_of_range.push(place),
                    Taken::Later => self.failed(place, shared.settings.fetch.backoff),
                }
            }
        }
        out_of_range
    }

    fn take(
        &self,
        shared: &Shared,
        moment: &Moment,
        asked: &Asked,
        answer: PartitionData,
    ) -> Taken {
        let Asked { hosted, fetch } = asked;
        let answer = FetchAnswer {
            error: ErrorCode(answer.error_code),
            diverging: (answer.diverging_epoch.epoch >= 0).then_some(EpochEnd {
                epoch: LeaderEpoch(answer.diverging_epoch.epoch),
                end: Offset(answer.diverging_epoch.end_offset),
            }),
            high_watermark: Offset(answer.high_watermark),
            log_start: Offset(answer.log_start_offset),
            records: answer.records.unwrap_or_default(),
        };
        let taken = shared.with(hosted, moment, |state| {
            let fetched = match state.replica.fetched(fetch, answer) {
                Ok(fetched) => fetched,
                Err(error) => return Ok(Err(Trouble::Records(error))),
            };
            state.carry_out(moment, hosted)?;
            match fetched {
                Fetched::Append(replication) => match state.replicate(replication, moment)? {
                    Ok(()) => Ok(Ok(Fetched::NoRecords)),
                    Err(error) => Ok(Err(Trouble::Log(error))),
                },
                other => Ok(Ok(other)),
            }
        });
        let name = hosted.name.name();
        let leader = self.leader;
        match taken {
            // It is offline or gone, which has been told.
            Err(_) => Taken::Later,
            Ok(Ok(Fetched::Retry(error))) => {
                tracing::debug!(partition = %name, %leader, %error, "fetching again");
                Taken::Later
            }
            Ok(Ok(Fetched::AskOffsets)) => Taken::AskOffsets,
            Ok(Ok(Fetched::Cut {
                below_high_watermark: true,
            })) => {
                tracing::error!(
                    partition = %name, %leader,
                    "records that were committed are gone: the leader, which was elected \
                     uncleanly, does not have them"
                );
                Taken::Good
            }
            Ok(Ok(_)) => Taken::Good,
            Ok(Err(Trouble::Records(error))) => {
                tracing::error!(partition = %name, %leader, %error, "the leader's answer is refused");
                Taken::Later
            }
            Ok(Err(Trouble::Log(error))) => {
                tracing::error!(partition = %name, %leader, %error, "the leader's records are refused");
                Taken::Later
            }
        }
    }

    /// Where the leader's log begins and ends, or why it does not say.
    pub(super) fn offsets(
        &self,
        shared: &Shared,
        asked: &Asked,
        offsets: Result<LeaderOffsets, ErrorCode>,
    ) {
        let moment = shared.moment();
        let place = asked.hosted.place;
        // What cannot be used has been told.
        let _ = shared.with(&asked.hosted, &moment, |state| {
            state.replica.leader_offsets(&asked.fetch, offsets);
            Ok(())
        });
        match offsets {
            Ok(LeaderOffsets { start, end }) => {
                let name = asked.hosted.name.name();
                tracing::warn!(
                    partition = %name, offset = %asked.fetch.offset, %start, %end,
                    "the leader does not have the offset that comes next here"
                );
                self.succeeded(place);
            }
            Err(_) => self.failed(place, shared.settings.fetch.backoff),
        }
    }
}

/// What came of a partition's answer.
enum Taken {
    Good,
    AskOffsets,
    Later,
}

/// Why the leader's records are not taken.
enum Trouble {
    Records(FetchedError),
    Log(LogError),
}
