use klamm_metadata::{
    LeaderRecoveryState, MetadataVersion, NO_LEADER_CHANGE, NO_RECOVERY_CHANGE, Partition, Place,
    Replicas,
};
use klamm_protocol::data::metadata::PartitionChangeRecord;
use klamm_protocol::{BrokerId, Uuid};

use crate::{Candidates, Election, ElectionKind};

#[cfg(test)]
mod tests;

/// What of the cluster bears on a change of a partition.
#[derive(Clone, Copy, Debug)]
pub struct ChangeRules {
    /// The finalized `metadata.version`.
    pub metadata_version: MetadataVersion,
    /// Whether partitions have eligible leader replicas.
    pub elr_enabled: bool,
    /// The topic's `min.insync.replicas`, or its number of replicas where that is less.
    pub min_isr: usize,
    /// How far an election may go.
    pub election: ElectionKind,
}

/// A wanted change of a partition. It becomes a record that says no more than what changes.
#[derive(Clone, Debug)]
pub struct WantedChange<'a> {
    place: Place,
    partition: &'a Partition,
    rules: ChangeRules,
    isr: Replicas,
    replicas: Replicas,
    removing: Replicas,
    adding: Replicas,
    recovery: LeaderRecoveryState,
    unclean_shutdown: Option<BrokerId>,
    directory: Option<(BrokerId, Uuid)>,
}

/// A change of a partition: its record, and the election that it needed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The record.
    pub record: PartitionChangeRecord,
    /// The outcome of the election.
    pub election: Election,
}

impl<'a> WantedChange<'a> {
    /// No change but what an election brings.
    pub fn new(place: Place, partition: &'a Partition, rules: ChangeRules) -> Self {
        Self {
            isr: partition.isr().clone(),
            replicas: partition.replicas().clone(),
            removing: partition.removing().clone(),
            adding: partition.adding().clone(),
            recovery: partition.recovery(),
            unclean_shutdown: None,
            directory: None,
            place,
            partition,
            rules,
        }
    }

    /// Another ISR.
    pub fn isr(self, isr: Replicas) -> Self {
        Self { isr, ..self }
    }

    /// Another assignment, and the replicas that are on their way out and in.
    pub fn assignment(self, replicas: Replicas, removing: Replicas, adding: Replicas) -> Self {
        Self {
            replicas,
            removing,
            adding,
            ..self
        }
    }

    /// Another recovery state.
    pub fn recovery(self, recovery: LeaderRecoveryState) -> Self {
        Self { recovery, ..self }
    }

    /// A broker that may have lost what it had not written to disk: it is eligible no more.
    pub fn unclean_shutdown(self, broker: BrokerId) -> Self {
        let unclean_shutdown = Some(broker);
        Self {
            unclean_shutdown,
            ..self
        }
    }

    /// Another log directory for a replica.
    pub fn directory(self, broker: BrokerId, id: Uuid) -> Self {
        let directory = Some((broker, id));
        Self { directory, ..self }
    }

    /// The change, or nothing where the partition stays as it is.
    ///
    /// `is_live` is that of [`Candidates::elect`]; `default_dir` gives a new replica its directory.
    pub fn build(
        mut self,
        is_live: impl Fn(BrokerId) -> bool,
        default_dir: impl Fn(BrokerId) -> Uuid,
    ) -> Option<Change> {
        self.complete_reassignment();
        let elr = self.eligible();
        let candidates = Candidates {
            replicas: &self.replicas,
            isr: &self.isr,
            elr: &elr,
            last_known_elr: self.partition.last_known_elr(),
            leader: self.partition.leader(),
            recovery: self.recovery,
            elr_enabled: self.rules.elr_enabled,
        };
        let election = candidates.elect(self.rules.election, is_live);
        let record = self.record(&election, default_dir);
        let nothing = PartitionChangeRecord {
            topic_id: self.place.topic,
            partition_id: self.place.index.0,
            ..Default::default()
        };
        (record != nothing).then_some(Change { record, election })
    }

