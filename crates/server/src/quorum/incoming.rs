use klamm_log::SnapshotWriter;
use klamm_raft::SnapshotPart;

use super::places::snapshot_id;
use super::store::{Store, StoreError};

/// The snapshot that comes from the leader, part by part.
#[derive(Debug, Default)]
pub(super) struct Incoming(Option<SnapshotWriter>);

impl Incoming {
    /// Writes a part. One at position 0 begins anew.
    pub(super) fn write(&mut self, store: &Store, part: &SnapshotPart) -> Result<(), StoreError> {
        if part.position == 0 {
            // What there is of another is removed before this one is begun, which may be the same.
            self.0 = None;
            self.0 = Some(store.snapshots().create(snapshot_id(part.id))?);
        }
        let writer = self.0.as_mut().expect("the first part is at position 0");
        assert_eq!(writer.len(), part.position, "parts come in order");
        Ok(writer.append(&part.bytes)?)
    }

    /// Makes it durable, and says how many bytes it has.
    pub(super) fn finish(&mut self) -> Result<u64, StoreError> {
        let writer = self.0.take().expect("a snapshot has parts");
        Ok(writer.finish()?.len())
    }
}
