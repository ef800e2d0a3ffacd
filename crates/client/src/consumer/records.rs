use std::collections::HashSet;

use klamm_protocol::messages::fetch::AbortedTransaction;
use klamm_protocol::records::{
    Batch, Batches, ControlKey, ControlType, DecompressLimit, Record, Records, RecordsError,
};
use klamm_protocol::{Bytes, LeaderEpoch, Offset};

use super::options::{ConsumerOptions, IsolationLevel};
use crate::TopicPartition;

/// Records of one partition, in order, as views on the answer that they came in.
#[derive(Clone, Debug)]
pub struct PartitionRecords {
    pub(super) partition: TopicPartition,
    pub(super) from: Offset,
    pub(super) next: Offset,
    pub(super) high_watermark: Offset,
    pub(super) batches: Vec<Records>,
}

impl PartitionRecords {
    /// The partition.
    pub fn partition(&self) -> &TopicPartition {
        &self.partition
    }

    /// The position after these records.
    pub fn next_offset(&self) -> Offset {
        self.next
    }

    /// The partition's high watermark when they were fetched.
    pub fn high_watermark(&self) -> Offset {
        self.high_watermark
    }

    /// The records. An error says that a batch's bytes make no record, and ends its batch.
    pub fn records(&self) -> impl Iterator<Item = Result<Record<'_>, RecordsError>> {
        let from = self.from;
        let records = self.batches.iter().flatten();
        // A batch may begin before the position that was asked for.
        records.filter(move |record| record.as_ref().map_or(true, |r| r.offset() >= from))
    }
}

/// What a partition's part of an answer has.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) batches: Vec<Records>,
    pub(super) next: Offset,
    /// The leader epoch of the last batch.
    pub(super) epoch: Option<LeaderEpoch>,
}

/// Reads batches from a position on: control batches and, where asked, those of aborted
/// transactions are passed over.
pub(super) fn read(
    records: Bytes,
    from: Offset,
    aborted: Vec<AbortedTransaction>,
    options: &ConsumerOptions,
) -> Result<Read, RecordsError> {
    let mut read = Read {
        batches: Vec::new(),
        next: from,
        epoch: None,
    };
    let mut filter = AbortedFilter::new(aborted);
    for batch in Batches::new(records) {
        let batch = batch?;
        let last = batch.last_offset();
        let is_hidden = match options.isolation {
            IsolationLevel::ReadCommitted => filter.hides(&batch)?,
            IsolationLevel::ReadUncommitted => batch.is_control(),
        };
        if last < from {
            continue;
        }
        if options.check_crcs {
            batch.verify_crc()?;
        }
        if !is_hidden {
            read.batches.push(batch.records(DecompressLimit::DEFAULT)?);
        }
        read.next = Offset(last.0.saturating_add(1)).max(read.next);
        if let Batch::V2(batch) = &batch {
            let epoch = batch.header().partition_leader_epoch;
            read.epoch = (epoch.0 >= 0).then_some(epoch).or(read.epoch);
        }
    }
    Ok(read)
}

/// Which producers' records belong to aborted transactions, from an offset on.
struct AbortedFilter {
    /// Those to come, the last one first.
    to_come: Vec<AbortedTransaction>,
    aborting: HashSet<i64>,
}

impl AbortedFilter {
    fn new(mut aborted: Vec<AbortedTransaction>) -> Self {
        aborted.sort_by_key(|transaction| std::cmp::Reverse(transaction.first_offset));
        Self {
            to_come: aborted,
            aborting: HashSet::new(),
        }
    }

    fn hides(&mut self, batch: &Batch) -> Result<bool, RecordsError> {
        let Batch::V2(batch) = batch else {
            return Ok(false);
        };
        let header = batch.header();
        while let Some(next) = self.to_come.last()
            && next.first_offset <= header.last_offset().0
        {
            self.aborting.insert(next.producer_id);
            self.to_come.pop();
        }
        if header.attributes.is_control() {
            for record in &batch.records(DecompressLimit::DEFAULT)? {
                if ControlKey::parse(record?.key())?.kind == ControlType::Abort {
                    self.aborting.remove(&header.producer_id);
                }
            }
            return Ok(true);
        }
        Ok(header.attributes.is_transactional() && self.aborting.contains(&header.producer_id))
    }
}