    /// Ends the reassignment once what it adds is in sync and a replica that stays is; where the
    /// assignment shrinks, once all that stay are.
    fn complete_reassignment(&mut self) {
        if self.removing.is_empty() && self.adding.is_empty() {
            return;
        }
        let stays = |broker: BrokerId| !self.removing.contains(&broker);
        let (isr, replicas) = (self.isr.filtered(stays), self.replicas.filtered(stays));
        let shrinks = self.adding.len() < self.removing.len();
        let in_sync = isr.contains_all(&self.adding) && (!shrinks || isr.contains_all(&replicas));
        if in_sync && !isr.is_empty() && !replicas.is_empty() {
            self.isr = isr;
            self.replicas = replicas;
            self.removing = Replicas::NONE;
            self.adding = Replicas::NONE;
        }
    }

    /// The eligible leader replicas that go with the ISR: while it is smaller than the minimum,
    /// nothing is committed without it, so whoever was in sync when it shrank has every committed record.
    fn eligible(&self) -> Replicas {
        let old = self.partition.elr();
        if !self.rules.elr_enabled {
            return old.clone();
        }
        if self.isr.len() >= self.rules.min_isr {
            return Replicas::NONE;
        }
        let mut eligible: Vec<BrokerId> = old
            .iter()
            .chain(self.partition.isr().iter())
            .copied()
            .collect();
        eligible.retain(|broker| {
            !self.isr.contains(broker)
                && self.replicas.contains(broker)
                && self.unclean_shutdown != Some(*broker)
        });
        eligible.sort_unstable();
        eligible.dedup();
        // The order means nothing; a record that changes nothing but the order is to be none.
        let eligible: Replicas = eligible.into_iter().collect();
        match eligible.len() == old.len() && eligible.contains_all(old) {
            true => old.clone(),
            false => eligible,
        }
    }

    fn record(
        &self,
        election: &Election,
        default_dir: impl Fn(BrokerId) -> Uuid,
    ) -> PartitionChangeRecord {
        let old = self.partition;
        let elr_enabled = self.rules.elr_enabled;
        let changed = |new: &Replicas, old: &Replicas| (new != old).then(|| new.to_wire());
        // Without ELR, an ISR is never empty: its last member stays in it.
        let isr =
            changed(&election.isr, old.isr()).filter(|_| elr_enabled || !election.isr.is_empty());
        let isr_shrinks = isr.is_some() && !election.isr.contains_all(old.isr());
        // The leader in the record, even the same one, raises the leader epoch: clients and replicas
        // of a removed replica are to look again.
        let leads = election.leader != old.leader()
            || election.how.is_unclean()
            || !self.replicas.contains_all(old.replicas())
            || isr_shrinks && self.rules.metadata_version.isr_shrink_bumps_leader_epoch();
        let elr = if elr_enabled {
            &election.elr
        } else {
            &Replicas::NONE
        };
        let last_known = changed(&election.last_known_elr, old.last_known_elr());
        PartitionChangeRecord {
            topic_id: self.place.topic,
            partition_id: self.place.index.0,
            isr,
            leader: if leads {
                election.leader.0
            } else {
                NO_LEADER_CHANGE
            },
            replicas: changed(&self.replicas, old.replicas()),
            removing_replicas: changed(&self.removing, old.removing()),
            adding_replicas: changed(&self.adding, old.adding()),
            leader_recovery_state: match election.recovery == old.recovery() {
                true => NO_RECOVERY_CHANGE,
                false => election.recovery.to_wire(),
            },
            directories: self.directories(default_dir),
            eligible_leader_replicas: changed(elr, old.elr()),
            last_known_elr: last_known.filter(|_| leads && elr_enabled),
            ..Default::default()
        }
    }

    fn directories(&self, default_dir: impl Fn(BrokerId) -> Uuid) -> Option<Vec<Uuid>> {
        if !self.rules.metadata_version.allows_directory_assignment() {
            return None;
        }
        let directory = |broker: &BrokerId| match self.directory {
            Some((assigned, id)) if assigned == *broker => id,
            _ => self
                .partition
                .directory(*broker)
                .unwrap_or_else(|| default_dir(*broker)),
        };
        let directories: Vec<Uuid> = self.replicas.iter().map(directory).collect();
        (directories != self.partition.directories()).then_some(directories)
    }
}
