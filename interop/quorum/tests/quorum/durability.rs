//! The controller is killed under a load of changes.

use std::time::Duration;

use klamm_cluster::Program;
use klamm_java_peer::json;

use crate::{CONTROLLER, Context};

/// Changes that a client waits for before the controller is killed.
const CHANGES: u64 = 10;

/// Every change that was acknowledged is there after `kill -9` and a restart, whichever moment of the
/// work on a change it hits, and the client that was cut off goes on.
pub(crate) fn killed(context: &mut Context) {
    // Apache Kafka's controller takes seconds to start, and is not what is tested.
    let is_long = klamm_suite::is_full() && matches!(crate::program(), Program::Klamm(_));
    let rounds = if is_long { 200 } else { 20 };
    let cluster = context.whole();
    for round in 0..rounds {
        cluster.admin("quotas_start", json!({}));
        cluster.wait("changes", || {
            cluster.admin("quotas_count", json!({})).as_u64() >= Some(CHANGES)
        });
        // A change takes a few milliseconds; each round hits another part of one.
        std::thread::sleep(Duration::from_micros(700 * round));
        context.restart_controller();
        assert_eq!(cluster.active_controller(), CONTROLLER);
        cluster.admin("quotas_stop", json!({}));
        cluster.wait("every acknowledged change", || {
            cluster.admin("quotas_missing", json!({})).as_u64() == Some(0)
        });
    }
    context.whole();
}

/// So it is with topics, which brokers have replicas of.
pub(crate) fn killed_after_topics(context: &mut Context) {
    let names: Vec<String> = (0..5).map(|_| context.topic("durability")).collect();
    let cluster = context.whole();
    for name in &names {
        let topic = json!({ "topic": name, "partitions": 3, "replication": 3 });
        cluster.admin("create_topic", topic);
    }
    context.restart_controller();
    assert_eq!(cluster.active_controller(), CONTROLLER);
    for name in &names {
        cluster.wait_for_topic(name, "leaders and full ISRs", |partitions| {
            let whole = |p: &klamm_cluster::Partition| p.leader >= 0 && p.isr.len() == 3;
            partitions.len() == 3 && partitions.iter().all(whole)
        });
    }
    cluster.admin("delete_topics", json!({ "topics": names }));
}
