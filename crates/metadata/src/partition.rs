use klamm_protocol::data::metadata::{PartitionChangeRecord, PartitionRecord};
use klamm_protocol::{BrokerId, LeaderEpoch, PartitionEpoch, PartitionIndex, Uuid};

use crate::{ApplyError, MetadataVersion, Replicas};

/// Ids that stand for no one directory.
pub mod directory {
    use klamm_protocol::Uuid;

    /// The cluster does not assign replicas to directories yet.
    pub const MIGRATING: Uuid = reserved(0);
    /// The broker is to choose a directory.
    pub const UNASSIGNED: Uuid = reserved(1);
    /// The replica is in a directory that its broker does not name: offline, unless known better.
    pub const LOST: Uuid = reserved(2);

    /// Whether the id is one of Kafka's own, which no directory may have.
    pub fn is_reserved(id: Uuid) -> bool {
        let number = u128::from_be_bytes(*id.as_bytes());
        // Apache Kafka compares the lower half as a signed number.
        number >> 64 == 0 && (number as i64) < 100
    }

    const fn reserved(number: u128) -> Uuid {
        Uuid::from_bytes(number.to_be_bytes())
    }
}

/// Whether a partition's data may have lost what was acknowledged (KIP-704).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LeaderRecoveryState {
    /// The leader was elected cleanly, or has recovered.
    #[default]
    Recovered,
    /// The leader was elected uncleanly and has not said yet that it has recovered.
    Recovering,
}

impl LeaderRecoveryState {
    /// The code on the wire; -1 stands for no change.
    pub fn from_wire(code: i8) -> Option<Self> {
        match code {
            0 => Some(Self::Recovered),
            1 => Some(Self::Recovering),
            _ => None,
        }
    }

    /// The code on the wire.
    pub fn to_wire(self) -> i8 {
        self as i8
    }
}

/// PartitionChangeRecord's leader where the leader does not change.
pub const NO_LEADER_CHANGE: i32 = -2;
/// PartitionChangeRecord's recovery state where it does not change.
pub const NO_RECOVERY_CHANGE: i8 = -1;

/// The state of one partition.
///
/// A cluster has many: what is empty for nearly all of them is kept apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    replicas: Replicas,
    isr: Replicas,
    /// One for each replica; none where all are [`directory::MIGRATING`].
    directories: Box<[Uuid]>,
    rare: Option<Box<Rare>>,
    leader: BrokerId,
    leader_epoch: LeaderEpoch,
    partition_epoch: PartitionEpoch,
    recovery: LeaderRecoveryState,
}

static NONE: Replicas = Replicas::NONE;

/// What a partition has while it is reassigned or lacks in-sync replicas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Rare {
    removing: Replicas,
    adding: Replicas,
    elr: Replicas,
    last_known_elr: Replicas,
}

impl Partition {
    /// Its brokers, the preferred leader first. While it is reassigned, old and new ones.
    pub fn replicas(&self) -> &Replicas {
        &self.replicas
    }

    /// The in-sync replicas: all of them have every committed record.
    pub fn isr(&self) -> &Replicas {
        &self.isr
    }

    /// The eligible leader replicas (KIP-966): not in sync, yet they have every committed record.
    pub fn elr(&self) -> &Replicas {
        self.rare.as_ref().map_or(&NONE, |rare| &rare.elr)
    }

    /// The last leader, where there is none.
    pub fn last_known_elr(&self) -> &Replicas {
        self.rare
            .as_ref()
            .map_or(&NONE, |rare| &rare.last_known_elr)
    }

    /// The replicas that its reassignment removes.
    pub fn removing(&self) -> &Replicas {
        self.rare.as_ref().map_or(&NONE, |rare| &rare.removing)
    }

    /// The replicas that its reassignment adds.
    pub fn adding(&self) -> &Replicas {
        self.rare.as_ref().map_or(&NONE, |rare| &rare.adding)
    }

    /// The leader; [`BrokerId::NONE`] where there is none.
    pub fn leader(&self) -> BrokerId {
        self.leader
    }

    /// Its recovery state.
    pub fn recovery(&self) -> LeaderRecoveryState {
        self.recovery
    }

    /// Its leader epoch.
    pub fn leader_epoch(&self) -> LeaderEpoch {
        self.leader_epoch
    }

    /// Its partition epoch.
    pub fn partition_epoch(&self) -> PartitionEpoch {
        self.partition_epoch
    }

    /// The first replica of the assignment.
    pub fn preferred_leader(&self) -> Option<BrokerId> {
        self.replicas.first().copied()
    }

    /// Whether replicas are being added or removed.
    pub fn is_reassigning(&self) -> bool {
        !self.removing().is_empty() || !self.adding().is_empty()
    }

    /// The log directory of a replica, if the broker has one.
    pub fn directory(&self, broker: BrokerId) -> Option<Uuid> {
        let position = self
            .replicas
            .iter()
            .position(|replica| *replica == broker)?;
        Some(
            self.directories
                .get(position)
                .copied()
                .unwrap_or(directory::MIGRATING),
        )
    }

    /// The log directories, one for each replica.
    pub fn directories(&self) -> Vec<Uuid> {
        if self.directories.is_empty() {
            vec![directory::MIGRATING; self.replicas.len()]
        } else {
            self.directories.to_vec()
        }
    }

