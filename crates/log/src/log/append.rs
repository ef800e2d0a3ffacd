use bytes::Bytes;
use klamm_protocol::records::{Batch, Batches, NO_TIMESTAMP, RecordBatch, Stamp, TimestampType};
use klamm_protocol::{LeaderEpoch, Offset};

use super::{Log, slices};
use crate::error::{Damage, LogError};
use crate::files::LogFiles;
use crate::names::Kind;
use crate::scan::Rules;
use crate::segment::Active;

/// What was appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The first record's offset.
    pub first: Offset,
    /// The last record's offset.
    pub last: Offset,
    /// Bytes of all batches.
    pub len: u64,
}

/// A batch to append: its header as it will be, and its bytes.
struct Incoming {
    header: klamm_protocol::records::BatchHeader,
    parts: [Bytes; 2],
    len: u64,
}

impl Log {
    /// Appends batches as they are, with the offsets and leader epochs that they have: what a follower
    /// does, and who writes batches itself.
    ///
    /// They are not durable before [`Log::flush`]. With an error none of them is in the log, unless
    /// the error says that it is about the disk: then the log ends with those that were written.
    /// `now_ms` is the time in milliseconds since 1970; it counts for `segment.ms` where batches have
    /// no timestamps.
    pub fn append(&mut self, records: Bytes, now_ms: i64) -> Result<Option<Appended>, LogError> {
        self.check()?;
        let mut incoming = Vec::new();
        for batch in whole_batches(records)? {
            let header = *batch.header();
            let len = batch.bytes().len() as u64;
            incoming.push(Incoming {
                header,
                parts: [batch.into_bytes(), Bytes::new()],
                len,
            });
        }
        self.append_all(incoming, now_ms)
    }

    /// Appends batches with the next offsets, and the epoch of the leader that this replica is.
    ///
    /// `append_time` is the timestamp that all records get, where `message.timestamp.type` says so.
    /// The bytes of the records are not copied.
    pub fn append_assigning(
        &mut self,
        records: Bytes,
        epoch: LeaderEpoch,
        append_time: Option<i64>,
        now_ms: i64,
    ) -> Result<Appended, LogError> {
        self.check()?;
        let mut next = self.end;
        let mut incoming = Vec::new();
        for batch in whole_batches(records)? {
            let stamp = Stamp {
                base_offset: Some(next),
                partition_leader_epoch: Some(epoch),
                max_timestamp: append_time.map(|time| (TimestampType::LogAppendTime, time)),
            };
            let stamped = batch.stamped_header(&stamp);
            let header = klamm_protocol::records::BatchHeader::from_bytes(&stamped);
            next = Offset(header.last_offset().0.saturating_add(1));
            incoming.push(Incoming {
                header,
                parts: [Bytes::copy_from_slice(&stamped), batch.body()],
                len: batch.bytes().len() as u64,
            });
        }
        let end = self.end;
        let appended = self.append_all(incoming, now_ms)?;
        Ok(appended.unwrap_or(Appended {
            first: end,
            last: Offset(end.0 - 1),
            len: 0,
        }))
    }

    fn append_all(
        &mut self,
        incoming: Vec<Incoming>,
        now_ms: i64,
    ) -> Result<Option<Appended>, LogError> {
        let max = self.options.segment_bytes();
        let mut next = self.end;
        let mut epoch = self.last_epoch().unwrap_or(LeaderEpoch(-1));
        for batch in &incoming {
            // A new segment would begin at the next offset, which puts every batch in its reach.
            let rules = Rules {
                base: next,
                contiguous: self.options.contiguous,
            };
            rules
                .check(&batch.header, next, epoch)
                .map_err(LogError::Refused)?;
            if batch.len > max {
                let len = batch.len;
                return Err(LogError::BatchTooLarge { len, max });
            }
            next = Offset(batch.header.last_offset().0 + 1);
            epoch = batch.header.partition_leader_epoch;
        }
        let (Some(first), Some(last)) = (incoming.first(), incoming.last()) else {
            return Ok(None);
        };
        let appended = Appended {
            first: first.header.base_offset,
            last: last.header.last_offset(),
            len: incoming.iter().map(|batch| batch.len).sum(),
        };
        self.active.created_ms.get_or_insert(now_ms);
        let mut rest = &incoming[..];
        while !rest.is_empty() {
            let fit = self.fitting(rest, now_ms);
            if fit == 0 {
                self.roll()?;
                self.active.created_ms = Some(now_ms);
                continue;
            }
            self.write(&rest[..fit])?;
            rest = &rest[fit..];
        }
        Ok(Some(appended))
    }

