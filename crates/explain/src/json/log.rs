use std::fmt;

use bytes::Bytes;
use klamm_protocol::records::{self, TimestampType};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::json;

use super::{Fields, Hex, Line, line};
use crate::log::{Batch, Content, Entry, IndexEntry, Tail};
use crate::time::utc;

/// A batch of a log, as one JSON object on one line; `at` is where it starts in the segment.
pub fn log_batch(batch: &Batch, at: u64) -> String {
    let inner = batch.inner();
    let mut object = json!({
        "kind": "batch",
        "position": at,
        "size": inner.bytes().len(),
        "magic": inner.magic(),
        "base_offset": batch.base_offset(),
        "last_offset": inner.last_offset().0,
        "max_timestamp": inner.max_timestamp(),
        "compression": inner.compression().map_or("unknown", records::Compression::name),
        "control": inner.is_control(),
        "problem": batch.problem(),
    });
    if let Some(header) = batch.header() {
        let more = json!({
            "epoch": batch.epoch(),
            "base_timestamp": header.base_timestamp,
            "timestamp_type": match header.timestamp_type() {
                TimestampType::CreateTime => "create",
                TimestampType::LogAppendTime => "append",
            },
            "transactional": header.attributes.is_transactional(),
            "producer_id": header.producer_id,
            "producer_epoch": header.producer_epoch,
            "base_sequence": header.base_sequence,
            "records": header.record_count,
        });
        if let (Some(object), Some(more)) = (object.as_object_mut(), more.as_object()) {
            object.extend(more.clone());
        }
    }
    line(&object) + "\n"
}

/// A record of a log, as one JSON object on one line; `at` is where its batch starts in the segment.
/// What is written has several times as many bytes as the record.
pub fn log_entry<'a>(batch: &Batch, entry: &'a Entry, at: u64) -> impl fmt::Display + use<'a> {
    let epoch = batch.epoch();
    Line(EntryJson { entry, epoch, at })
}

struct EntryJson<'a> {
    entry: &'a Entry,
    epoch: Option<i32>,
    at: u64,
}

impl Serialize for EntryJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entry = self.entry;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", "record")?;
        map.serialize_entry("batch_position", &self.at)?;
        map.serialize_entry("record_position", &entry.position)?;
        map.serialize_entry("offset", &entry.offset)?;
        map.serialize_entry("epoch", &self.epoch)?;
        map.serialize_entry("timestamp", &entry.timestamp)?;
        let time = (entry.timestamp != -1)
            .then(|| utc(entry.timestamp))
            .flatten();
        map.serialize_entry("time", &time)?;
        map.serialize_entry("type", &entry.kind)?;
        map.serialize_entry("version", &entry.version)?;
        map.serialize_entry("control", &entry.is_control)?;
        map.serialize_entry("sequence", &entry.sequence)?;
        map.serialize_entry("key", &ContentJson(&entry.key))?;
        map.serialize_entry("value", &ContentJson(&entry.value))?;
        map.serialize_entry("headers", &HeadersJson(&entry.headers))?;
        map.serialize_entry("problems", &entry.problems())?;
        map.end()
    }
}

struct ContentJson<'a>(&'a Content);

impl Serialize for ContentJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Content::Null => serializer.serialize_none(),
            Content::Bytes(value) => BytesJson(value).serialize(serializer),
            Content::Opened(tree) => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("message", &tree.subject.message)?;
                map.serialize_entry("version", &tree.subject.message_version)?;
                map.serialize_entry("fields", &Fields(&tree.root.children))?;
                map.end()
            }
        }
    }
}

struct BytesJson<'a>(&'a [u8]);

impl Serialize for BytesJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("hex", &Hex::of(self.0))?;
        map.serialize_entry("text", &std::str::from_utf8(self.0).ok())?;
        map.end()
    }
}

struct HeadersJson<'a>(&'a [(String, Option<Bytes>)]);

impl Serialize for HeadersJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Header<'a> {
            name: &'a str,
            value: Option<BytesJson<'a>>,
        }
        serializer.collect_seq(self.0.iter().map(|(name, value)| Header {
            name,
            value: value.as_deref().map(BytesJson),
        }))
    }
}

/// The end of a segment, as one JSON object on one line.
pub fn log_end(
    tail: Option<&Tail>,
    (batches, records, shown): (u64, u64, u64),
    size: u64,
) -> String {
    let stopped = tail.map(|tail| match tail {
        Tail::Zeros { at, len } => json!({"what": "zeros", "position": at, "length": len}),
        Tail::Cut { piece, needed } => json!({
            "what": "cut", "position": piece.at, "length": piece.bytes.len(), "needed": needed,
        }),
        Tail::Broken { at, len, why } => {
            json!({"what": "broken", "position": at, "length": len, "why": why})
        }
    });
    line(&json!({
        "kind": "end",
        "batches": batches,
        "records": records,
        "shown": shown,
        "size": size,
        "stopped": stopped,
    })) + "\n"
}

/// An entry of an index, as one JSON object on one line.
pub fn index_entry(entry: &IndexEntry) -> String {
    let object = match entry {
        IndexEntry::Offset { offset, position } => {
            json!({"kind": "entry", "offset": offset, "position": position})
        }
        IndexEntry::Time { timestamp, offset } => {
            json!({"kind": "entry", "timestamp": timestamp, "time": utc(*timestamp), "offset": offset})
        }
        IndexEntry::Aborted {
            version,
            producer_id,
            first_offset,
            last_offset,
            last_stable_offset,
        } => json!({
            "kind": "entry",
            "version": version,
            "producer_id": producer_id,
            "first_offset": first_offset,
            "last_offset": last_offset,
            "last_stable_offset": last_stable_offset,
        }),
    };
    line(&object) + "\n"
}

/// A file of a log directory, as one JSON object on one line: what follows is in it.
pub fn log_file(name: &str, form: &str, size: Option<u64>) -> String {
    line(&json!({"kind": "file", "file": name, "form": form, "size": size})) + "\n"
}

/// A text file, as one JSON object on one line.
pub fn text_file(text: &str) -> String {
    line(&json!({"kind": "text", "text": text})) + "\n"
}

/// The end of an index, as one JSON object on one line.
pub fn index_end(entries: usize, rest: &[u8]) -> String {
    let what = if rest.iter().all(|byte| *byte == 0) {
        "zeros"
    } else {
        "cut"
    };
    let stopped = (!rest.is_empty()).then(|| json!({"what": what, "length": rest.len()}));
    line(&json!({"kind": "end", "entries": entries, "stopped": stopped})) + "\n"
}

/// What is wrong with a batch, as one JSON object on one line.
pub fn log_problem(at: u64, what: &str) -> String {
    line(&json!({"kind": "problem", "position": at, "what": what})) + "\n"
}
