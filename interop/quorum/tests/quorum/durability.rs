//! The controller is killed while topics are made.

use klamm_java_peer::json;

use crate::{CONTROLLER, Context};

/// Every topic whose creation was acknowledged is there after `kill -9` and a restart, and brokers
/// and clients go on.
pub(crate) fn killed(context: &mut Context) {
    let rounds = if klamm_suite::is_full() { 20 } else { 3 };
    let mut made = Vec::new();
    for _ in 0..rounds {
        for _ in 0..5 {
            let name = context.topic("durability");
            let topic = json!({ "topic": name, "partitions": 3, "replication": 3 });
            context.whole().admin("create_topic", topic);
            made.push(name);
        }
        let cluster = &context.cluster;
        cluster.kill(CONTROLLER);
        context.restart_controller();
        assert_eq!(cluster.active_controller(), CONTROLLER);
        for name in &made {
            cluster.wait_for_topic(name, "leaders and full ISRs", |partitions| {
                partitions.len() == 3
                    && partitions.iter().all(|p| p.leader >= 0 && p.isr.len() == 3)
            });
        }
        let all = context.whole().admin("topics", json!({ "topics": made }));
        assert_eq!(all.as_array().unwrap().len(), 3 * made.len());
    }
    context
        .cluster
        .admin("delete_topics", json!({ "topics": made }));
}
