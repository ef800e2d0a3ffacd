//! Record by record, what Apache Kafka's own tool prints.

use std::path::{Path, PathBuf};

use klamm_java_peer::{Value, json};

use super::dump::{self, Batch, Record, Says, field};
use super::klamm::{self, explain, of_kind};
use crate::{Context, partitions};

/// Names of batch fields: klamm's, Apache Kafka's.
const BATCH: [(&str, &str); 13] = [
    ("position", "position"),
    ("size", "size"),
    ("magic", "magic"),
    ("base_offset", "baseOffset"),
    ("last_offset", "lastOffset"),
    ("records", "count"),
    ("base_sequence", "baseSequence"),
    ("producer_id", "producerId"),
    ("producer_epoch", "producerEpoch"),
    ("epoch", "partitionLeaderEpoch"),
    ("transactional", "isTransactional"),
    ("control", "isControl"),
    ("compression", "compresscodec"),
];

/// Apache Kafka prints the states of transactions by name, in the order of their numbers.
const STATES: [&str; 8] = [
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
];

pub(crate) fn metadata(context: &mut Context) {
    let count = compare(
        context,
        "__cluster_metadata",
        "log",
        "--cluster-metadata-decoder",
    );
    assert!(count > 50, "{count} records");
}

pub(crate) fn snapshots(context: &mut Context) {
    let flag = "--cluster-metadata-decoder";
    let count = compare(context, "__cluster_metadata", "checkpoint", flag);
    assert!(count > 10, "{count} records");
}

pub(crate) fn groups(context: &mut Context) {
    let count = compare(context, "__consumer_offsets", "log", "--offsets-decoder");
    assert!(count > 20, "{count} records");
}

pub(crate) fn transactions(context: &mut Context) {
    let count = compare(
        context,
        "__transaction_state",
        "log",
        "--transaction-log-decoder",
    );
    assert!(count > 10, "{count} records");
}

pub(crate) fn share_states(context: &mut Context) {
    let flag = "--share-group-state-decoder";
    let count = compare(context, "__share_group_state", "log", flag);
    assert!(count > 2, "{count} records");
}

pub(crate) fn topics(context: &mut Context) {
    let count = compare(context, "orders", "log", "--print-data-log");
    // Ten of each compression, and of three transactions a record and a marker in two partitions.
    assert_eq!(count, 62);
}

/// Compares the files of a topic that end so; says how many records they have.
fn compare(context: &Context, topic: &str, extension: &str, flag: &str) -> usize {
    let files = files(context, topic, extension);
    let names: Vec<_> = files.iter().map(|file| file.to_str().unwrap()).collect();
    let args = [flag, "--files", &names.join(",")];
    let (status, dumped) = context.cluster.offline_tool("DumpLogSegments", &args);
    assert_eq!(status, 0, "{dumped}");
    let dumped = dump::read(&dumped, flag != "--print-data-log");
    assert_eq!(dumped.len(), files.len(), "{topic}");
    let mut count = 0;
    for (file, (name, batches)) in files.iter().zip(dumped) {
        assert_eq!(file, Path::new(&name));
        count += compare_file(file, &batches);
    }
    count
}

fn files(context: &Context, topic: &str, extension: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for directory in partitions(context.stopped.path()) {
        let name = directory.file_name().unwrap().to_str().unwrap().to_owned();
        if name.rsplit_once('-').is_some_and(|(of, _)| of == topic) {
            let entries = directory.read_dir().unwrap();
            let paths = entries.map(|entry| entry.unwrap().path());
            files.extend(paths.filter(|path| path.extension().is_some_and(|of| of == extension)));
        }
    }
    files.sort();
    assert!(!files.is_empty(), "{topic} has no .{extension}");
    files
}

