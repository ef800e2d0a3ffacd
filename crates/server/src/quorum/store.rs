use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bytes::Bytes;
use klamm_log::{
    Cut, Dir, Log, LogError, LogOptions, OpenFiles, OsDir, QuorumState, Recover, Snapshot,
    SnapshotId, Snapshots, Vote,
};
use klamm_metadata::Loader;
use klamm_protocol::records::RecordBatch;
use klamm_protocol::{LeaderEpoch, Offset};
use klamm_raft::{
    ControlError, ControlRecord, ElectionState, KRaftVersion, LogShape, Read, ReplicaKey, Start,
    VoterSet,
};
use thiserror::Error;

use super::places::{place, snapshot_id};
use super::replay::{self, ReplayError};

/// The directory of the metadata partition, inside `metadata.log.dir`.
pub(crate) const METADATA_DIR: &str = "__cluster_metadata-0";
/// Bootstrap records as Apache Kafka up to 4.0 wrote them.
const OLD_BOOTSTRAP: &str = "bootstrap.checkpoint";
/// Segment files of the metadata log that are open at a time.
const OPEN_FILES: usize = 64;
/// How many bytes a replay reads at once.
const REPLAY_BYTES: usize = 4 << 20;
/// The most bytes of a bootstrap file of an old version.
const MAX_BOOTSTRAP_BYTES: usize = 64 << 20;

/// The files of the metadata log cannot be used.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The disk refuses something.
    #[error("{}: {source}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// A record cannot be acted on.
    #[error("{}: {source}", path.display())]
    Replay {
        /// The file, or the directory of the log.
        path: PathBuf,
        /// What is wrong.
        source: ReplayError,
    },
    /// A control record cannot be read.
    #[error("{}: {source}", path.display())]
    Control {
        /// The file, or the directory of the log.
        path: PathBuf,
        /// What is wrong.
        source: ControlError,
    },
    /// The beginning of the log is gone, and no snapshot has it.
    #[error(
        "{}: the log begins at offset {start}, and no snapshot has what was before; restore the \
         directory from a backup",
        path.display()
    )]
    NoSnapshot {
        /// The directory of the log.
        path: PathBuf,
        /// Where the log begins.
        start: Offset,
    },
}

/// The log of the metadata with its snapshots and `quorum-state`.
#[derive(Debug)]
pub(crate) struct Store {
    dir: Arc<dyn Dir>,
    log: RwLock<Log>,
    snapshots: Snapshots,
}

/// What was found in the files.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) store: Store,
    pub(crate) start: Start,
    /// What was cut off the end of the log after a crash.
    pub(crate) cut: Option<Cut>,
}

/// The state of the cluster, out of the files.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) loader: Loader,
    /// How many bytes of the log were read after the snapshot.
    pub(crate) log_bytes: u64,
}

impl Store {
    /// Opens the files in a directory, which is there.
    pub(crate) fn open(dir: Arc<dyn Dir>, options: LogOptions) -> Result<Opened, StoreError> {
        let snapshots = Snapshots::open(Arc::clone(&dir))?;
        let ids = snapshots.list()?;
        let latest = ids.last().copied().unwrap_or(SnapshotId::BOOTSTRAP);
        // All that a snapshot has was flushed before.
        let recover = match latest {
            SnapshotId::BOOTSTRAP => Recover::All,
            SnapshotId { end, .. } => Recover::From(end),
        };
        let files = OpenFiles::new(OPEN_FILES);
        let (mut log, recovery) = Log::open(Arc::clone(&dir), files, options, recover, Offset(0))?;
        let last = Offset(latest.end.0 - 1);
        let is_in_log = log.start() >= latest.end || log.epochs().of(last) == Some(latest.epoch);
        if log.end() < latest.end || !is_in_log {
            // The log was about to be begun anew behind a snapshot that came from the leader.
            log.reset_to(latest.end)?;
        }
        if log.start() > Offset(0) && latest.end < log.start() {
            let path = dir.path().to_owned();
            let start = log.start();
            return Err(StoreError::NoSnapshot { path, start });
        }
        let mut shape = LogShape::new(log.start());
        let entries = log.epochs().entries();
        let ends = entries.iter().skip(1).map(|entry| entry.start);
        for (entry, end) in entries.iter().zip(ends.chain([log.end()])) {
            shape.append(entry.epoch, end);
        }
        let store = Self {
            dir,
            log: RwLock::new(log),
            snapshots,
        };
        // Of those before the log begins, what comes next is gone: they are of no use any more.
        let start = shape.start();
        for id in ids.into_iter().filter(|id| id.end >= start) {
            if let Some(snapshot) = store.snapshots.read(id)? {
                shape.add_snapshot(place(id), snapshot.len());
            }
        }
        let election = QuorumState::read(&*store.dir)?.map(election_state);
        let control = store.control(latest)?;
        let start = Start {
            election,
            log: shape,
            control,
            static_voters: VoterSet::default(),
        };
        Ok(Opened {
            store,
            start,
            cut: recovery.cut,
        })
    }

