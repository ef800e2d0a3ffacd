use klamm_protocol::Offset;

use crate::{ControlRecord, KRaftVersion, VoterSet};

/// The voters and the level of `kraft.version` at every offset of the log.
///
/// A replica uses the latest set in its log, committed or not (KIP-853); truncation brings back the
/// one before.
#[derive(Clone, Debug, Default)]
pub(crate) struct VoterHistory {
    static_voters: VoterSet,
    sets: Vec<(Offset, VoterSet)>,
    versions: Vec<(Offset, KRaftVersion)>,
}

impl VoterHistory {
    pub(crate) fn new(static_voters: VoterSet) -> Self {
        Self {
            static_voters,
            ..Self::default()
        }
    }

    /// The latest set.
    pub(crate) fn voters(&self) -> &VoterSet {
        self.sets
            .last()
            .map_or(&self.static_voters, |(_, voters)| voters)
    }

    /// Where the latest set is in the log: -1 in the bootstrap snapshot, `None` in neither.
    pub(crate) fn voters_offset(&self) -> Option<Offset> {
        self.sets.last().map(|(offset, _)| *offset)
    }

    /// The latest level.
    pub(crate) fn version(&self) -> KRaftVersion {
        self.versions
            .last()
            .map_or(KRaftVersion::STATIC, |(_, version)| *version)
    }

    /// Takes over a record that is appended at an offset.
    pub(crate) fn append(&mut self, offset: Offset, record: &ControlRecord) {
        match record {
            ControlRecord::KRaftVersion(version) => self.versions.push((offset, *version)),
            ControlRecord::Voters(voters) => self.sets.push((offset, voters.clone())),
            ControlRecord::LeaderChange(_) => {}
        }
    }

    /// Takes over what a snapshot says in the place of everything else.
    pub(crate) fn restart(&mut self, records: &[(Offset, ControlRecord)]) {
        self.sets.clear();
        self.versions.clear();
        for (offset, record) in records {
            self.append(*offset, record);
        }
    }

    /// Forgets what a snapshot up to an offset has made the past.
    pub(crate) fn trim(&mut self, start: Offset) {
        let past = self.sets.partition_point(|(offset, _)| *offset < start);
        self.sets.drain(..past.saturating_sub(1));
        let past = self.versions.partition_point(|(offset, _)| *offset < start);
        self.versions.drain(..past.saturating_sub(1));
    }

    /// Forgets the records from an offset on.
    pub(crate) fn truncate(&mut self, end: Offset) {
        self.sets.retain(|(offset, _)| *offset < end);
        self.versions.retain(|(offset, _)| *offset < end);
    }
}
