//! A look at all partitions of a Fetch: what each has for its reader.

use std::sync::Arc;

use bytes::Bytes;
use klamm_log::{LogError, Slice};
use klamm_protocol::{ErrorCode, LeaderEpoch, Offset};
use klamm_replica::{FetchPosition, FetchReply, Readable, Reader};
use tokio::sync::Notify;

use super::super::Shared;
use super::super::hosted::{Hosted, Moment};
use super::is_error;
use super::sessions::{Session, TopicKey, Wanted};

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
    pub(super) turn: u64,
    pub(super) reply: Result<FetchReply, ErrorCode>,
    slice: Option<(Arc<Hosted>, Slice)>,
    pub(super) records: Bytes,
}

impl Found {
    fn error(turn: u64, error: ErrorCode) -> Self {
        Self {
            turn,
            reply: Err(error),
            slice: None,
            records: Bytes::new(),
        }
    }
}

impl Looked {
    /// Whether the answer need not wait for more.
    pub(super) fn is_enough(&self, limits: Limits) -> bool {
        let is_news = |found: &Found| match found.reply {
            Err(error) => is_error(error),
            Ok(reply) => matches!(reply.found, Readable::Diverging(_)),
        };
        self.bytes >= limits.min_bytes
            || self.partitions.is_empty()
            || self.partitions.iter().any(is_news)
    }
}

impl Shared {
    /// Looks at all partitions. The first look of a request notes where a follower is; `watcher` is
    /// told of changes.
    pub(super) fn look(
        &self,
        session: &Session,
        reader: Reader,
        limits: Limits,
        is_first: bool,
        watcher: &Arc<Notify>,
    ) -> Looked {
        let moment = self.moment();
        let mut looked = Looked::default();
        for (turn, wanted) in session.wanted() {
            let index = wanted.asked.partition;
            let hosted = match &wanted.topic {
                TopicKey::Name(name) => self.find_by_name(&moment.image, name, index),
                TopicKey::Id(id) => self.find(&moment.image, *id, index),
            };
            let left = limits.max_bytes.saturating_sub(looked.bytes);
            let found = match hosted {
                Ok(hosted) => {
                    let is_only = looked.bytes == 0;
                    let act = Look {
                        wanted,
                        reader,
                        left,
                        is_only,
                        is_first,
                        watcher,
                    };
                    self.look_at(turn, &hosted, &act, &moment)
                }
                Err(error) => Found::error(turn, error),
            };
            looked.bytes += found.slice.as_ref().map_or(0, |(_, slice)| slice.len());
            looked.partitions.push(found);
        }
        looked
    }

    fn look_at(&self, turn: u64, hosted: &Arc<Hosted>, look: &Look<'_>, moment: &Moment) -> Found {
        let found = self.with(hosted, moment, |state| {
            let position = position(look.wanted);
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
            state.watch(look.watcher);
            let slice = match reply.found {
                Readable::Records { from, to } if from < to => {
                    let most = usize::try_from(look.wanted.asked.partition_max_bytes);
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
            Ok(Ok((reply, slice)))
        });
        match found {
            Ok(Ok((reply, slice))) => Found {
                turn,
                reply: Ok(reply),
                slice: slice
                    .filter(|slice| !slice.is_empty())
                    .map(|slice| (Arc::clone(hosted), slice)),
                records: Bytes::new(),
            },
            Ok(Err(error)) | Err(error) => Found::error(turn, error),
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

/// What a look at a partition is for.
struct Look<'a> {
    wanted: &'a Wanted,
    reader: Reader,
    /// How many bytes the answer has room for.
    left: usize,
    /// Whether no partition before has any.
    is_only: bool,
    is_first: bool,
    watcher: &'a Arc<Notify>,
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
