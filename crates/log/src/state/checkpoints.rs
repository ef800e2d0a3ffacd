use klamm_protocol::{Offset, PartitionIndex};

use crate::checkpoint;
use crate::error::LogError;
use crate::names::number;
use crate::storage::Dir;

/// Which of the files that have an offset for each partition of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetCheckpoint {
    /// Up to where each log was flushed.
    RecoveryPoint,
    /// The high watermark of each replica.
    HighWatermark,
    /// Where each log begins, if that is after its first segment's base offset.
    LogStart,
}

/// An offset of a partition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartitionOffset {
    /// The topic's name.
    pub topic: String,
    /// The partition.
    pub partition: PartitionIndex,
    /// The offset.
    pub offset: Offset,
}

impl OffsetCheckpoint {
    /// The file's name.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::RecoveryPoint => "recovery-point-offset-checkpoint",
            Self::HighWatermark => "replication-offset-checkpoint",
            Self::LogStart => "log-start-offset-checkpoint",
        }
    }

    /// The entries of the file; none if it is not there.
    pub fn read(self, dir: &dyn Dir) -> Result<Vec<PartitionOffset>, LogError> {
        checkpoint::read(dir, self.file_name(), |line| {
            let mut words = line.split_whitespace();
            let entry = PartitionOffset {
                topic: words.next()?.to_owned(),
                partition: PartitionIndex(number(words.next()?)?),
                offset: Offset(number(words.next()?)?),
            };
            words.next().is_none().then_some(entry)
        })
    }

    /// Replaces the file.
    pub fn write(self, dir: &dyn Dir, entries: &[PartitionOffset]) -> Result<(), LogError> {
        let lines = entries.iter().map(|entry| {
            let PartitionOffset {
                topic,
                partition,
                offset,
            } = entry;
            format!("{topic} {partition} {offset}")
        });
        checkpoint::write(dir, self.file_name(), lines)
    }
}