    /// Where the files are.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn snapshots(&self) -> &Snapshots {
        &self.snapshots
    }

    pub(crate) fn log(&self) -> RwLockReadGuard<'_, Log> {
        self.log.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn log_mut(&self) -> RwLockWriteGuard<'_, Log> {
        self.log.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes `quorum-state`. It is durable when this returns.
    pub(crate) fn persist(
        &self,
        state: ElectionState,
        version: KRaftVersion,
        voters: &VoterSet,
    ) -> Result<(), StoreError> {
        let ids = || voters.iter().map(|voter| voter.key.id).collect();
        let state = QuorumState {
            leader_id: state.leader,
            leader_epoch: state.epoch,
            voted: state.voted.map(|key| Vote {
                id: key.id,
                directory_id: key.directory,
            }),
            static_voters: (!version.has_dynamic_voters()).then(ids),
        };
        Ok(state.write(&*self.dir)?)
    }

    /// Reads what an answer is to bring.
    pub(crate) fn read(&self, read: Read) -> Result<Bytes, StoreError> {
        match read {
            Read::Log { from, max_bytes } => {
                let slice = {
                    let log = self.log();
                    log.read(from, log.end(), max_bytes as usize)?
                };
                Ok(slice.bytes()?)
            }
            Read::Snapshot {
                id,
                position,
                max_bytes,
            } => match self.snapshots.read(snapshot_id(id))? {
                Some(snapshot) => Ok(snapshot.bytes(position, max_bytes as usize)?),
                None => Ok(Bytes::new()),
            },
        }
    }

    /// The control records of a snapshot and of the log after it.
    pub(super) fn control(
        &self,
        from: SnapshotId,
    ) -> Result<Vec<(Offset, ControlRecord)>, StoreError> {
        let mut found = Vec::new();
        let of_snapshot = Offset(from.end.0 - 1);
        self.visit_snapshot(from, &mut |batch| {
            let control = self.control_of(batch)?;
            found.extend(control.into_iter().map(|(_, record)| (of_snapshot, record)));
            Ok(())
        })?;
        self.visit_log(from.end, self.log().end(), &mut |batch| {
            found.extend(self.control_of(batch)?);
            Ok(())
        })?;
        Ok(found)
    }

    fn control_of(&self, batch: &RecordBatch) -> Result<Vec<(Offset, ControlRecord)>, StoreError> {
        if !batch.header().attributes.is_control() {
            return Ok(Vec::new());
        }
        let path = self.path().to_owned();
        ControlRecord::read(batch).map_err(|source| StoreError::Control { path, source })
    }

    /// The state of the cluster at an offset: of the latest snapshot before it and the log after that,
    /// and how many bytes that part of the log has.
    pub(crate) fn load(&self, up_to: Offset) -> Result<Loaded, StoreError> {
        let ids = self.snapshots.list()?;
        let latest = ids.into_iter().rev().find(|id| id.end <= up_to);
        let mut loader = Loader::default();
        let from = match latest {
            // The bootstrap snapshot is never replicated: what it has gets into the log.
            None | Some(SnapshotId::BOOTSTRAP) => Offset(0),
            Some(id) => {
                self.visit_snapshot(id, &mut |batch| self.apply(&mut loader, batch))?;
                id.end
            }
        };
        let mut log_bytes = 0;
        self.visit_log(from, up_to, &mut |batch| {
            log_bytes += batch.bytes().len() as u64;
            self.apply(&mut loader, batch)
        })?;
        Ok(Loaded { loader, log_bytes })
    }

    /// The records that a new cluster begins with.
    pub(crate) fn bootstrap(&self) -> Result<Vec<klamm_metadata::Record>, StoreError> {
        let mut found = Vec::new();
        let mut take = |batch: &RecordBatch| {
            let records = replay::records(batch).map_err(self.replay_error())?;
            found.extend(records.into_iter().map(|(_, record)| record));
            Ok(())
        };
        self.visit_snapshot(SnapshotId::BOOTSTRAP, &mut take)?;
        if found.is_empty() {
            return self.old_bootstrap();
        }
        Ok(found)
    }

    /// The same as older releases wrote it, beside the directory of the log; none without the file.
    fn old_bootstrap(&self) -> Result<Vec<klamm_metadata::Record>, StoreError> {
        let root = self.path().parent().unwrap_or(self.path());
        let path = root.join(OLD_BOOTSTRAP);
        let io_error = |source| StoreError::Io {
            path: path.clone(),
            source,
        };
        let root = OsDir::open(root).map_err(io_error)?;
        let root: &dyn Dir = &*root;
        let bytes = root.read_small(OLD_BOOTSTRAP, MAX_BOOTSTRAP_BYTES);
        let bytes = Bytes::from(bytes.map_err(io_error)?.unwrap_or_default());
        let replay_error = |source| StoreError::Replay {
            path: path.clone(),
            source,
        };
        let mut found = Vec::new();
        let mut read = 0;
        for batch in replay::batches(bytes.clone()) {
            let batch = batch.map_err(replay_error)?;
            let verified = batch.verify_crc().map_err(|source| ReplayError::Batch {
                offset: batch.header().base_offset,
                source,
            });
            verified.map_err(replay_error)?;
            read += batch.bytes().len();
            let records = replay::records(&batch).map_err(replay_error)?;
            found.extend(records.into_iter().map(|(_, record)| record));
        }
        if read < bytes.len() {
            let text = "it ends within a batch; format the directory again";
            return Err(io_error(io::Error::new(io::ErrorKind::UnexpectedEof, text)));
        }
        Ok(found)
    }

    fn apply(&self, loader: &mut Loader, batch: &RecordBatch) -> Result<(), StoreError> {
        replay::apply(loader, batch).map_err(self.replay_error())
    }

    pub(crate) fn replay_error(&self) -> impl FnOnce(ReplayError) -> StoreError + use<> {
        let path = self.path().to_owned();
        move |source| StoreError::Replay { path, source }
    }

    /// When a snapshot was made, in milliseconds since 1970.
    pub(super) fn made_ms(&self, snapshot: &Snapshot) -> Result<i64, StoreError> {
        let first = snapshot.batches(0, 1)?;
        match replay::batches(first).next() {
            Some(batch) => Ok(batch.map_err(self.replay_error())?.header().max_timestamp),
            None => Ok(0),
        }
    }

    fn visit_snapshot(
        &self,
        id: SnapshotId,
        visit: &mut dyn FnMut(&RecordBatch) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let Some(snapshot) = self.snapshots.read(id)? else {
            return Ok(());
        };
        let mut position = 0;
        loop {
            let bytes = snapshot.batches(position, REPLAY_BYTES)?;
            if bytes.is_empty() {
                return Ok(());
            }
            position += bytes.len() as u64;
            for batch in replay::batches(bytes) {
                visit(&batch.map_err(self.replay_error())?)?;
            }
        }
    }

    /// Visits the batches from an offset on that end before another.
    pub(super) fn visit_log(
        &self,
        from: Offset,
        up_to: Offset,
        visit: &mut dyn FnMut(&RecordBatch) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut next = from;
        while next < up_to {
            let slice = self.log().read(next, up_to, REPLAY_BYTES)?;
            let before = next;
            for batch in replay::batches(slice.bytes()?) {
                let batch = batch.map_err(self.replay_error())?;
                next = Offset(batch.header().last_offset().0 + 1);
                visit(&batch)?;
            }
            if next == before {
                break;
            }
        }
        Ok(())
    }
}

fn election_state(state: QuorumState) -> ElectionState {
    ElectionState {
        epoch: LeaderEpoch(state.leader_epoch.0),
        leader: state.leader_id,
        voted: state.voted.map(|vote| ReplicaKey {
            id: vote.id,
            directory: vote.directory_id,
        }),
    }
}
