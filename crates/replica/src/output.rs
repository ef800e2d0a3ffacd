use klamm_protocol::{LeaderEpoch, Offset};

use crate::{ProduceError, ProposedIsr, WaiterId};

/// What the machine wants done. Outputs are carried out in the order they come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Write into the log's leader epochs that one begins where the log ends: the replica leads it.
    BeginEpoch {
        /// The epoch.
        epoch: LeaderEpoch,
        /// Its first offset.
        start: Offset,
    },
    /// Remove all records from this offset on. Where it is within a batch, so that the log ends
    /// before it, say [`Replica::truncated`](crate::Replica::truncated).
    Truncate(Offset),
    /// Remove all records; the next one has this offset.
    Restart(Offset),
    /// What is known of producers reaches beyond the end of the log: make it anew of the latest
    /// snapshot at or before the end and the records after it, and give it to
    /// [`Replica::set_producers`](crate::Replica::set_producers) as the next input.
    RebuildProducers,
    /// Remove the records before this offset, when it suits.
    DeleteBefore(Offset),
    /// Ask the controller for an ISR, and give its answer to
    /// [`Replica::isr_answered`](crate::Replica::isr_answered).
    AlterPartition(ProposedIsr),
    /// Answer a request to produce that waited for acks=all.
    Acked(Acked),
    /// Records before this offset are committed: fetches that wait may have something to read.
    HighWatermark(Offset),
}

/// What has become of a batch with acks=all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acked {
    /// Who waits.
    pub waiter: WaiterId,
    /// Whether the batch is committed.
    pub result: Result<(), ProduceError>,
}
