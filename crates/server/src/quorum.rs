//! KRaft with its log: what the state machine wants done is done here.

mod batches;
mod disk;
mod incoming;
mod places;
mod replay;
mod snapshots;
mod store;
mod tail;
mod transport;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use klamm_log::SnapshotId;
use klamm_metadata::Frozen;
use klamm_protocol::records::RecordBatch;
use klamm_protocol::{LeaderEpoch, Offset};
use klamm_raft::{
    Answer, AnswerId, AppendError, ControlRecord, Inbound, KRaftVersion, Leadership, Now,
    OffsetAndEpoch, Output, Raft, Read, Request, RequestId, Response, Send, SendError, Settings,
    Start, UpgradeError,
};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

pub(crate) use batches::{BatchError, Target, batches};
pub(crate) use disk::DiskEvent;
pub use replay::ReplayError;
pub(crate) use replay::records;
pub(crate) use snapshots::Making;
pub use store::StoreError;
pub(crate) use store::{Loaded, METADATA_DIR, Opened, Store};
pub(crate) use transport::{Outcome, Transport};

use crate::settings::MetadataLogSettings;
use disk::Disk;
use incoming::Incoming;
use places::{place, snapshot_id};
use tail::Tail;

/// How many bytes of records are visited at a time.
const VISIT_BYTES: usize = 1 << 20;

/// Something that the quorum tells the node.
#[derive(Debug)]
pub(crate) enum QuorumEvent {
    /// There is a new epoch, or its leader is known now.
    Leadership(Leadership),
    /// Records before this offset are committed.
    Committed(Offset),
    /// A snapshot came from the leader and has taken the place of the log: everything before its end
    /// is committed.
    Replaced(Offset),
    /// A request to another node. What becomes of it goes to [`Quorum::answered`].
    Send(Box<Send>),
}

/// The answer to a request that KRaft serves.
#[derive(Debug)]
pub(crate) struct QuorumAnswer {
    /// The answer without its records.
    pub(crate) response: Response,
    /// The records, or where they are.
    pub(crate) records: Records,
}

/// The records of an answer.
#[derive(Debug)]
pub(crate) enum Records {
    /// These.
    Memory(Bytes),
    /// Those to be read from the files, which may take a while.
    Files(Arc<Store>, Read),
}

/// This node's part of the metadata quorum.
#[derive(Debug)]
pub(crate) struct Quorum {
    raft: Raft,
    store: Arc<Store>,
    disk: Disk,
    tail: Tail,
    incoming: Incoming,
    answers: BTreeMap<AnswerId, oneshot::Sender<QuorumAnswer>>,
    next_answer: u64,
    events: VecDeque<QuorumEvent>,
    disk_events: UnboundedSender<DiskEvent>,
}

impl Quorum {
    /// Takes the files over, and begins with what they have. `events` is told what the disk does.
    pub(crate) fn start(
        settings: Settings,
        start: Start,
        store: Arc<Store>,
        events: UnboundedSender<DiskEvent>,
        now: Now,
    ) -> io::Result<Self> {
        Ok(Self {
            disk: Disk::start(Arc::clone(&store), events.clone())?,
            disk_events: events,
            raft: Raft::new(settings, start, now),
            store,
            tail: Tail::default(),
            incoming: Incoming::default(),
            answers: BTreeMap::new(),
            next_answer: 0,
            events: VecDeque::new(),
        })
    }

    pub(crate) fn raft(&self) -> &Raft {
        &self.raft
    }

    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Waits until all that was appended is in the files.
    pub(crate) fn settle_disk(&self) {
        // If the disk has failed, its event says so.
        self.disk.settle();
    }

