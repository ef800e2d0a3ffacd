//! The records that leaders acknowledged with acks=all.

use std::collections::BTreeMap;

use klamm_metadata::Place;
use klamm_protocol::LeaderEpoch;

use crate::data::{DataLog, DataRecord};

/// Which records must be there.
#[derive(Debug, Default)]
pub(crate) struct Acknowledged {
    partitions: BTreeMap<Place, Partition>,
    /// How many were acknowledged.
    pub(crate) count: u64,
}

#[derive(Debug, Default)]
struct Partition {
    /// By offset, with the epoch of the leader that acknowledged it first: later ones have it.
    records: BTreeMap<usize, (DataRecord, LeaderEpoch)>,
    /// What leaders of earlier epochs have acknowledged may be lost: a leader was elected uncleanly.
    from_epoch: LeaderEpoch,
    /// More replicas have lost their disk than the cluster is to survive.
    is_lost: bool,
}

impl Acknowledged {
    /// A leader acknowledges a record. `copies` says how many replicas have it in truth.
    pub(crate) fn add(
        &mut self,
        place: Place,
        by: LeaderEpoch,
        offset: usize,
        record: DataRecord,
        (copies, min_isr): (usize, usize),
    ) -> Result<(), String> {
        if copies < min_isr {
            return Err(format!(
                "{place}: offset {offset} is acknowledged in epoch {by} with {copies} copies"
            ));
        }
        self.count += 1;
        let partition = self.partitions.entry(place).or_default();
        if by < partition.from_epoch {
            return Ok(());
        }
        let (known, _) = *partition.records.entry(offset).or_insert((record, by));
        match known == record || partition.is_lost {
            true => Ok(()),
            false => Err(format!(
                "{place}: offset {offset} is acknowledged as {known:?} and as {record:?}"
            )),
        }
    }

    /// A leader was elected that may lack records.
    pub(crate) fn forgive(&mut self, place: Place, epoch: LeaderEpoch) {
        let partition = self.partitions.entry(place).or_default();
        partition.records.clear();
        partition.from_epoch = epoch;
        partition.is_lost = false;
    }

    /// Replicas have lost records, and it is nobody's fault that they are gone.
    pub(crate) fn lost(&mut self, place: Place) {
        self.partitions.entry(place).or_default().is_lost = true;
    }

    /// A leader has all of them, and so has who is in sync.
    pub(crate) fn check(
        &self,
        place: Place,
        epoch: LeaderEpoch,
        log: &DataLog,
    ) -> Result<(), String> {
        let Some(partition) = self.partitions.get(&place) else {
            return Ok(());
        };
        if partition.is_lost || epoch < partition.from_epoch {
            return Ok(());
        }
        let must = partition.records.iter().filter(|(_, (_, by))| *by <= epoch);
        let mut must = must.map(|(offset, (record, _))| (*offset, *record));
        match must.find(|(offset, record)| log.record(*offset) != Some(*record)) {
            None => Ok(()),
            Some((offset, record)) => Err(format!(
                "{place}: who is in sync in epoch {epoch} has no acknowledged {record:?} at {offset}"
            )),
        }
    }
}
