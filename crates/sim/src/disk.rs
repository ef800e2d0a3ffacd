use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use fastrand::Rng;
use klamm_protocol::records::{Batch, Batches, RecordBatch};
use klamm_protocol::{LeaderEpoch, Offset};
use klamm_raft::{
    Append, AppendId, ControlRecord, ElectionState, KRaftVersion, LogShape, OffsetAndEpoch, Read,
    Start, VoterSet,
};

/// What a node has on its disk. A crash takes what was not flushed, or a part of it.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    election: Option<ElectionState>,
    batches: Vec<RecordBatch>,
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
            unflushed: VecDeque::new(),
            durable: 0,
            voters,
            dynamic,
        }
    }

    /// What a node finds when it starts.
    pub(crate) fn start(&self) -> Start {
        let mut log = LogShape::new(Offset(0));
        let mut control = Vec::new();
        let mut static_voters = self.voters.clone();
        if self.dynamic {
            static_voters = VoterSet::default();
            let before = Offset(-1);
            control.push((before, ControlRecord::KRaftVersion(KRaftVersion::DYNAMIC)));
            control.push((before, ControlRecord::Voters(self.voters.clone())));
            log.add_snapshot(OffsetAndEpoch::BOOTSTRAP);
        }
        for batch in &self.batches {
            log.append(batch.header().partition_leader_epoch, end_of(batch));
            if batch.header().attributes.is_control() {
                control.extend(ControlRecord::read(batch).expect("records of the machine"));
            }
        }
        Start {
            election: self.election,
            log,
            control,
            static_voters,
        }
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
        self.durable /= 2;
    }

    /// Loses records that were not flushed, all or some of them.
    pub(crate) fn crash(&mut self, rng: &mut Rng) {
        let lucky = rng.usize(..=self.batches.len() - self.durable);
        self.batches.truncate(self.durable + lucky);
        self.durable = self.batches.len();
        self.unflushed.clear();
    }

    /// The records field of a Fetch answer.
    pub(crate) fn read(&self, read: Read) -> Bytes {
        let first = self
            .batches
            .partition_point(|batch| end_of(batch) <= read.from);
        let mut bytes = BytesMut::new();
        for batch in &self.batches[first..] {
            if !bytes.is_empty() && bytes.len() + batch.bytes().len() > read.max_bytes as usize {
                break;
            }
            bytes.extend_from_slice(batch.bytes());
        }
        bytes.freeze()
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
