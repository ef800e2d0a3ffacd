//! Snapshots of what is committed (KIP-630), and what they make superfluous.

use std::sync::Arc;
use std::thread;

use bytes::Bytes;
use klamm_log::{LogError, Snapshot, SnapshotId};
use klamm_metadata::{Frozen, MetadataVersion};
use klamm_protocol::records::BuildError;
use klamm_protocol::{EncodeError, Offset};
use klamm_raft::ControlRecord;
use thiserror::Error;
use tokio::sync::mpsc::UnboundedSender;

use super::disk::DiskEvent;
use super::store::{Store, StoreError};
use crate::settings::MetadataLogSettings;
use crate::snapshot::SnapshotBatches;

/// About how many bytes of records a batch of a snapshot gets.
const BATCH_BYTES: usize = 1 << 20;

/// A snapshot could not be made. The log goes on without it.
#[derive(Debug, Error)]
pub(crate) enum SnapshotError {
    /// The files cannot be written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The files cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A record does not fit its version.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// A batch cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The system gives no thread.
    #[error("no thread for it: {0}")]
    Thread(std::io::Error),
}

/// A snapshot that is to be made.
#[derive(Debug)]
pub(crate) struct Making {
    pub(super) id: SnapshotId,
    pub(super) image: Frozen,
    pub(super) control: Vec<ControlRecord>,
    /// When it is made, which is when the last record in it was written, or a little later.
    pub(super) timestamp_ms: i64,
    pub(super) store: Arc<Store>,
    pub(super) events: UnboundedSender<DiskEvent>,
    pub(super) settings: MetadataLogSettings,
}

impl Making {
    /// Makes it on a thread of its own, and tells the controller.
    pub(crate) fn start(self) {
        let events = self.events.clone();
        let thread = thread::Builder::new().name("klamm-snapshot".into());
        let spawned = thread.spawn(move || {
            let event = match self.make() {
                Ok(event) => event,
                Err(error) => DiskEvent::SnapshotFailed(error),
            };
            // The node may be gone.
            let _ = self.events.send(event);
        });
        if let Err(error) = spawned {
            let _ = events.send(DiskEvent::SnapshotFailed(SnapshotError::Thread(error)));
        }
    }

    fn make(&self) -> Result<DiskEvent, SnapshotError> {
        let snapshot = self.write()?;
        let trim_to = self.store.trim_to(&self.settings, self.timestamp_ms)?;
        Ok(DiskEvent::SnapshotMade {
            id: self.id,
            len: snapshot.len(),
            trim_to,
        })
    }

    fn write(&self) -> Result<Snapshot, SnapshotError> {
        let mut file = self.store.snapshots().create(self.id)?;
        let time = self.timestamp_ms;
        let (mut batches, begin) = SnapshotBatches::begin(self.id.epoch, &self.control, time, time);
        file.append(&begin)?;
        let version = self.image.features().metadata_version();
        let version = version.unwrap_or(MetadataVersion::MINIMUM);
        let (mut values, mut len) = (Vec::new(), 0);
        for record in self.image.records() {
            let value: Bytes = record.encode(record.version(version))?;
            len += value.len();
            values.push(value);
            if len >= BATCH_BYTES {
                file.append(&batches.records(&values)?)?;
                values.clear();
                len = 0;
            }
        }
        if !values.is_empty() {
            file.append(&batches.records(&values)?)?;
        }
        file.append(&batches.end())?;
        Ok(file.finish()?)
    }
}

impl Store {
    /// The latest snapshot before which log and snapshots may go: where they are more than is to be
    /// kept, or older. The latest snapshot stays in any case, and so does the log after it.
    fn trim_to(
        &self,
        settings: &MetadataLogSettings,
        now_ms: i64,
    ) -> Result<Option<SnapshotId>, StoreError> {
        let ids = self.snapshots().list()?;
        let mut snapshots = Vec::new();
        for id in ids.into_iter().filter(|id| *id != SnapshotId::BOOTSTRAP) {
            if let Some(snapshot) = self.snapshots().read(id)? {
                let made_ms = self.made_ms(&snapshot)?;
                snapshots.push((id, snapshot.len(), made_ms));
            }
        }
        let of_snapshots: u64 = snapshots.iter().map(|(_, len, _)| len).sum();
        let mut kept = self.log().len() + of_snapshots;
        let mut trim_to = None;
        let mut log_before = self.log().start();
        for (id, len, made_ms) in snapshots {
            let is_too_much = settings.max_retention_bytes.is_some_and(|max| kept > max);
            let is_too_old = settings.max_retention.is_some_and(|max| {
                let age = now_ms.saturating_sub(made_ms);
                u128::try_from(age).is_ok_and(|age| age > max.as_millis())
            });
            if !is_too_much && !is_too_old {
                break;
            }
            trim_to = Some(id);
            kept = kept.saturating_sub(self.log_len(log_before, id.end)? + len);
            log_before = id.end;
        }
        Ok(trim_to)
    }

    /// How many bytes the log has between two offsets at which batches begin.
    fn log_len(&self, from: Offset, to: Offset) -> Result<u64, StoreError> {
        let log = self.log();
        let mut len = 0;
        let mut begin = from;
        let inner = log.segments().filter(|base| from < *base && *base < to);
        for end in inner.chain([to]) {
            // A read stays within a segment.
            len += log.read(begin, end, usize::MAX)?.len() as u64;
            begin = end;
        }
        Ok(len)
    }
}
