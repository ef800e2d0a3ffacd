use bytes::Bytes;
use klamm_protocol::Offset;

use super::Log;
use crate::error::LogError;
use crate::names::Kind;

/// The most bytes that a snapshot of producers may have: about 2.8 million producers.
const MAX_LEN: usize = 128 * 1024 * 1024;

/// Snapshots of what idempotent and transactional producers wrote last: `<offset>.snapshot`. What is
/// in them is the caller's; the log only sees to it that none tells of records that are not there.
impl Log {
    /// The offsets of the snapshots, in order. Each is of all records before its offset.
    pub fn producer_snapshots(&self) -> Result<Vec<Offset>, LogError> {
        let dir = &self.files.dir;
        let names = dir
            .names()
            .map_err(LogError::io("list", dir.path().to_owned()))?;
        let offset = |name: &String| match Kind::parse(name) {
            Some((offset, Kind::ProducerSnapshot)) => Some(offset),
            _ => None,
        };
        let mut offsets: Vec<Offset> = names.iter().filter_map(offset).collect();
        offsets.sort_unstable();
        Ok(offsets)
    }

    /// The bytes of a snapshot; `None` if there is none at this offset.
    pub fn read_producer_snapshot(&self, offset: Offset) -> Result<Option<Bytes>, LogError> {
        let name = Kind::ProducerSnapshot.name(offset);
        let dir = &self.files.dir;
        let read = dir.read_small(&name, MAX_LEN);
        let read = read.map_err(LogError::io("read", dir.file(&name)))?;
        Ok(read.map(Bytes::from))
    }

    /// Writes a snapshot of all records before an offset, which the log has; durable when this
    /// returns.
    pub fn write_producer_snapshot(&self, offset: Offset, bytes: &[u8]) -> Result<(), LogError> {
        self.check()?;
        if offset > self.end {
            return Err(LogError::OffsetOutOfRange {
                offset,
                start: self.start,
                end: self.end,
            });
        }
        let name = Kind::ProducerSnapshot.name(offset);
        let dir = &self.files.dir;
        let written = dir.replace(&name, bytes);
        written.map_err(LogError::io("write", dir.file(&name)))
    }

    /// Removes the snapshots for which `keep` does not hold: how many.
    pub fn retain_producer_snapshots(
        &self,
        keep: impl Fn(Offset) -> bool,
    ) -> Result<usize, LogError> {
        let offsets = self.producer_snapshots()?;
        let gone = offsets.into_iter().filter(|offset| !keep(*offset));
        let mut removed = 0;
        for offset in gone {
            let outcome = self.files.remove(offset, Kind::ProducerSnapshot);
            let name = Kind::ProducerSnapshot.name(offset);
            outcome.map_err(LogError::io("remove", self.files.dir.file(&name)))?;
            removed += 1;
        }
        Ok(removed)
    }
}
