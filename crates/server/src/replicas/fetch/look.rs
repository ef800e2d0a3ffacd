//! A look at the partitions of a Fetch: what each has for its reader.

use std::sync::Arc;

use bytes::Bytes;
use klamm_log::{LogError, Slice};
use klamm_protocol::{ErrorCode, LeaderEpoch, Offset};
use klamm_replica::{FetchPosition, FetchReply, Readable, Reader};

use super::super::Shared;
use super::super::hosted::{Hosted, Moment};
use super::super::watchers::Watch;
use super::is_error;
use super::session::{Session, Slot, Told, TopicKey, Wanted};

/// How much an answer brings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) max_bytes: usize,
    pub(super) min_bytes: usize,
}

/// What was found, in the order of the turns.
#[derive(Debug, Default)]
pub(super) struct Looked {
    pub(super) partitions: Vec<Found>,
    bytes: usize,
}

/// What a partition has for its reader.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) slot: Slot,
    pub(super) reply: Result<FetchReply, ErrorCode>,
    /// Whether only a change can bring its reader more. A follower outside of the ISR is not
    /// settled: with each of its fetches it may join.
    is_settled: bool,
    slice: Option<(Arc<Hosted>, Slice)>,
    pub(super) records: Bytes,
}

impl Found {
    fn error(slot: Slot, error: ErrorCode) -> Self {
        Self {
            slot,
            reply: Err(error),
            is_settled: false,
            slice: None,
            records: Bytes::new(),
        }
    }

    /// What is told of the partition but for its records; none where that is an error.
    pub(super) fn told(&self) -> Option<Told> {
        let reply = self.reply.as_ref().ok()?;
        Some(Told {
            high_watermark: reply.high_watermark.0,
            log_start: reply.log_start.0,
        })
    }
}

impl Looked {
    /// Whether the answer need not wait for more.
    pub(super) fn is_enough(&self, limits: Limits) -> bool {
        let is_news = |found: &Found| match found.reply {
            Err(error) => is_error(error),
            Ok(reply) => matches!(reply.found, Readable::Diverging(_)),
        };
        self.bytes >= limits.min_bytes || self.partitions.iter().any(is_news)
    }
}

impl Shared {
    /// Looks at the partitions that may have something to tell. The first look of a request notes
    /// where a follower is.
    pub(super) fn look(
        &self,
        session: &mut Session,
        reader: Reader,
        limits: Limits,
        is_first: bool,
    ) -> Looked {
        let moment = self.moment();
        let mut looked = Looked::default();
        for slot in session.due() {
            let watch = Arc::clone(session.watch());
            let Some(wanted) = session.at(slot) else {
                continue;
            };
            let index = wanted.asked.partition;
            let hosted = match &wanted.topic {
                TopicKey::Name(name) => self.find_by_name(&moment.image, name, index),
                TopicKey::Id(id) => self.find(&moment.image, *id, index),
            };
            let found = match hosted {
                Ok(hosted) => {
                    let act = Look {
                        slot,
                        reader,
                        left: limits.max_bytes.saturating_sub(looked.bytes),
                        is_only: looked.bytes == 0,
                        is_first,
                        watch: &watch,
                    };
                    self.look_at(&hosted, wanted, &act, &moment)
                }
                Err(error) => Found::error(slot, error),
            };
            if found.is_settled && wanted.told == found.told() {
                session.settle(slot);
            }
            looked.bytes += found.slice.as_ref().map_or(0, |(_, slice)| slice.len());
            looked.partitions.push(found);
        }
        looked
    }

