//! Nothing in the data directory is unknown.

use std::collections::BTreeSet;

use klamm_java_peer::Value;

use super::klamm::{explain, of_kind};
use crate::{Context, partitions};

/// The records of every directory, with nothing wrong about them.
pub(crate) fn records(context: &mut Context) {
    let mut count = 0;
    for directory in partitions(context.stopped.path()) {
        let lines = explain(&directory, &[]);
        let place = directory.display();
        for line in &lines {
            assert_ne!(line["kind"], "problem", "{place}: {line}");
        }
        for batch in of_kind(&lines, "batch") {
            assert_eq!(batch["problem"], Value::Null, "{place}: {batch}");
        }
        for record in of_kind(&lines, "record") {
            assert_eq!(
                record["problems"],
                Value::Array(vec![]),
                "{place}: {record}"
            );
            count += 1;
        }
        for end in of_kind(&lines, "end") {
            // An index that was open has room for more entries.
            let is_index = end["entries"].is_u64();
            let is_whole =
                end["stopped"].is_null() || is_index && end["stopped"]["what"] == "zeros";
            assert!(is_whole, "{place}: {end}");
            assert_eq!(end["shown"], end["records"], "{place}: {end}");
        }
    }
    assert!(count > 200, "{count} records");
}

/// Byte by byte.
pub(crate) fn bytes(context: &mut Context) {
    for directory in partitions(context.stopped.path()) {
        let lines = explain(&directory, &["--tree"]);
        for line in lines.iter().filter(|line| line["tree"].is_object()) {
            let place = directory.display();
            assert_eq!(line["problems"], Value::Array(vec![]), "{place}: {line}");
            assert_eq!(line["tree"]["length"], line["size"], "{place}");
            assert_read(&line["tree"], &place.to_string());
        }
    }
}

fn assert_read(node: &Value, place: &str) {
    assert_ne!(node["part"], "unread", "{place}: {node}");
    let inside = &node["inside"]["children"];
    for children in [&node["children"], inside] {
        for child in children.as_array().into_iter().flatten() {
            assert_read(child, place);
        }
    }
}

/// The traffic leaves what the other tests compare: a kind that is missing would not be compared.
pub(crate) fn kinds(context: &mut Context) {
    let mut seen = BTreeSet::new();
    for directory in partitions(context.stopped.path()) {
        for record in of_kind(&explain(&directory, &[]), "record") {
            if let Some(kind) = record["type"].as_str() {
                seen.insert(kind.to_owned());
            }
        }
    }
    for kind in [
        "LEADER_CHANGE",
        "SNAPSHOT_HEADER",
        "SNAPSHOT_FOOTER",
        "COMMIT",
        "ABORT",
        "TopicRecord",
        "PartitionRecord",
        "PartitionChangeRecord",
        "RemoveTopicRecord",
        "ConfigRecord",
        "FeatureLevelRecord",
        "AccessControlEntryRecord",
        "RemoveAccessControlEntryRecord",
        "ClientQuotaRecord",
        "ProducerIdsRecord",
        "RegisterBrokerRecord",
        "RegisterControllerRecord",
        "BrokerRegistrationChangeRecord",
        "UserScramCredentialRecord",
        "RemoveUserScramCredentialRecord",
        "NoOpRecord",
        "BeginTransactionRecord",
        "EndTransactionRecord",
        "OffsetCommit",
        "GroupMetadata",
        "ConsumerGroupMetadata",
        "ConsumerGroupMemberMetadata",
        "ConsumerGroupCurrentMemberAssignment",
        "ShareGroupMetadata",
        "ShareGroupMemberMetadata",
        "TransactionLog",
        "ShareSnapshot",
        "ShareUpdate",
    ] {
        assert!(seen.contains(kind), "no {kind} in {seen:?}");
    }
}
