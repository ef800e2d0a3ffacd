use std::io;
use std::path::Path;
use std::sync::Arc;

use klamm_log::{DirLock, MetaProperties, OsDir, SnapshotId, Snapshots};

use super::{Beginning, DirectoryKind, FormatError, Plan, PlannedDirectory, checkpoint};
use crate::quorum::METADATA_DIR;

impl Plan {
    /// Writes what is planned. `timestamp_ms` is what the records carry, in milliseconds since 1970.
    ///
    /// Every directory is locked before the first is written, so that none of them is in use. Where
    /// this fails, directories that are done stay so; what was begun is no formatted directory.
    pub fn carry_out(&self, timestamp_ms: i64) -> Result<(), FormatError> {
        let new: Vec<&PlannedDirectory> = self
            .directories
            .iter()
            .filter(|dir| !dir.is_formatted)
            .collect();
        let mut open = Vec::new();
        for planned in new {
            let dir = create_all(&planned.path).map_err(|source| FormatError::Dir {
                path: planned.path.clone(),
                source,
            })?;
            let lock = DirLock::acquire(&planned.path)?;
            if MetaProperties::read(&*dir)?.is_some() {
                return Err(FormatError::Meanwhile(planned.path.clone()));
            }
            open.push((planned, dir, lock));
        }
        for (planned, dir, _lock) in open {
            if let Some(beginning) = &self.beginning
                && planned.kind != DirectoryKind::Data
            {
                beginning.write(&planned.path, timestamp_ms)?;
            }
            let properties = MetaProperties {
                cluster_id: self.cluster_id.clone(),
                node_id: self.node_id,
                directory_id: planned.id,
            };
            properties.write(&*dir)?;
        }
        Ok(())
    }
}

impl Beginning {
    fn write(&self, path: &Path, timestamp_ms: i64) -> Result<(), FormatError> {
        let path = path.join(METADATA_DIR);
        let dir = OsDir::create(&path).map_err(|source| FormatError::Dir { path, source })?;
        let mut snapshot = Snapshots::open(dir)?.create(SnapshotId::BOOTSTRAP)?;
        let batches = checkpoint::bootstrap(self, timestamp_ms);
        for batch in batches {
            snapshot.append(&batch)?;
        }
        snapshot.finish()?;
        Ok(())
    }
}

/// Makes a directory and those above it that are missing; their names are durable then.
fn create_all(path: &Path) -> io::Result<Arc<OsDir>> {
    if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty())
        && !above.is_dir()
    {
        create_all(above)?;
    }
    OsDir::create(path)
}
