use std::collections::{BTreeMap, VecDeque};

use bytes::{Bytes, BytesMut};
use fastrand::Rng;
use klamm_protocol::records::{Batch, Batches, RecordBatch};
use klamm_protocol::{LeaderEpoch, Offset};
use klamm_raft::{
    Append, AppendId, ControlRecord, ElectionState, KRaftVersion, LogShape, OffsetAndEpoch, Read,
    SnapshotPart, Start, VoterSet,
};

/// What a node has on its disk. A crash takes what was not flushed, or a part of it.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    election: Option<ElectionState>,
    /// All records, with those that only snapshots have: for the checkers.
    batches: Vec<RecordBatch>,
    /// Where the log begins.
    start: Offset,
    /// Snapshots: the batches up to their end, as they are in the log.
    snapshots: BTreeMap<OffsetAndEpoch, Bytes>,
    /// The snapshot that is being fetched.
    part: BytesMut,
    /// Appends that are not durable yet, and how many batches there are with them.
    unflushed: VecDeque<(AppendId, usize)>,
    /// How many batches are durable.
    durable: usize,
    /// The voters in the configuration, or in the bootstrap snapshot.
    voters: VoterSet,
    dynamic: bool,
}

impl Disk {
    /// A disk that was formatted.
    pub(crate) fn new(voters: VoterSet, dynamic: bool) -> Self {
        Self {
            election: None,
            batches: Vec::new(),
            start: Offset(0),
            snapshots: BTreeMap::new(),
            part: BytesMut::new(),
            unflushed: VecDeque::new(),
            durable: 0,
            voters,
            dynamic,
        }
    }

    /// What a node finds when it starts.
    pub(crate) fn start(&self) -> Start {
        let mut log = LogShape::new(self.start);
        let mut control = Vec::new();
        let mut static_voters = self.voters.clone();
        if self.dynamic {
            static_voters = VoterSet::default();
            let before = Offset(-1);
            control.push((before, ControlRecord::KRaftVersion(KRaftVersion::DYNAMIC)));
            control.push((before, ControlRecord::Voters(self.voters.clone())));
            if self.start == Offset(0) {
                log.add_snapshot(OffsetAndEpoch::BOOTSTRAP, 400);
            }
        }
        for batch in &self.batches {
            if end_of(batch) > self.start {
                log.append(batch.header().partition_leader_epoch, end_of(batch));
            }
            if batch.header().attributes.is_control() {
                control.extend(ControlRecord::read(batch).expect("records of the machine"));
            }
        }
        for (id, bytes) in &self.snapshots {
            log.add_snapshot(*id, bytes.len() as u64);
        }
        Start {
            election: self.election,
            log,
            control,
            static_voters,
        }
    }

    pub(crate) fn election(&self) -> Option<ElectionState> {
        self.election
    }

    pub(crate) fn persist(&mut self, election: ElectionState) {
        self.election = Some(election);
    }

    /// Appends batches. Says what is wrong with them if they do not continue the log.
    pub(crate) fn append(&mut self, append: &Append) -> Result<(), String> {
        if append.base != self.end() {
            return Err(format!("append at {} to {}", append.base, self.end()));
        }
        for batch in Batches::new(append.batches.clone()) {
            match batch {
                Ok(Batch::V2(batch)) if batch.header().base_offset == self.end() => {
                    self.batches.push(batch);
                }
                other => return Err(format!("append of {other:?}")),
            }
        }
        self.unflushed.push_back((append.id, self.batches.len()));
        match append.end == self.end() {
            true => Ok(()),
            false => Err(format!("append to {}, not {}", self.end(), append.end)),
        }
    }

    pub(crate) fn truncate(&mut self, end: Offset) {
        self.batches.retain(|batch| end_of(batch) <= end);
        let count = self.batches.len();
        self.durable = self.durable.min(count);
        for (_, batches) in &mut self.unflushed {
            *batches = (*batches).min(count);
        }
    }

    pub(crate) fn end(&self) -> Offset {
        self.batches.last().map_or(Offset(0), end_of)
    }

    pub(crate) fn flushed(&self) -> Offset {
        self.batches[..self.durable]
            .last()
            .map_or(Offset(0), end_of)
    }

    /// The batches between two offsets, also such that only snapshots have.
    pub(crate) fn between(&self, from: Offset, to: Offset) -> impl Iterator<Item = &RecordBatch> {
        let first = self.batches.partition_point(|batch| end_of(batch) <= from);
        let rest = self.batches[first..].iter();
        rest.take_while(move |batch| end_of(batch) <= to)
    }

    /// Makes all of it durable, as before a clean stop.
    pub(crate) fn flush_all(&mut self) {
        self.durable = self.batches.len();
    }

    /// Makes an append durable, and all before it.
    pub(crate) fn flush(&mut self, append: AppendId) {
        while let Some((first, count)) = self.unflushed.front() {
            if *first > append {
                break;
            }
            self.durable = self.durable.max(*count);
            self.unflushed.pop_front();
        }
    }

