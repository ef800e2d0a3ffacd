//! What is different, without what it happened to: differences of one kind have one cause, mostly.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use crate::history::Outcome;

/// The fields that are not the same, with the error codes of both sides where those are not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    api: &'static str,
    parts: BTreeSet<String>,
}

impl Kind {
    pub(crate) fn of(apache: &Outcome, klamm: &Outcome) -> Self {
        let mut parts = BTreeSet::new();
        fields("response", &apache.response, &klamm.response, &mut parts);
        records(&apache.records, &klamm.records, &mut parts);
        let api = apache.said.api;
        Self { api, parts }
    }

    /// Of two images, as records.
    pub(crate) fn of_images(apache: &[Value], klamm: &[Value]) -> Self {
        let mut parts = BTreeSet::new();
        records(apache, klamm, &mut parts);
        let api = "the metadata";
        Self { api, parts }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.api)?;
        self.parts
            .iter()
            .try_for_each(|part| write!(f, "\n    {part}"))
    }
}

/// The names of fields that only one side has, or that have other values. Items of lists are told
/// apart by their values alone.
fn fields(path: &str, apache: &Value, klamm: &Value, parts: &mut BTreeSet<String>) {
    match (apache, klamm) {
        (Value::Object(these), Value::Object(those)) => {
            for name in these.keys().chain(those.keys()) {
                let path = format!("{path}.{name}");
                fields(&path, &apache[name], &klamm[name], parts);
            }
        }
        (Value::Array(these), Value::Array(those)) if these.len() == those.len() => {
            for (apache, klamm) in these.iter().zip(those) {
                fields(path, apache, klamm, parts);
            }
        }
        _ if apache == klamm => {}
        _ if path.ends_with(".errorCode") => {
            parts.insert(format!("{path}: {apache}, klamm {klamm}"));
        }
        _ => {
            parts.insert(path.to_owned());
        }
    }
}

fn records(apache: &[Value], klamm: &[Value], parts: &mut BTreeSet<String>) {
    for (side, these, those) in [("apache", apache, klamm), ("klamm", klamm, apache)] {
        for record in these.iter().filter(|record| !those.contains(record)) {
            let kinds = record.as_object().into_iter().flatten();
            parts.extend(kinds.map(|(name, fields)| {
                let fields = fields.as_object().into_iter().flatten();
                let fields: Vec<&str> = fields.map(|(name, _)| name.as_str()).collect();
                format!("{side}: {name} {}", fields.join(", "))
            }));
        }
    }
}