fn compare_file(file: &Path, dumped: &[Batch]) -> usize {
    let lines = explain(file, &[]);
    let batches = of_kind(&lines, "batch");
    let records = of_kind(&lines, "record");
    let place = file.display().to_string();
    assert_eq!(batches.len(), dumped.len(), "{place}");
    for (batch, dumped) in batches.iter().zip(dumped) {
        let place = format!("{place}: {batch}\n{}", dumped.line);
        for (klamm, kafka) in BATCH {
            assert_eq!(batch[klamm], field(&dumped.line, kafka), "{klamm}: {place}");
        }
        let time = match batch["timestamp_type"].as_str() {
            Some("append") => "LogAppendTime",
            _ => "CreateTime",
        };
        assert_eq!(batch["max_timestamp"], field(&dumped.line, time), "{place}");
        assert_eq!(
            field(&dumped.line, "isvalid"),
            batch["problem"].is_null(),
            "{place}"
        );
    }
    let dumped: Vec<&Record> = dumped.iter().flat_map(|batch| &batch.records).collect();
    assert_eq!(records.len(), dumped.len(), "{place}");
    for (record, dumped) in records.iter().zip(&dumped) {
        compare_record(record, dumped, &place);
    }
    records.len()
}

fn compare_record(record: &Value, dumped: &Record, place: &str) {
    let place = format!("{place}: {record}\n{}\n{:?}", dumped.line, dumped.says);
    assert_eq!(record["offset"], field(&dumped.line, "offset"), "{place}");
    assert_eq!(
        record["timestamp"],
        field(&dumped.line, "CreateTime"),
        "{place}"
    );
    let sequence = field(&dumped.line, "sequence");
    let sequence = if sequence == -1 {
        Value::Null
    } else {
        sequence
    };
    assert_eq!(record["sequence"], sequence, "{place}");
    let headers = record["headers"].as_array().unwrap();
    let headers: Vec<_> = headers
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        field(&dumped.line, "headerKeys"),
        headers.join(","),
        "{place}"
    );
    let value = &record["value"];
    match &dumped.says {
        Says::EndTransaction(kind) => assert_eq!(record["type"], **kind, "{place}"),
        Says::Control(kind, fields) => {
            assert_eq!(shouted(kind), record["type"], "{place}");
            assert_eq!(value["fields"], *fields, "{place}");
        }
        Says::Text(key, text) => {
            assert_eq!(record["key"]["text"], json!(key), "{place}");
            assert_eq!(value["text"], json!(text), "{place}");
        }
        Says::Json(None, Some(payload)) => {
            let kind = record["type"].as_str().unwrap();
            assert_eq!(payload["type"], shouted(kind), "{place}");
            assert_eq!(record["version"], payload["version"], "{place}");
            assert_eq!(value["fields"], payload["data"], "{place}");
        }
        Says::Json(Some(key), payload) => {
            let kind = record["type"].as_str().unwrap();
            assert_eq!(key["type"], klamm::code(kind).to_string(), "{place}");
            assert_eq!(record["key"]["fields"], key["data"], "{place}");
            match payload {
                None => assert!(value.is_null(), "{place}"),
                Some(payload) => {
                    let version = value["version"].to_string();
                    assert_eq!(payload["version"], version, "{place}");
                    let (klamm, kafka) = comparable(value["fields"].clone(), &payload["data"]);
                    assert_eq!(klamm, kafka, "{place}");
                }
            }
        }
        Says::Json(None, None) => panic!("{place}: neither key nor value"),
    }
}

/// `TopicRecord` as Apache Kafka's enumerations write it: `TOPIC_RECORD`.
fn shouted(name: &str) -> String {
    let mut shouted = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !shouted.is_empty() {
            shouted.push('_');
        }
        shouted.push(letter.to_ascii_uppercase());
    }
    shouted
}

/// klamm's fields and Apache Kafka's, where the tool prints something of its own making.
fn comparable(mut klamm: Value, kafka: &Value) -> (Value, Value) {
    let mut kafka = kafka.clone();
    if let Some(state) = klamm["transactionStatus"].as_u64() {
        klamm["transactionStatus"] = json!(STATES[usize::try_from(state).unwrap()]);
    }
    // It opens what members of a classic group wrote; klamm shows that in the tree.
    for side in [&mut klamm, &mut kafka] {
        for member in side["members"].as_array_mut().into_iter().flatten() {
            let member = member.as_object_mut().unwrap();
            for field in ["subscription", "assignment"] {
                assert!(member.remove(field).is_some(), "{member:?}");
            }
        }
    }
    (klamm, kafka)
}
