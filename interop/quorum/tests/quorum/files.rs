//! The controller's metadata log and snapshots, read while they are written.

use klamm_java_peer::json;

use crate::Context;
use crate::klamm::klamm;
use crate::log::{dump, files};

/// The name that the snapshot of a format begins with.
const OF_FORMAT: &str = "00000000000000000000-";

/// Apache Kafka's tool and `klamm explain` read all of it, and see the topics.
pub(crate) fn read_by_tools(context: &mut Context) {
    let name = context.topic("files");
    let cluster = context.whole();
    cluster.create_topic(&name, &[&[1, 2, 3]], &[]);
    let segments = files(cluster, "log");
    let said = dump(cluster, &segments);
    for what in ["REGISTER_BROKER_RECORD", "PARTITION_RECORD", &name] {
        assert!(said.contains(what), "no {what} in the dump");
    }
    assert_sound(&said);
    let last = segments.last().unwrap().display().to_string();
    let explained = klamm(&["explain", "--file", &last]);
    assert!(explained.contains(&name), "{explained}");
}

/// So are its snapshots, which come when there is enough that is new.
pub(crate) fn snapshots(context: &mut Context) {
    let name = context.topic("files");
    let cluster = context.whole();
    cluster.create_topic(&name, &[&[1, 2, 3]], &[]);
    cluster.admin("quotas_start", json!({}));
    let mut latest = None;
    cluster.wait("a snapshot with the topic", || {
        latest = files(cluster, "checkpoint").pop();
        let Some(latest) = &latest else {
            return false;
        };
        let file = latest.file_name().unwrap().to_str().unwrap();
        !file.starts_with(OF_FORMAT) && dump(cluster, std::slice::from_ref(latest)).contains(&name)
    });
    cluster.admin("quotas_stop", json!({}));
    let latest = latest.unwrap();
    let said = dump(cluster, std::slice::from_ref(&latest));
    for what in [
        "SnapshotHeader",
        "FEATURE_LEVEL_RECORD",
        "REGISTER_BROKER_RECORD",
        "PARTITION_RECORD",
        "CLIENT_QUOTA_RECORD",
        "SnapshotFooter",
        &name,
    ] {
        assert!(said.contains(what), "no {what} in the dump");
    }
    assert_sound(&said);
    let explained = klamm(&["explain", "--file", &latest.display().to_string()]);
    assert!(explained.contains(&name), "{explained}");
}

fn assert_sound(dumped: &str) {
    for wrong in ["Found", "isvalid: false", "Failed", "Error"] {
        assert!(!dumped.contains(wrong), "{wrong} in the dump: {dumped}");
    }
}
