//! The differences that are wanted: what "The controller" in ARCHITECTURE.md lists, as far as
//! histories meet it. What would make the two go different ways is not asked at all; the operations
//! say so.

mod factor;
mod moves;
mod partitions;

use klamm_metadata::{Image, Partition};
use klamm_protocol::BrokerId;
use serde_json::{Map, Value, json};

use crate::history::Outcome;
use crate::names::order_again;

/// A row of the table that was met.
pub(crate) struct Excuse {
    pub(crate) what: &'static str,
    /// A topic that is not the same on both sides from here on.
    pub(crate) topic: Option<String>,
}

/// The rows that histories meet; docs/twins.md has the reason of each.
pub(crate) const ROWS: [&str; 9] = [
    FENCED_STOPS,
    LAST_DIR,
    partitions::OFFLINE_NAMED,
    partitions::OFFLINE_COUNTS,
    partitions::REMOVED_ELIGIBLE,
    factor::FACTOR,
    moves::REPLACED,
    moves::CANCELLED,
    moves::FIRST_COUNTS,
];

/// Those of them that not every run of 200 histories meets.
pub(crate) const RARE: [&str; 2] = [partitions::REMOVED_ELIGIBLE, moves::FIRST_COUNTS];

const FENCED_STOPS: &str = "a fenced broker asks to stop: fenced once more in the log";
const LAST_DIR: &str = "the last directory of a broker fails: a record that changes nothing";

/// Takes the differences that are wanted out of both outcomes, and says which there were. The images
/// are Apache Kafka's before and klamm's after.
pub(crate) fn excuse(
    before: &Image,
    after: &Image,
    apache: &mut Outcome,
    klamm: &mut Outcome,
) -> Vec<Excuse> {
    let mut met = match apache.said.api {
        "BrokerHeartbeatRequest" => heartbeat(before, apache, klamm),
        "AssignReplicasToDirsRequest" => {
            let mut met = partitions::names_offline(apache, klamm);
            met.extend(partitions::counts_offline(before, after, apache, klamm));
            met
        }
        "CreatePartitionsRequest" => factor::factor(before, apache, klamm),
        "AlterPartitionReassignmentsRequest" => moves::moves(before, after, apache, klamm),
        _ => Vec::new(),
    };
    met.extend(partitions::eligible(before, after, apache, klamm));
    apache.records.sort_by_cached_key(Value::to_string);
    order_again("", &mut apache.response);
    met
}

fn heartbeat(before: &Image, apache: &mut Outcome, klamm: &Outcome) -> Vec<Excuse> {
    let request = &apache.said.request;
    let id = BrokerId(number(&request["brokerId"]));
    let broker = before.cluster().broker(id);
    let stops = request["wantShutDown"] == true && broker.is_some_and(|broker| broker.fenced);
    let fails = request["offlineLogDirs"].is_array();
    let mut met = Vec::new();
    let mut leave_out = |is_meant: bool, fields: Value, what| {
        let is_it = |record: &Value| registration_change(record) == Some(fields.clone());
        let at = apache.records.iter().position(is_it);
        if let Some(at) = at.filter(|_| is_meant && !klamm.records.iter().any(is_it)) {
            apache.records.remove(at);
            met.push(Excuse { what, topic: None });
        }
    };
    leave_out(stops, json!({ "fenced": 1 }), FENCED_STOPS);
    leave_out(fails, json!({}), LAST_DIR);
    met
}

/// What a record changes of a broker's registration.
fn registration_change(record: &Value) -> Option<Value> {
    let (name, fields) = record.as_object()?.iter().next()?;
    let mut fields = fields.as_object().cloned()?;
    fields.retain(|key, _| key != "brokerId" && key != "brokerEpoch");
    name.starts_with("BrokerRegistrationChangeRecord ")
        .then_some(fields.into())
}

/// A partition by the name of its topic and its number.
#[derive(Clone, PartialEq)]
struct Place {
    topic: String,
    index: i32,
}

impl Place {
    fn of(change: &Map<String, Value>) -> Self {
        let id = change["topicId"].as_str().unwrap_or_default();
        let name = id
            .strip_prefix("<id of ")
            .and_then(|id| id.strip_suffix('>'));
        Self {
            topic: name.unwrap_or_default().to_owned(),
            index: number(&change["partitionId"]),
        }
    }

    /// The partition that a record changes.
    fn of_change(record: &Value) -> Option<Self> {
        partition_change(record).map(Self::of)
    }

    fn partition<'a>(&self, image: &'a Image) -> Option<&'a Partition> {
        let topic = image.topics().by_name(&self.topic)?;
        topic.partition(self.index.into())
    }

    fn excuse(&self, what: &'static str) -> Excuse {
        let topic = Some(self.topic.clone());
        Excuse { what, topic }
    }

    /// The change of this partition, where there is one and no other.
    fn change<'a>(&self, records: &'a [Value]) -> Option<&'a Map<String, Value>> {
        let mut changes = records.iter().filter_map(partition_change);
        let change = changes.find(|change| Self::of(change) == *self);
        change.filter(|_| !changes.any(|change| Self::of(change) == *self))
    }
}

fn is_partition_change(name: &str) -> bool {
    name.starts_with("PartitionChangeRecord ")
}

fn partition_change(record: &Value) -> Option<&Map<String, Value>> {
    let (name, fields) = record.as_object()?.iter().next()?;
    fields.as_object().filter(|_| is_partition_change(name))
}

fn partition_change_mut(record: &mut Value) -> Option<&mut Map<String, Value>> {
    let (name, fields) = record.as_object_mut()?.iter_mut().next()?;
    let is_change = is_partition_change(name);
    fields.as_object_mut().filter(|_| is_change)
}

fn number(value: &Value) -> i32 {
    let number = value.as_i64().and_then(|number| i32::try_from(number).ok());
    number.unwrap_or(-1)
}

fn ids(value: &Value) -> Vec<BrokerId> {
    let ids = value.as_array().into_iter().flatten();
    ids.map(|id| BrokerId(number(id))).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::ROWS;

    #[test]
    fn the_documentation_has_the_rows() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/twins.md");
        let text = std::fs::read_to_string(path).expect("docs/twins.md");
        let table = text.lines().skip_while(|line| *line != "| --- | --- |");
        let rows = table.skip(1).take_while(|line| line.starts_with('|'));
        let rows: Vec<&str> = rows.filter_map(|line| line.split(" | ").next()).collect();
        let listed: Vec<String> = ROWS.iter().map(|row| format!("| {row}")).collect();
        assert_eq!(rows, listed);
    }
}
