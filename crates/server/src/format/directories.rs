use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use klamm_log::{LogError, MetaProperties, OsDir};
use klamm_protocol::Uuid;

use super::{DirectoryKind, FormatError, PlannedDirectory, Request};
use crate::machine::random_uuid;
use crate::quorum::METADATA_DIR;
use crate::settings::NodeSettings;

/// A directory of a node, and what is in it.
#[derive(Debug)]
pub struct Inspected {
    /// Where it is.
    pub path: PathBuf,
    /// What was found there.
    pub state: DirectoryState,
}

/// What there is at the path of a directory.
#[derive(Debug)]
pub enum DirectoryState {
    /// Nothing.
    Missing,
    /// A directory that is not formatted.
    Unformatted,
    /// A formatted one.
    Formatted(MetaProperties),
    /// Something that is no directory, or cannot be looked at.
    Unusable(io::Error),
    /// A directory whose `meta.properties` cannot be read.
    Unreadable(LogError),
}

/// Looks at every directory of a node.
pub fn inspect(node: &NodeSettings) -> Vec<Inspected> {
    let paths = node.directories();
    paths
        .map(|path| Inspected {
            path: path.clone(),
            state: state(path),
        })
        .collect()
}

fn state(path: &Path) -> DirectoryState {
    let dir = match OsDir::open(path) {
        Ok(dir) => dir,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return DirectoryState::Missing,
        Err(error) => return DirectoryState::Unusable(error),
    };
    match MetaProperties::read(&*dir) {
        Ok(Some(properties)) => DirectoryState::Formatted(properties),
        Ok(None) => DirectoryState::Unformatted,
        Err(error) => DirectoryState::Unreadable(error),
    }
}

/// What is to become of each directory, if every one of them is as it should be.
pub(super) fn plan(
    node: &NodeSettings,
    request: &Request,
    metadata_kind: DirectoryKind,
    metadata_id: Uuid,
) -> Result<Vec<PlannedDirectory>, FormatError> {
    let mut planned = Vec::new();
    for Inspected { path, state } in inspect(node) {
        let is_metadata = path == node.metadata_log_dir;
        let kind = if is_metadata {
            metadata_kind
        } else {
            DirectoryKind::Data
        };
        let (id, is_formatted) = match state {
            DirectoryState::Unusable(source) => return Err(FormatError::Dir { path, source }),
            DirectoryState::Unreadable(error) => return Err(error.into()),
            DirectoryState::Formatted(properties) => {
                check_owner(&path, &properties, node, request)?;
                (properties.directory_id, true)
            }
            DirectoryState::Missing | DirectoryState::Unformatted => {
                check_writable(&path)?;
                if is_metadata {
                    check_no_log(&path)?;
                    (Some(metadata_id), false)
                } else {
                    (Some(random_uuid().map_err(FormatError::Chance)?), false)
                }
            }
        };
        planned.push(PlannedDirectory {
            path,
            kind,
            id,
            is_formatted,
        });
    }
    check_ids(&planned)?;
    if !request.ignore_formatted {
        check_none_is_formatted(&planned, node, request)?;
    }
    Ok(planned)
}

fn check_owner(
    path: &Path,
    properties: &MetaProperties,
    node: &NodeSettings,
    request: &Request,
) -> Result<(), FormatError> {
    let path = path.to_owned();
    if properties.cluster_id != request.cluster_id {
        return Err(FormatError::OtherCluster {
            path,
            found: properties.cluster_id.clone(),
            wanted: request.cluster_id.clone(),
        });
    }
    if properties.node_id != node.id {
        return Err(FormatError::OtherNode {
            path,
            found: properties.node_id,
            wanted: node.id,
        });
    }
    Ok(())
}

fn check_none_is_formatted(
    planned: &[PlannedDirectory],
    node: &NodeSettings,
    request: &Request,
) -> Result<(), FormatError> {
    match planned.iter().find(|dir| dir.is_formatted) {
        None => Ok(()),
        // Those of other nodes and clusters were refused before.
        Some(dir) => Err(FormatError::Formatted {
            path: dir.path.clone(),
            node_id: node.id,
            cluster_id: request.cluster_id.clone(),
        }),
    }
}

fn check_ids(planned: &[PlannedDirectory]) -> Result<(), FormatError> {
    let mut seen: BTreeMap<Uuid, &Path> = BTreeMap::new();
    for dir in planned {
        let Some(id) = dir.id else { continue };
        if let Some(first) = seen.insert(id, &dir.path) {
            return Err(FormatError::SameId {
                first: first.to_owned(),
                second: dir.path.clone(),
                id,
            });
        }
    }
    Ok(())
}

/// The directory, or the nearest one above it that is there, must take new names.
fn check_writable(path: &Path) -> Result<(), FormatError> {
    let above = path
        .ancestors()
        .map(|dir| match dir.as_os_str().is_empty() {
            true => Path::new("."),
            false => dir,
        });
    let nearest = above.into_iter().find(|dir| dir.symlink_metadata().is_ok());
    let nearest = nearest.unwrap_or(Path::new("/"));
    let writable = OsDir::open(nearest).and_then(|_| {
        let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        Ok(rustix::fs::access(nearest, access)?)
    });
    writable.map_err(|source| FormatError::Dir {
        path: path.to_owned(),
        source,
    })
}

/// A metadata log without `meta.properties` is somebody's whose file was lost: a second beginning
/// beside it would hide it.
fn check_no_log(path: &Path) -> Result<(), FormatError> {
    let path = path.join(METADATA_DIR);
    let dir = match OsDir::open(&path) {
        Ok(dir) => dir,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(FormatError::Dir { path, source }),
    };
    let names = klamm_log::Dir::names(&*dir);
    let names = names.map_err(|source| FormatError::Dir {
        path: path.clone(),
        source,
    })?;
    // A format that did not end leaves this one.
    let own = klamm_log::SnapshotId::BOOTSTRAP.file_name();
    match names.into_iter().find(|name| !name.starts_with(&own)) {
        Some(file) => Err(FormatError::StrayLog { path, file }),
        None => Ok(()),
    }
}
