//! The batches of a snapshot of the metadata log (KIP-630).

use bytes::Bytes;
use klamm_protocol::data::clients::{SnapshotFooterRecord, SnapshotHeaderRecord};
use klamm_protocol::records::{BatchBuilder, BatchOptions, BuildError, ControlType, NewRecord};
use klamm_protocol::{LeaderEpoch, Message, Offset, encode};
use klamm_raft::ControlRecord;

/// Makes the batches of a snapshot, in which offsets count from 0 whatever the log has.
#[derive(Debug)]
pub(crate) struct SnapshotBatches {
    next: Offset,
    epoch: LeaderEpoch,
    timestamp_ms: i64,
}

impl SnapshotBatches {
    /// The first batch: the header, and what KRaft has to know. `last_timestamp_ms` is that of the
    /// last batch of the log that is in the snapshot.
    pub(crate) fn begin(
        epoch: LeaderEpoch,
        control: &[ControlRecord],
        last_timestamp_ms: i64,
        timestamp_ms: i64,
    ) -> (Self, Bytes) {
        let mut batches = Self {
            next: Offset(0),
            epoch,
            timestamp_ms,
        };
        let header = SnapshotHeaderRecord {
            version: 0,
            last_contained_log_timestamp: last_timestamp_ms,
            ..SnapshotHeaderRecord::default()
        };
        let mut builder = batches.builder(true);
        batches.append(&mut builder, ControlType::SnapshotHeader, &header);
        for record in control {
            record
                .append_to(&mut builder, timestamp_ms)
                .expect("control records go into a control batch, and voters are few");
        }
        let batch = batches
            .finish(builder)
            .expect("a batch with a header in it");
        (batches, batch)
    }

    /// The next batch of metadata records.
    pub(crate) fn records(&mut self, values: &[Bytes]) -> Result<Bytes, BuildError> {
        let mut builder = self.builder(false);
        for value in values {
            builder.append(&NewRecord {
                timestamp: self.timestamp_ms,
                value: Some(value),
                ..NewRecord::default()
            })?;
        }
        self.finish(builder)
    }

    /// The last batch.
    pub(crate) fn end(mut self) -> Bytes {
        let mut builder = self.builder(true);
        let footer = SnapshotFooterRecord::default();
        self.append(&mut builder, ControlType::SnapshotFooter, &footer);
        self.finish(builder).expect("a batch with a footer in it")
    }

    fn builder(&self, control: bool) -> BatchBuilder {
        BatchBuilder::new(BatchOptions {
            base_offset: self.next,
            partition_leader_epoch: self.epoch,
            control,
            ..BatchOptions::default()
        })
    }

    fn append<M: Message>(&self, builder: &mut BatchBuilder, kind: ControlType, message: &M) {
        let value = encode(message, 0).expect("KRaft's own records fit their versions");
        builder
            .append_control(kind, self.timestamp_ms, &value)
            .expect("control records go into a control batch");
    }

    fn finish(&mut self, builder: BatchBuilder) -> Result<Bytes, BuildError> {
        self.next = builder.next_offset();
        Ok(builder.finish()?.into_bytes())
    }
}
