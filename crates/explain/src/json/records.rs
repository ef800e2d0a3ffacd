use serde::Serialize;

use super::{Hex, NodeJson, line};
use crate::{NoSuchRecord, RecordType, Tree, about, smallest_record};

#[derive(Serialize)]
struct RecordJson<'a> {
    #[serde(rename = "type")]
    code: i16,
    name: &'a str,
    topic: Option<&'static str>,
    kind: &'static str,
    message: Option<&'static str>,
    version: Option<i16>,
    size: usize,
    hex: Hex<'a>,
    tree: NodeJson<'a>,
}

/// The smallest instance of a type of record, as one JSON object on a line for its key, if it has one,
/// and another for its value.
pub fn smallest_record_lines(
    kind: &'static RecordType,
    version: i16,
) -> Result<String, NoSuchRecord> {
    let record = smallest_record(kind, version).ok_or(NoSuchRecord {
        name: kind.name,
        version,
    })?;
    let object = |part, tree: &Tree| {
        line(&RecordJson {
            code: kind.code,
            name: kind.name,
            topic: kind.contents.topic(),
            kind: part,
            message: tree.subject.message,
            version: tree.subject.message_version,
            size: tree.bytes.len(),
            hex: Hex::without(&tree.bytes, tree.hidden()),
            tree: NodeJson(&tree.root),
        }) + "\n"
    };
    let key = record.key.as_ref().map(|key| object("key", key));
    Ok(key.unwrap_or_default() + &object("value", &record.value))
}

#[derive(Serialize)]
struct Row {
    #[serde(rename = "type")]
    code: i16,
    name: &'static str,
    topic: Option<&'static str>,
    versions: String,
    flexible_versions: String,
    about: &'static str,
}

/// Every type of record, as one JSON object on a line each.
pub fn record_list() -> String {
    RecordType::all()
        .map(|kind| {
            line(&Row {
                code: kind.code,
                name: kind.name,
                topic: kind.contents.topic(),
                versions: kind.value.valid_versions.to_string(),
                flexible_versions: kind.value.flexible_versions.to_string(),
                about: about::message(&kind.value.name).unwrap_or_default(),
            }) + "\n"
        })
        .collect()
}
