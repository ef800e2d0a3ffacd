//! The files that are in a log's directory when it is opened.

use std::collections::BTreeMap;

use klamm_protocol::Offset;

use crate::error::LogError;
use crate::files::LogFiles;
use crate::names::{Kind, OFFSET_DIGITS, number};
use crate::segment::Segment;

/// The segments that are there, oldest first. Files that belong to none are removed, as are those
/// that Apache Kafka has marked as deleted.
pub(super) fn find_segments(files: &LogFiles) -> Result<Vec<Segment>, LogError> {
    let dir = &files.dir;
    let names = dir.names();
    let names = names.map_err(LogError::io("list", dir.path().to_owned()))?;
    let mut found: BTreeMap<Offset, Vec<Kind>> = BTreeMap::new();
    let mut leftover = Vec::new();
    for name in names {
        match Kind::parse(&name) {
            Some((base, kind)) => found.entry(base).or_default().push(kind),
            None if name.ends_with(".log.swap") => {
                return Err(LogError::Unreadable {
                    file: dir.file(&name),
                    problem:
                        "Apache Kafka was stopped while it replaced segments by compacted ones; \
                              start it on this directory once more, so that it finishes that"
                            .into(),
                });
            }
            None if is_leftover(&name) => leftover.push(name),
            None => {}
        }
    }
    let mut segments = Vec::new();
    for (base, kinds) in found {
        if !kinds.contains(&Kind::Log) {
            // A snapshot of the producers at the end of the log has an offset of its own.
            let orphans = kinds.iter().filter(|&&kind| kind != Kind::ProducerSnapshot);
            leftover.extend(orphans.map(|kind| kind.name(base)));
            continue;
        }
        let len = files.file(base, Kind::Log).and_then(|file| file.size());
        let len = len.map_err(LogError::io("open", dir.file(&Kind::Log.name(base))))?;
        segments.push(Segment { base, len });
    }
    for name in leftover {
        let removed = dir.remove_if_there(&name);
        removed.map_err(LogError::io("remove", dir.file(&name)))?;
    }
    Ok(segments)
}

/// Whether a file is left over from something that a crash, or a stop, has interrupted.
fn is_leftover(name: &str) -> bool {
    let segment = name.split_once('.').is_some_and(|(offset, _)| {
        offset.len() == OFFSET_DIGITS && number::<i64>(offset).is_some()
    });
    let is_temporary = [".deleted", ".cleaned", ".tmp"]
        .iter()
        .any(|suffix| name.ends_with(suffix));
    is_temporary && (segment || name == "leader-epoch-checkpoint.tmp")
}