    fn look_at(
        &self,
        hosted: &Arc<Hosted>,
        wanted: &mut Wanted,
        look: &Look<'_>,
        moment: &Moment,
    ) -> Found {
        let found = self.with(hosted, moment, |state| {
            let position = position(wanted);
            let brokers = moment.image.cluster();
            let reply = match look.is_first {
                true => state
                    .replica
                    .fetch(&position, look.reader, moment.now, brokers),
                false => state.replica.read(&position, look.reader),
            };
            let reply = match reply {
                Ok(reply) => reply,
                Err(error) => return Ok(Err(ErrorCode::from(error))),
            };
            // What this has committed is told to others, not to this reader.
            state.carry_out(moment, hosted)?;
            if !wanted.is_watched {
                state.watch(look.watch, Session::watch_name(look.slot));
                wanted.is_watched = true;
            }
            let has_joined = match look.reader {
                Reader::Replica { id, .. } => state.replica.isr().contains(&id),
                Reader::Consumer { .. } => true,
            };
            let slice = match reply.found {
                Readable::Records { from, to } if from < to => {
                    let most = usize::try_from(wanted.asked.partition_max_bytes);
                    let most = most.unwrap_or(0).min(look.left);
                    let slice = match state.log.read(from, to, most) {
                        Ok(slice) => slice,
                        Err(error) => return unreadable(error),
                    };
                    // One batch comes whatever its size, so that nobody is stuck.
                    (look.is_only || slice.len() <= look.left).then_some(slice)
                }
                _ => None,
            };
            Ok(Ok((reply, slice, has_joined)))
        });
        match found {
            Ok(Ok((reply, slice, has_joined))) => Found {
                slot: look.slot,
                is_settled: has_joined && is_at_the_end(&reply),
                reply: Ok(reply),
                slice: slice
                    .filter(|slice| !slice.is_empty())
                    .map(|slice| (Arc::clone(hosted), slice)),
                records: Bytes::new(),
            },
            Ok(Err(error)) | Err(error) => Found::error(look.slot, error),
        }
    }

    /// Reads the records that were found, which nobody has to hold a replica for.
    pub(super) fn read_records(&self, looked: &mut Looked) {
        for found in &mut looked.partitions {
            let Some((hosted, slice)) = found.slice.take() else {
                continue;
            };
            match slice.bytes() {
                Ok(records) => found.records = records,
                // It was cut off meanwhile: who reads asks again.
                Err(LogError::Io { source, .. })
                    if source.kind() == std::io::ErrorKind::UnexpectedEof => {}
                Err(error) => {
                    self.fail_dir(&hosted.dir, &error);
                    found.reply = Err(ErrorCode::KAFKA_STORAGE_ERROR);
                }
            }
        }
    }
}

/// Whether its reader has all that it may read.
fn is_at_the_end(reply: &FetchReply) -> bool {
    matches!(reply.found, Readable::Records { from, to } if from >= to)
}

/// What a look at a partition is for.
struct Look<'a> {
    slot: Slot,
    reader: Reader,
    /// How many bytes the answer has room for.
    left: usize,
    /// Whether no partition before has any.
    is_only: bool,
    is_first: bool,
    watch: &'a Arc<Watch>,
}

fn position(wanted: &Wanted) -> FetchPosition {
    let epoch = |epoch: i32| (epoch >= 0).then_some(LeaderEpoch(epoch));
    let asked = &wanted.asked;
    FetchPosition {
        current_leader_epoch: epoch(asked.current_leader_epoch),
        offset: Offset(asked.fetch_offset),
        last_fetched_epoch: epoch(asked.last_fetched_epoch),
        log_start: Offset(asked.log_start_offset),
    }
}

/// A log that cannot be read: the disk, or bytes that have changed on it.
fn unreadable<T>(error: LogError) -> Result<Result<T, ErrorCode>, LogError> {
    match error {
        LogError::Corrupt { .. } => {
            tracing::error!(%error, "a log cannot be read");
            Ok(Err(ErrorCode::CORRUPT_MESSAGE))
        }
        LogError::OffsetOutOfRange { .. } => Ok(Err(ErrorCode::OFFSET_OUT_OF_RANGE)),
        error => Err(error),
    }
}