    /// When to call [`Quorum::tick`].
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.raft.deadline()
    }

    pub(crate) fn tick(&mut self, now: Now) {
        self.raft.tick(now);
    }

    /// Takes a request, whose answer goes to `answer`.
    pub(crate) fn request(
        &mut self,
        listener: &str,
        version: i16,
        request: Request,
        answer: oneshot::Sender<QuorumAnswer>,
        now: Now,
    ) {
        self.next_answer += 1;
        let id = AnswerId(self.next_answer);
        self.answers.insert(id, answer);
        let inbound = Inbound {
            id,
            listener: listener.to_owned(),
            version,
            request,
        };
        self.raft.handle_request(inbound, now);
    }

    /// Takes what became of a request to another node.
    pub(crate) fn answered(
        &mut self,
        id: RequestId,
        response: Result<Response, SendError>,
        now: Now,
    ) {
        self.raft.handle_response(id, response, now);
    }

    /// Visits the batches from an offset on that end before another, which are in the log.
    pub(crate) fn visit(
        &self,
        from: Offset,
        up_to: Offset,
        visit: &mut dyn FnMut(&RecordBatch) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut next = from;
        while next < up_to {
            let Some(records) = self.tail.read(next, VISIT_BYTES) else {
                // What is no more in memory is on its way to the files, or in them.
                self.settle_disk();
                return self.store.visit_log(next, up_to, visit);
            };
            for batch in replay::batches(records) {
                let batch = batch.map_err(self.store.replay_error())?;
                let end = Offset(batch.header().last_offset().0 + 1);
                if end > up_to {
                    return Ok(());
                }
                next = end;
                visit(&batch)?;
            }
        }
        Ok(())
    }

    /// Appends batches that begin at the end of the log. Returns its end with them.
    pub(crate) fn append(
        &mut self,
        epoch: LeaderEpoch,
        batches: Bytes,
        now: Now,
    ) -> Result<Offset, AppendError> {
        self.raft.append(epoch, batches, now)
    }

    /// Raises the level of `kraft.version`.
    pub(crate) fn upgrade(
        &mut self,
        epoch: LeaderEpoch,
        version: KRaftVersion,
        now: Now,
    ) -> Result<(), UpgradeError> {
        self.raft.upgrade(epoch, version, now).map(|_| ())
    }

    /// Takes note of what the disk did.
    pub(crate) fn disk_event(&mut self, event: DiskEvent, now: Now) -> Result<(), StoreError> {
        match event {
            DiskEvent::Flushed(id) => {
                self.tail.written(id);
                self.raft.flushed(id, now);
            }
            DiskEvent::SnapshotMade { id, len, trim_to } => {
                tracing::info!(
                    end = id.end.0,
                    epoch = id.epoch.0,
                    bytes = len,
                    "snapshot made"
                );
                let noted = self.raft.snapshot_made(place(id), len);
                if let Err(error) = noted {
                    tracing::error!(%error, "the snapshot is of no use");
                } else if let Some(id) = trim_to {
                    self.trim(id);
                }
            }
            DiskEvent::SnapshotFailed(error) => {
                tracing::error!(%error, "no snapshot could be made; the log stays as it is");
            }
            DiskEvent::Failed(error) => return Err(error),
        }
        Ok(())
    }

    fn trim(&mut self, id: SnapshotId) {
        match self.raft.trim(place(id)) {
            Ok(()) => self.disk.trim(id),
            Err(error) => tracing::error!(%error, "the log stays as it is"),
        }
    }

    /// A snapshot of what `image` has, which is all of the log. It may be made when that is committed.
    pub(crate) fn snapshot(
        &self,
        image: Frozen,
        settings: &MetadataLogSettings,
        timestamp_ms: i64,
    ) -> (Offset, Making) {
        let log = self.raft.log();
        let version = self.raft.kraft_version();
        let mut control = Vec::new();
        if version.has_dynamic_voters() {
            control.push(ControlRecord::KRaftVersion(version));
            control.push(ControlRecord::Voters(self.raft.voters().clone()));
        }
        let id = SnapshotId {
            end: log.end(),
            epoch: log.last_epoch(),
        };
        let making = Making {
            id,
            image,
            control,
            timestamp_ms,
            store: Arc::clone(&self.store),
            events: self.disk_events.clone(),
            settings: settings.clone(),
        };
        (id.end, making)
    }

    /// Carries out what the machine wants done, in its order.
    pub(crate) fn carry_out(&mut self, now: Now) -> Result<(), StoreError> {
        while let Some(output) = self.raft.poll_output() {
            match output {
                Output::Append(append) => {
                    self.tail.push(append.clone());
                    self.disk.append(append, now.timestamp_ms);
                }
                Output::Answer(answer) => self.answer(answer),
                Output::Persist(state) => {
                    // What was appended before is in the log first. If the disk has failed, its
                    // event says so, and this write must not happen.
                    if self.disk.settle() {
                        let (version, voters) = (self.raft.kraft_version(), self.raft.voters());
                        self.store.persist(state, version, voters)?;
                    }
                }
                Output::Truncate(end) => {
                    if self.disk.settle() {
                        self.tail.truncate(end);
                        self.store.log_mut().truncate_to(end)?;
                    }
                }
                Output::HighWatermark(offset) => {
                    self.events.push_back(QuorumEvent::Committed(offset));
                }
                Output::Leadership(leadership) => {
                    self.events.push_back(QuorumEvent::Leadership(leadership));
                }
                Output::Incident(incident) => tracing::warn!(%incident, "metadata quorum"),
                Output::Send(send) => self.events.push_back(QuorumEvent::Send(Box::new(send))),
                Output::WriteSnapshot(part) => self.incoming.write(&self.store, &part)?,
                Output::InstallSnapshot(id) => self.install(id, now)?,
            }
        }
        Ok(())
    }

    /// Puts the snapshot that has come in the place of the log.
    fn install(&mut self, id: OffsetAndEpoch, now: Now) -> Result<(), StoreError> {
        if !self.disk.settle() {
            // Its event says why the disk failed.
            return Ok(());
        }
        let len = self.incoming.finish()?;
        self.tail.truncate(Offset(0));
        self.store.log_mut().reset_to(id.offset)?;
        let control = self.store.control(snapshot_id(id))?;
        tracing::info!(
            end = id.offset.0,
            epoch = id.epoch.0,
            bytes = len,
            "snapshot fetched"
        );
        self.events.push_back(QuorumEvent::Replaced(id.offset));
        self.raft.snapshot_installed(id, len, &control, now);
        // Older snapshots are of no use any more.
        self.disk.trim(snapshot_id(id));
        Ok(())
    }

    /// The next event.
    pub(crate) fn poll_event(&mut self) -> Option<QuorumEvent> {
        self.events.pop_front()
    }

    fn answer(&mut self, answer: Answer) {
        let Some(to) = self.answers.remove(&answer.id) else {
            return;
        };
        let records = match answer.read {
            None => Records::Memory(Bytes::new()),
            Some(read) => {
                let in_memory = match read {
                    Read::Log { from, max_bytes } => self.tail.read(from, max_bytes as usize),
                    Read::Snapshot { .. } => None,
                };
                match in_memory {
                    Some(records) => Records::Memory(records),
                    None => Records::Files(Arc::clone(&self.store), read),
                }
            }
        };
        // Who asked may be gone.
        let _ = to.send(QuorumAnswer {
            response: answer.response,
            records,
        });
    }
}