    /// Every broker that is a replica, in the ISR, in the ELR, or the leader; some more than once.
    pub(crate) fn members(&self) -> impl Iterator<Item = BrokerId> {
        let lists = [&self.replicas, &self.isr, self.elr()];
        lists
            .into_iter()
            .flat_map(|list| list.iter().copied())
            .chain(self.leader.known())
    }

    /// The partition that a record describes.
    pub fn from_record(record: &PartitionRecord) -> Result<Self, ApplyError> {
        let list = |ids: &Option<_>| ids.as_deref().map_or(Replicas::NONE, Replicas::from);
        let place = Place::of(record.topic_id, record.partition_id);
        Self {
            replicas: record.replicas[..].into(),
            isr: record.isr[..].into(),
            directories: Box::default(),
            rare: None,
            leader: BrokerId(record.leader),
            leader_epoch: LeaderEpoch(record.leader_epoch),
            partition_epoch: PartitionEpoch(record.partition_epoch),
            recovery: recovery(record.leader_recovery_state, place)?,
        }
        .with_rare(Rare {
            removing: record.removing_replicas[..].into(),
            adding: record.adding_replicas[..].into(),
            elr: list(&record.eligible_leader_replicas),
            last_known_elr: list(&record.last_known_elr),
        })
        .with_directories(&record.directories, place)
    }

    /// The partition after a change: what the record leaves out stays. A leader in the record, the
    /// same one included, raises the leader epoch; the partition epoch always rises.
    pub fn changed_by(&self, record: &PartitionChangeRecord) -> Result<Self, ApplyError> {
        let place = Place::of(record.topic_id, record.partition_id);
        let list = |ids: &Option<_>, old: &Replicas| {
            ids.as_deref().map_or_else(|| old.clone(), Replicas::from)
        };
        let leads = record.leader != NO_LEADER_CHANGE;
        let directories = record.directories.as_deref().unwrap_or(&self.directories);
        Self {
            replicas: list(&record.replicas, &self.replicas),
            isr: list(&record.isr, &self.isr),
            directories: Box::default(),
            rare: None,
            leader: if leads {
                BrokerId(record.leader)
            } else {
                self.leader
            },
            leader_epoch: LeaderEpoch(next(self.leader_epoch.0, leads, place)?),
            partition_epoch: PartitionEpoch(next(self.partition_epoch.0, true, place)?),
            recovery: match record.leader_recovery_state {
                NO_RECOVERY_CHANGE => self.recovery,
                code => recovery(code, place)?,
            },
        }
        .with_rare(Rare {
            removing: list(&record.removing_replicas, self.removing()),
            adding: list(&record.adding_replicas, self.adding()),
            elr: list(&record.eligible_leader_replicas, self.elr()),
            last_known_elr: list(&record.last_known_elr, self.last_known_elr()),
        })
        .with_directories(directories, place)
    }

    /// The record that describes this partition, as far as the version can.
    pub fn to_record(
        &self,
        topic_id: Uuid,
        index: PartitionIndex,
        version: MetadataVersion,
    ) -> PartitionRecord {
        let elr =
            |list: &Replicas| (version.allows_elr() && !list.is_empty()).then(|| list.to_wire());
        PartitionRecord {
            partition_id: index.0,
            topic_id,
            replicas: self.replicas.to_wire(),
            isr: self.isr.to_wire(),
            removing_replicas: self.removing().to_wire(),
            adding_replicas: self.adding().to_wire(),
            leader: self.leader.0,
            leader_recovery_state: self.recovery.to_wire(),
            leader_epoch: self.leader_epoch.0,
            partition_epoch: self.partition_epoch.0,
            directories: match version.allows_directory_assignment() {
                true => self.directories(),
                false => Vec::new(),
            },
            eligible_leader_replicas: elr(self.elr()),
            last_known_elr: elr(self.last_known_elr()),
            ..Default::default()
        }
    }

    fn with_rare(mut self, rare: Rare) -> Self {
        self.rare = (rare != Rare::default()).then(|| Box::new(rare));
        self
    }

    fn with_directories(mut self, directories: &[Uuid], place: Place) -> Result<Self, ApplyError> {
        if directories.iter().all(|id| *id == directory::MIGRATING) {
            return Ok(self);
        }
        if directories.len() != self.replicas.len() {
            return Err(ApplyError::Directories {
                place,
                replicas: self.replicas.len(),
                directories: directories.len(),
            });
        }
        self.directories = directories.into();
        Ok(self)
    }
}

/// A partition's place: its topic's id and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The topic.
    pub topic: Uuid,
    /// The partition's number in it.
    pub index: PartitionIndex,
}

impl Place {
    pub(crate) fn of(topic: Uuid, index: i32) -> Self {
        let index = PartitionIndex(index);
        Self { topic, index }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "partition {} of topic {}", self.index, self.topic)
    }
}

fn recovery(code: i8, place: Place) -> Result<LeaderRecoveryState, ApplyError> {
    LeaderRecoveryState::from_wire(code).ok_or(ApplyError::RecoveryState { place, code })
}

fn next(epoch: i32, rises: bool, place: Place) -> Result<i32, ApplyError> {
    let next = epoch.checked_add(i32::from(rises));
    next.ok_or(ApplyError::EpochOverflow(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_small() {
        // 100,000 of them are 9 MB, and 64 bytes each for the directories of three replicas.
        assert!(size_of::<Partition>() <= 88, "{}", size_of::<Partition>());
    }
}