    /// Breaks the promise of [`Disk::flush`].
    pub(crate) fn forget(&mut self) {
        let kept = self
            .batches
            .partition_point(|batch| end_of(batch) <= self.start);
        self.durable = kept.max(self.durable / 2);
    }

    /// Loses records that were not flushed, all or some of them.
    pub(crate) fn crash(&mut self, rng: &mut Rng) {
        let lucky = rng.usize(..=self.batches.len() - self.durable);
        self.batches.truncate(self.durable + lucky);
        self.durable = self.batches.len();
        self.unflushed.clear();
    }

    /// The records of an answer: `None` if the disk does not have them.
    pub(crate) fn read(&self, read: Read) -> Option<Bytes> {
        match read {
            Read::Log { from, .. } if from < self.start => None,
            Read::Log { from, max_bytes } => Some(self.read_log(from, max_bytes as usize)),
            Read::Snapshot { id, position, .. } => {
                let bytes = self.snapshots.get(&id)?;
                let first = position as usize;
                // Several parts, few enough to be through before there is a later snapshot.
                let part = (bytes.len() / 4).max(500);
                let end = bytes.len().min(first + part);
                (first < end).then(|| bytes.slice(first..end))
            }
        }
    }

    fn read_log(&self, from: Offset, max_bytes: usize) -> Bytes {
        let first = self.batches.partition_point(|batch| end_of(batch) <= from);
        let mut bytes = BytesMut::new();
        for batch in &self.batches[first..] {
            if !bytes.is_empty() && bytes.len() + batch.bytes().len() > max_bytes {
                break;
            }
            bytes.extend_from_slice(batch.bytes());
        }
        bytes.freeze()
    }

    /// Makes a snapshot of the records before an offset. Its id and length.
    pub(crate) fn snapshot(&mut self, end: Offset) -> Option<(OffsetAndEpoch, u64)> {
        let count = self.batches.partition_point(|batch| end_of(batch) <= end);
        let last = self.batches[..count].last()?;
        let id = OffsetAndEpoch {
            epoch: last.header().partition_leader_epoch,
            offset: end_of(last),
        };
        let mut bytes = BytesMut::new();
        for batch in &self.batches[..count] {
            bytes.extend_from_slice(batch.bytes());
        }
        let bytes = bytes.freeze();
        let len = bytes.len() as u64;
        self.snapshots.insert(id, bytes);
        Some((id, len))
    }

    /// Removes the log before a snapshot, and the snapshots before it.
    pub(crate) fn trim(&mut self, id: OffsetAndEpoch) {
        self.start = id.offset;
        self.snapshots = self.snapshots.split_off(&id);
    }

    /// Writes a part of a snapshot that is fetched.
    pub(crate) fn write_snapshot(&mut self, part: &SnapshotPart) -> Result<(), String> {
        if part.position == 0 {
            self.part.clear();
        }
        if part.position != self.part.len() as u64 {
            return Err(format!("part of {} at {}", part.id, part.position));
        }
        self.part.extend_from_slice(&part.bytes);
        Ok(())
    }

    /// Puts the snapshot that was fetched in the place of the log. Its length and control records.
    pub(crate) fn install(
        &mut self,
        id: OffsetAndEpoch,
    ) -> Result<(u64, Vec<(Offset, ControlRecord)>), String> {
        let bytes = self.part.split().freeze();
        self.batches.clear();
        for batch in Batches::new(bytes.clone()) {
            match batch {
                Ok(Batch::V2(batch)) => self.batches.push(batch),
                other => return Err(format!("snapshot {id} has {other:?}")),
            }
        }
        if self.end() != id.offset {
            return Err(format!("snapshot {id} ends at {}", self.end()));
        }
        self.durable = self.batches.len();
        self.unflushed.clear();
        self.start = id.offset;
        let len = bytes.len() as u64;
        self.snapshots = [(id, bytes)].into_iter().collect();
        // A snapshot has its control records at no offset of the log but before its end.
        let before = Offset(id.offset.0 - 1);
        let control = self.start().control;
        let control = control.into_iter().map(|(_, record)| (before, record));
        Ok((len, control.collect()))
    }

    /// The batches up to an offset but for the first ones, as what they are known by.
    pub(crate) fn entries(&self, skip: usize, end: Offset) -> impl Iterator<Item = Entry> {
        self.batches
            .iter()
            .skip(skip)
            .map(Entry::of)
            .take_while(move |entry| entry.end <= end)
    }
}

/// A batch, as the checkers compare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) end: Offset,
    pub(crate) epoch: LeaderEpoch,
    pub(crate) crc: u32,
}

impl Entry {
    fn of(batch: &RecordBatch) -> Self {
        Self {
            end: end_of(batch),
            epoch: batch.header().partition_leader_epoch,
            crc: batch.header().crc,
        }
    }
}

fn end_of(batch: &RecordBatch) -> Offset {
    Offset(batch.header().last_offset().0 + 1)
}
