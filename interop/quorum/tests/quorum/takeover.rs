//! Apache Kafka's controller and klamm's take over each other's directory, under running brokers.

use klamm_cluster::{Partition, Program, Spec};
use klamm_java_peer::json;

use crate::{CONTROLLER, Context, SESSION_MS};

/// To the other one and back; each sees what the one before it did, and changes it.
pub(crate) fn both_ways(context: &mut Context) {
    context.replace(
        Spec::separate(1, 3)
            .dynamic_quorum()
            .property("broker.session.timeout.ms", SESSION_MS)
            .property("broker.heartbeat.interval.ms", "1000")
            .property("default.replication.factor", "3")
            .property("min.insync.replicas", "2"),
    );
    let klamm = Program::Klamm(klamm_suite::binary().to_owned());
    let other = match context.program {
        Program::Apache => klamm,
        Program::Klamm(_) => Program::Apache,
    };
    let mut kept = vec![context.topic("takeover")];
    let mut gone = context.topic("takeover");
    let topic = |name: &str| json!({ "topic": name, "partitions": 3, "replication": 3 });
    for name in [&kept[0], &gone] {
        context.whole().admin("create_topic", topic(name));
    }
    for program in [other, context.program.clone()] {
        let next = context.topic("takeover");
        let cluster = &context.cluster;
        cluster.stop(CONTROLLER);
        cluster.restart_as(CONTROLLER, program.clone());
        assert_eq!(cluster.active_controller(), CONTROLLER);
        cluster.wait_for_brokers(&[1, 2, 3]);
        for name in &kept {
            cluster.wait_for_topic(name, "what it was", |partitions| {
                partitions.len() == 3 && partitions.iter().all(|p| p.isr.len() == 3)
            });
        }
        cluster.admin("delete_topics", json!({ "topics": [gone] }));
        cluster.wait("the topic to be gone", || {
            cluster.partitions(&gone).is_empty()
        });
        cluster.admin("create_topic", topic(&next));
        gone = next.clone();
        let more = context.topic("takeover");
        context.cluster.admin("create_topic", topic(&more));
        kept.push(more);
        if program == Program::Apache {
            continue;
        }
        // A broker that dies now is this controller's to replace.
        let cluster = &context.cluster;
        cluster.kill(3);
        for name in &kept {
            cluster.wait_for_topic(name, "two in sync", |partitions| {
                let without = |p: &Partition| p.isr.len() == 2 && p.leader != 3;
                partitions.len() == 3 && partitions.iter().all(without)
            });
        }
        cluster.restart(3);
        cluster.wait_for_brokers(&[1, 2, 3]);
        for name in &kept {
            cluster.wait_for_topic(name, "full ISRs", |partitions| {
                partitions.iter().all(|p| p.isr.len() == 3)
            });
        }
    }
}
