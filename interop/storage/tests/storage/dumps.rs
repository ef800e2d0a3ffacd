use std::path::Path;

use klamm_log::{Log, LogOptions, OpenFiles, OsDir, Recover};
use klamm_protocol::records::{BatchBuilder, BatchOptions, Codec, Compression, NewRecord};
use klamm_protocol::{LeaderEpoch, Offset};

use crate::{Context, copies};

/// Batches of every compression in several segments, with an index entry about every batch.
fn write(dir: &Path) -> (usize, i64) {
    let options = LogOptions {
        segment_bytes: 16 * 1024,
        index_interval_bytes: 300,
        ..LogOptions::TOPIC
    };
    let dir = OsDir::create(dir).unwrap();
    let files = OpenFiles::new(4);
    let (mut log, _) = Log::open(dir, files, options, Recover::All, Offset(0)).unwrap();
    for number in 0..200_i64 {
        let compression = Compression::ALL[number as usize % Compression::ALL.len()];
        let mut builder = BatchBuilder::new(BatchOptions {
            codec: Codec::new(compression),
            ..BatchOptions::default()
        });
        for record in 0..1 + number % 4 {
            let value: Vec<u8> = (0..400).map(|i| (number * i % 251) as u8).collect();
            let key = record.to_be_bytes();
            let new = NewRecord {
                timestamp: 1_700_000_000_000 + number * 10 - record,
                key: Some(&key),
                value: Some(&value),
                ..NewRecord::default()
            };
            builder.append(&new).unwrap();
        }
        let epoch = LeaderEpoch(number as i32 / 30);
        let bytes = builder.finish().unwrap().into_bytes();
        log.append_assigning(bytes, epoch, None, 0).unwrap();
    }
    let (segments, end) = (log.segments().count(), log.end());
    log.close().unwrap();
    (segments, end.0)
}

/// Apache Kafka's tool finds every record, and nothing wrong with the indexes.
pub(crate) fn segments(context: &mut Context) {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path().join("written-0");
    let (segments, end) = write(&dir);
    assert!(segments > 3, "{segments} segments");
    let files = |extension: &str| {
        let entries = std::fs::read_dir(&dir).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let of_kind = paths.filter(|path| path.extension().is_some_and(|is| is == extension));
        let names: Vec<String> = of_kind.map(|path| path.display().to_string()).collect();
        assert_eq!(names.len(), segments, "{names:?}");
        names.join(",")
    };
    let dump = |args: &[&str]| {
        let (status, text) = context.cluster.offline_tool("DumpLogSegments", args);
        assert_eq!(status, 0, "{args:?}: {text}");
        text
    };
    let text = dump(&["--deep-iteration", "--files", &files("log")]);
    let records = text
        .lines()
        .filter(|line| line.starts_with("| offset:"))
        .count();
    assert_eq!(records as i64, end, "{text}");
    assert!(!text.contains("isvalid: false"), "{text}");
    for (extension, check) in [
        ("index", "--index-sanity-check"),
        ("timeindex", "--index-sanity-check"),
    ] {
        let text = dump(&[check, "--files", &files(extension)]);
        assert_eq!(
            text.matches("passed sanity check").count(),
            segments,
            "{text}"
        );
    }
    for extension in ["index", "timeindex"] {
        let text = dump(&["--verify-index-only", "--files", &files(extension)]);
        for wrong in ["Mismatches", "not found", "out of order", "Exception"] {
            assert!(!text.contains(wrong), "{text}");
        }
    }
}

/// The metadata decoder reads a snapshot that klamm wrote.
pub(crate) fn snapshots(context: &mut Context) {
    let copy = tempfile::tempdir().unwrap();
    copies::copy(context.stopped.path(), copy.path());
    let dir = copy.path().join("__cluster_metadata-0");
    let names = std::fs::read_dir(&dir).unwrap();
    let names = names.map(|entry| entry.unwrap().path());
    let newest = names
        .filter(|path| path.extension().is_some_and(|is| is == "checkpoint"))
        .max();
    let newest = newest.unwrap().display().to_string();
    let args = ["--cluster-metadata-decoder", "--files", &newest];
    let (status, text) = context.cluster.offline_tool("DumpLogSegments", &args);
    assert_eq!(status, 0, "{text}");
    for record in [
        "SnapshotHeader",
        "FEATURE_LEVEL_RECORD",
        "TOPIC_RECORD",
        "SnapshotFooter",
    ] {
        assert!(text.contains(record), "{record} is not in:\n{text}");
    }
}