    /// How many batches go into the segment before there has to be another one.
    fn fitting(&self, batches: &[Incoming], now_ms: i64) -> usize {
        let Active { segment, .. } = self.active;
        let mut len = segment.len;
        let mut first_timestamp = self.active.first_timestamp;
        if len > 0
            && self
                .active
                .indexes_are_full(self.options.index_bytes.into())
        {
            return 0;
        }
        let fits = |batch: &&Incoming| {
            let waited = match first_timestamp {
                Some(first) if first > NO_TIMESTAMP => {
                    batch.header.max_timestamp.saturating_sub(first)
                }
                _ => now_ms.saturating_sub(self.active.created_ms.unwrap_or(now_ms)),
            };
            let is_first = len == 0;
            first_timestamp.get_or_insert(batch.header.max_timestamp);
            len += batch.len;
            let is_late = self.options.segment_ms.is_some_and(|max| waited > max);
            let reach = batch.header.last_offset().0 - segment.base.0;
            is_first
                || len <= self.options.segment_bytes() && !is_late && reach <= i64::from(i32::MAX)
        };
        batches.iter().take_while(fits).count()
    }

    fn write(&mut self, batches: &[Incoming]) -> Result<(), LogError> {
        for batch in batches {
            self.assign_epoch(
                batch.header.partition_leader_epoch,
                batch.header.base_offset,
            )?;
        }
        let segment = self.active.segment;
        let parts: Vec<Bytes> = batches
            .iter()
            .flat_map(|batch| batch.parts.clone())
            .collect();
        let written = self
            .files
            .file(segment.base, Kind::Log)
            .and_then(|file| file.write_all(&mut slices(&parts), segment.len));
        if let Err(e) = written {
            return Err(self.take_back(e));
        }
        for batch in batches {
            self.active.add(&batch.header, batch.len);
        }
        let last = &batches[batches.len() - 1].header;
        self.end = Offset(last.last_offset().0 + 1);
        let stored = self.active.store_many(&self.files);
        self.or_failed(stored)
    }

    /// Removes what a failed write has left, so that the log is as before, on the disk as well:
    /// else it could turn up after a crash, behind what is written there next.
    fn take_back(&mut self, error: std::io::Error) -> LogError {
        let segment = self.active.segment;
        let undone = self.files.file(segment.base, Kind::Log).and_then(|file| {
            file.set_size(segment.len)?;
            file.sync()
        });
        self.failed |= undone.is_err();
        self.epochs.truncate(self.end);
        LogError::io("write", segment.path(&self.files))(error)
    }

    /// Begins another segment. The one before is durable then, as is everything in the log.
    pub fn roll(&mut self) -> Result<(), LogError> {
        self.check()?;
        if self.active.end() == 0 {
            return Ok(());
        }
        let is_flushed = self.flushed >= self.end;
        let rolled = roll(&mut self.active, &self.files, self.end, is_flushed);
        let closed = self.active.segment;
        self.active = self.or_failed(rolled)?;
        self.closed.push(closed);
        self.flushed = self.end;
        Ok(())
    }
}

fn roll(
    active: &mut Active,
    files: &LogFiles,
    end: Offset,
    is_flushed: bool,
) -> Result<Active, LogError> {
    active.finish(files, is_flushed)?;
    Active::create(files, end, active.interval())
}

/// Takes the batches apart, and checks their CRCs.
fn whole_batches(records: Bytes) -> Result<Vec<RecordBatch>, LogError> {
    let len = records.len();
    let mut batches = Batches::new(records);
    let mut whole = Vec::new();
    for batch in batches.by_ref() {
        match batch? {
            Batch::V2(batch) => {
                batch.verify_crc()?;
                whole.push(batch);
            }
            Batch::Legacy(batch) => {
                return Err(LogError::Refused(Damage::Magic(batch.magic())));
            }
        }
    }
    match batches.incomplete_tail() {
        Some(tail) => Err(LogError::Incomplete {
            len,
            left: tail.len,
        }),
        None => Ok(whole),
    }
}
