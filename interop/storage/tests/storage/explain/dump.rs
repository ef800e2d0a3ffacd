//! What Apache Kafka's `DumpLogSegments` prints.

use klamm_java_peer::{Value, json, parse};

/// A batch: its numbers by their names, and its records.
pub(crate) struct Batch {
    pub(crate) line: String,
    pub(crate) records: Vec<Record>,
}

/// A record: its numbers by their names, and what is in it.
pub(crate) struct Record {
    pub(crate) line: String,
    pub(crate) says: Says,
}

/// What a record holds.
#[derive(Debug, PartialEq)]
pub(crate) enum Says {
    /// A control record that ends a transaction.
    EndTransaction(String),
    /// Another control record, by Apache Kafka's name for it.
    Control(String, Value),
    /// Key and value, in JSON.
    Json(Option<Value>, Option<Value>),
    /// Key and value of a topic of clients.
    Text(Option<String>, Option<String>),
}

/// The batches of each file, in order. `is_json` says whether the records are Apache Kafka's own.
pub(crate) fn read(text: &str, is_json: bool) -> Vec<(String, Vec<Batch>)> {
    let mut files: Vec<(String, Vec<Batch>)> = Vec::new();
    for line in text.lines() {
        if let Some(file) = line.strip_prefix("Dumping ") {
            files.push((file.to_owned(), Vec::new()));
            continue;
        }
        let batches = files.last_mut().map(|(_, batches)| batches);
        let batches = batches.unwrap_or_else(|| panic!("{line:?} is in no file"));
        if let Some(record) = line.strip_prefix("| ") {
            let batch = batches.last_mut().unwrap();
            batch.records.push(Record::read(record, is_json));
        } else if line.starts_with("baseOffset: ") {
            batches.push(Batch {
                line: line.to_owned(),
                records: Vec::new(),
            });
        } else {
            let heading = ["Log starting offset: ", "Snapshot end offset: "];
            let is_heading = heading.iter().any(|heading| line.starts_with(heading));
            assert!(is_heading, "{line:?} is new");
        }
    }
    files
}

impl Record {
    fn read(line: &str, is_json: bool) -> Self {
        let (head, rest) = line.split_once("headerKeys: [").unwrap();
        let (headers, rest) = rest.split_once(']').unwrap();
        let rest = rest.trim_start();
        Self {
            line: format!("{head}headerKeys: {headers}"),
            says: Says::read(rest, is_json),
        }
    }
}

impl Says {
    fn read(text: &str, is_json: bool) -> Self {
        if let Some(marker) = text.strip_prefix("endTxnMarker: ") {
            let (kind, _) = marker.split_once(' ').unwrap();
            return Self::EndTransaction(kind.to_owned());
        }
        for control in [
            "LeaderChange",
            "SnapshotHeader",
            "SnapshotFooter",
            "KRaftVersion",
        ] {
            if let Some(value) = text.strip_prefix(control) {
                let value = value.trim_start_matches([':', ' ']);
                return Self::Control(control.to_owned(), parse(value));
            }
        }
        let (key, value) = match text.split_once("payload: ") {
            Some((key, value)) => (key.trim_end(), Some(value)),
            None => (text, None),
        };
        let key = key.strip_prefix("key: ");
        if is_json {
            // A tombstone.
            let value = value.filter(|value| *value != "<DELETE>");
            Self::Json(key.map(parse), value.map(parse))
        } else {
            Self::Text(key.map(str::to_owned), value.map(str::to_owned))
        }
    }
}

/// The number or word after a name.
///
/// # Panics
/// If the line does not have it.
pub(crate) fn field(line: &str, name: &str) -> Value {
    let start = format!("{name}: ");
    let at = match line.starts_with(&start) {
        true => start.len(),
        false => {
            let start = format!(" {start}");
            let at = line.find(&start);
            at.unwrap_or_else(|| panic!("no {name} in {line:?}")) + start.len()
        }
    };
    let word = line[at..].split(' ').next().unwrap_or_default();
    match word.parse::<i64>() {
        Ok(number) => json!(number),
        Err(_) => match word {
            "true" => json!(true),
            "false" => json!(false),
            _ => json!(word),
        },
    }
}
