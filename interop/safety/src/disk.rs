//! What a disk loses with the power of its machine.

use std::fs::OpenOptions;
use std::path::Path;

use fastrand::Rng;
use klamm_client::Bytes;
use klamm_cluster::Nodes;
use klamm_log::{LogError, OffsetCheckpoint, OsDir};
use klamm_protocol::records::Batches;

use crate::load::TOPIC;

/// Cuts the logs of a node that does not run somewhere in the last segment, after what it says to
/// have flushed.
///
/// # Panics
/// If its files cannot be read or changed.
pub(crate) fn forget(nodes: &Nodes, node: u32, partitions: usize, rng: &mut Rng) {
    let flushed = recovery_points(&nodes.data_dir(node)).expect("checkpoints can be read");
    for partition in 0..partitions {
        let segments = nodes.segments(node, TOPIC, partition);
        let segments = segments.unwrap_or_default();
        let Some(last) = segments.last() else {
            continue;
        };
        let bytes = std::fs::read(last).expect("a segment can be read");
        let recovery_point = flushed.iter().find(|(index, _)| *index == partition);
        let recovery_point = recovery_point.map_or(0, |(_, offset)| *offset);
        let kept = flushed_len(bytes.clone().into(), recovery_point);
        let len = rng.usize(kept..=bytes.len());
        let file = OpenOptions::new().write(true).open(last);
        let cut = file.and_then(|file| file.set_len(len as u64));
        cut.expect("a segment can be cut");
    }
}

/// Up to where the log of each partition was flushed.
fn recovery_points(dir: &Path) -> Result<Vec<(usize, i64)>, LogError> {
    let dir = OsDir::open(dir).expect("a node has its directory");
    let points = OffsetCheckpoint::RecoveryPoint.read(&*dir)?.into_iter();
    let points = points.filter(|point| point.topic == TOPIC);
    let points = points.map(|point| (point.partition.0.unsigned_abs() as usize, point.offset.0));
    Ok(points.collect())
}

/// How many bytes of a segment have batches that begin before an offset.
fn flushed_len(segment: Bytes, recovery_point: i64) -> usize {
    let mut batches = Batches::new(segment);
    let mut flushed = 0;
    while let Some(Ok(batch)) = batches.next() {
        if batch.last_offset().0 >= recovery_point {
            break;
        }
        flushed = batches.position();
    }
    flushed
}
