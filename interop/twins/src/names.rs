//! Names for what each side numbers in its own way, so that both sides say the same.

use std::collections::BTreeMap;

use klamm_metadata::Record;
use klamm_protocol::Uuid;
use serde_json::Value;

use crate::log::Entry;

/// Ids that a controller gave, by their text, and epochs, with what they stand for.
#[derive(Default)]
pub(crate) struct Names {
    ids: BTreeMap<String, String>,
    epochs: BTreeMap<i64, String>,
    runs: BTreeMap<i32, u32>,
    ports: Vec<u16>,
    /// Texts that configs have somewhere, with what they stand for.
    texts: Vec<(String, &'static str)>,
}

/// Lists whose order means something, beside those of numbers.
const ORDERED: [&str; 3] = ["directories", "assignments", "synonyms"];
/// Sets that Apache Kafka writes in the order of its hash sets.
const SETS: [&str; 3] = [
    "eligibleLeaderReplicas",
    "lastKnownElr",
    "EligibleLeaderReplicas",
];

impl Names {
    /// Forgets the registrations of the last history, so that they are counted from one again.
    pub(crate) fn start_over(&mut self) {
        self.runs.clear();
    }

    pub(crate) fn port(&mut self, port: u16) {
        self.ports.push(port);
    }

    pub(crate) fn text(&mut self, text: String, name: &'static str) {
        self.texts.push((text, name));
    }

    /// Learns what a record names.
    pub(crate) fn learn(&mut self, entry: &Entry) {
        match &entry.record {
            Record::Topic(topic) => {
                let name = format!("<id of {}>", topic.name);
                self.ids.insert(topic.topic_id.to_string(), name);
            }
            Record::AccessControlEntry(acl) => {
                let mut acl = acl.clone();
                let id = std::mem::replace(&mut acl.id, Uuid::ZERO);
                self.ids.insert(id.to_string(), format!("<id of {acl:?}>"));
            }
            Record::RegisterBroker(broker) => {
                let run = self.runs.entry(broker.broker_id).or_default();
                *run += 1;
                let name = format!("<epoch {run} of {}>", broker.broker_id);
                self.epochs.insert(broker.broker_epoch, name);
            }
            Record::RegisterController(controller) => {
                let name = format!("<run of {}>", controller.controller_id);
                self.ids.insert(controller.incarnation_id.to_string(), name);
            }
            _ => {}
        }
    }

    /// Puts names into what was said, and what has no order into one.
    pub(crate) fn put_into(&self, said: &mut Value) {
        self.walk("", said);
    }

    fn walk(&self, key: &str, said: &mut Value) {
        match said {
            Value::Object(fields) => {
                // What is said of an error is each side's own; that all is well is said alike.
                let code = fields.get("errorCode").and_then(Value::as_i64);
                if code.is_some_and(|code| code != 0) {
                    fields.remove("errorMessage");
                }
                // Quotas throttle by time, which plays no part.
                fields.remove("throttleTimeMs");
                for (name, value) in fields.iter_mut() {
                    // The epoch of these records is their broker's; others have epochs of leaders.
                    let is_fence =
                        key.starts_with("FenceBroker") || key.starts_with("UnfenceBroker");
                    let name = if is_fence && name == "epoch" {
                        "brokerEpoch"
                    } else {
                        name
                    };
                    self.walk(name, value);
                }
            }
            Value::Array(list) => {
                list.iter_mut().for_each(|item| self.walk(key, item));
                order(key, list);
            }
            Value::String(text) => {
                if let Some(name) = self.ids.get(text.as_str()) {
                    name.clone_into(text);
                }
                for (own, name) in &self.texts {
                    if text.contains(own) {
                        *text = text.replace(own, name);
                    }
                }
            }
            Value::Number(number) => {
                let number = number.as_i64();
                if let Some(name) = number.and_then(|number| self.number(key, number)) {
                    *said = name.into();
                }
            }
            _ => {}
        }
    }

    fn number(&self, key: &str, number: i64) -> Option<String> {
        match key {
            "brokerEpoch" => self.epochs.get(&number).cloned(),
            "port" => u16::try_from(number)
                .ok()
                .filter(|port| self.ports.contains(port))
                .map(|_| "<port>".to_owned()),
            _ => None,
        }
    }
}

/// Puts what has no order into one again, after something of it has changed.
pub(crate) fn order_again(key: &str, said: &mut Value) {
    match said {
        Value::Object(fields) => {
            for (name, value) in fields {
                order_again(name, value);
            }
        }
        Value::Array(list) => {
            list.iter_mut().for_each(|item| order_again(key, item));
            order(key, list);
        }
        _ => {}
    }
}

fn order(key: &str, list: &mut [Value]) {
    let is_of_numbers = list.iter().all(Value::is_number) && !SETS.contains(&key);
    if !is_of_numbers && !ORDERED.contains(&key) {
        list.sort_by_cached_key(Value::to_string);
    }
}
