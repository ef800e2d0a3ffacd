use klamm_protocol::records::{DecompressLimit, NO_TIMESTAMP, RecordBatch};
use klamm_protocol::{LeaderEpoch, Offset};

use super::Log;
use crate::error::LogError;
use crate::index::Index;
use crate::names::Kind;
use crate::scan::Step;
use crate::segment::{SCAN_WINDOW, Segment};

/// How long records are kept, as `retention.ms` and `retention.bytes` say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Segments go when their largest timestamp is older than this, in milliseconds.
    pub ms: Option<i64>,
    /// The oldest segments go while the others have at least so many bytes.
    pub bytes: Option<u64>,
}

/// A record by its timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamped {
    /// Its offset.
    pub offset: Offset,
    /// Its timestamp in milliseconds since 1970.
    pub timestamp: i64,
    /// The leader epoch of its batch.
    pub epoch: LeaderEpoch,
}

impl Log {
    /// Removes the oldest segments that need not be kept: how many. Records from `up_to` on, the high
    /// watermark, stay in any case.
    pub fn retain(
        &mut self,
        retention: &Retention,
        now_ms: i64,
        up_to: Offset,
    ) -> Result<usize, LogError> {
        self.check()?;
        let mut start = self.start;
        let mut excess = retention
            .bytes
            .map(|bytes| self.len().saturating_sub(bytes));
        let segments: Vec<Segment> = self.all_segments().collect();
        for (place, segment) in segments.iter().enumerate() {
            let end = segments.get(place + 1).map_or(self.end, |next| next.base);
            if end > up_to || segment.len == 0 {
                break;
            }
            let is_too_much = excess.is_some_and(|excess| excess >= segment.len);
            let is_too_old = match retention.ms {
                Some(ms) => now_ms.saturating_sub(self.latest_ms(*segment)?) > ms,
                None => false,
            };
            if !is_too_much && !is_too_old {
                break;
            }
            excess = excess.map(|excess| excess.saturating_sub(segment.len));
            start = end;
        }
        self.delete_before(start)
    }

    /// The largest timestamp in a segment, or when it was written, if its records have none.
    fn latest_ms(&self, segment: Segment) -> Result<i64, LogError> {
        let latest = self.latest(segment)?;
        if latest > NO_TIMESTAMP {
            return Ok(latest);
        }
        let modified = self
            .files
            .file(segment.base, Kind::Log)
            .and_then(|file| file.modified_ms());
        modified.map_err(self.index_error(segment, Kind::Log))
    }

    fn latest(&self, segment: Segment) -> Result<i64, LogError> {
        if segment.base == self.active.segment.base {
            return Ok(self.active.latest.timestamp);
        }
        let times = self.times(segment)?;
        Ok(times.last().map_or(NO_TIMESTAMP, |last| last.key))
    }

    /// The time index of a closed segment, made again if need be.
    fn times(&self, segment: Segment) -> Result<Index, LogError> {
        let load = || {
            let loaded = Index::load(&self.files, Kind::TimeIndex, segment.base);
            loaded.map_err(self.index_error(segment, Kind::TimeIndex))
        };
        if let Some(index) = load()? {
            return Ok(index);
        }
        self.repair(segment)?;
        Ok(load()?.unwrap_or_else(|| Index::empty(Kind::TimeIndex, segment.base)))
    }

    /// The first record with a timestamp of at least `timestamp`, as ListOffsets asks for it.
    pub fn find_timestamp(&self, timestamp: i64) -> Result<Option<Timestamped>, LogError> {
        for segment in self.all_segments() {
            if self.latest(segment)? < timestamp {
                continue;
            }
            if let Some(found) = self.find_timestamp_in(segment, timestamp)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The record with the largest timestamp, and the first of several (KIP-734).
    pub fn find_latest_timestamp(&self) -> Result<Option<Timestamped>, LogError> {
        let mut latest = NO_TIMESTAMP;
        for segment in self.all_segments() {
            latest = latest.max(self.latest(segment)?);
        }
        match latest {
            NO_TIMESTAMP => Ok(None),
            latest => self.find_timestamp(latest),
        }
    }

    fn find_timestamp_in(
        &self,
        segment: Segment,
        timestamp: i64,
    ) -> Result<Option<Timestamped>, LogError> {
        // No batch up to the one that an earlier timestamp's entry names has a later one.
        let before = match segment.base == self.active.segment.base {
            true => self
                .active
                .times
                .last_where(&self.files, |entry| entry.key < timestamp),
            false => {
                let times = self.times(segment)?;
                times.last_where(&self.files, |entry| entry.key < timestamp)
            }
        };
        let before = before.map_err(self.index_error(segment, Kind::TimeIndex))?;
        let from = before.map_or(segment.base, |entry| {
            Offset(segment.base.0 + i64::from(entry.value.max(0)))
        });
        let Some(first) = self.find(segment, from.max(self.start))? else {
            return Ok(None);
        };
        let mut scanner = segment.scanner(&self.files, first.position, SCAN_WINDOW)?;
        let read = || LogError::io("read", segment.path(&self.files));
        while let Step::Batch(found) = scanner.step().map_err(read())? {
            if found.header.max_timestamp < timestamp {
                continue;
            }
            let mut bytes = Vec::new();
            let file = self.files.file(segment.base, Kind::Log).map_err(read())?;
            let filled = file.read_full(&mut bytes, found.len as usize, found.position);
            filled.map_err(read())?;
            let batch = RecordBatch::parse(bytes.into())?;
            batch.verify_crc()?;
            for record in &batch.records(DecompressLimit::DEFAULT)? {
                let record = record?;
                if record.timestamp() >= timestamp && record.offset() >= self.start {
                    return Ok(Some(Timestamped {
                        offset: record.offset(),
                        timestamp: record.timestamp(),
                        epoch: batch.header().partition_leader_epoch,
                    }));
                }
            }
        }
        Ok(None)
    }
}
