//! Apache Kafka's controller and klamm's take over each other's directory, under running brokers.

use klamm_cluster::{Cluster, Partition, Program};
use klamm_java_peer::json;

use crate::tools::tool;
use crate::{CONTROLLER, Context};

const MANY: i32 = 1_000;

/// With 1,000 partitions and ACLs, to the other one and back; each sees what the one before it did, and
/// changes it.
pub(crate) fn both_ways(context: &mut Context) {
    let klamm = Program::Klamm(klamm_suite::binary().to_owned());
    let other = match context.program {
        Program::Apache => klamm,
        Program::Klamm(_) => Program::Apache,
    };
    let many = context.topic("many");
    let mut gone = context.topic("takeover");
    let topic = |name: &str, partitions| json!({ "topic": name, "partitions": partitions, "replication": 3 });
    let cluster = context.whole();
    cluster.admin("create_topic", topic(&many, MANY));
    cluster.admin("create_topic", topic(&gone, 3));
    cluster.wait_for_topic(&many, "leaders and full ISRs", |partitions| {
        let whole = |p: &Partition| p.leader >= 0 && p.isr.len() == 3;
        partitions.len() == MANY as usize && partitions.iter().all(whole)
    });
    assert_spread(&cluster.partitions(&many));
    let mut kept = vec![(many, MANY as usize)];
    let mut users = vec![allow(cluster, "of-the-first")];
    for (turn, program) in [other, context.program.clone()].into_iter().enumerate() {
        let next = context.topic("takeover");
        let cluster = &context.cluster;
        cluster.stop(CONTROLLER);
        cluster.restart_as(CONTROLLER, program.clone());
        assert_eq!(cluster.active_controller(), CONTROLLER);
        cluster.wait_for_brokers(&[1, 2, 3]);
        for (name, count) in &kept {
            cluster.wait_for_topic(name, "what it was", |partitions| {
                partitions.len() == *count && partitions.iter().all(|p| p.isr.len() == 3)
            });
        }
        // A broker may have missed the last one before the controller stopped.
        cluster.wait("the ACLs of everyone before", || {
            let listed = tool(cluster, "AclCommand", &["--list"]);
            let mut known = users.iter().map(|user| format!("User:{user},"));
            known.all(|user| listed.contains(&user))
        });
        users.push(allow(cluster, &format!("of-turn-{turn}")));
        cluster.admin("delete_topics", json!({ "topics": [gone] }));
        cluster.wait("the topic to be gone", || {
            cluster.partitions_now(&gone).is_empty()
        });
        cluster.admin("create_topic", topic(&next, 3));
        gone = next.clone();
        let more = context.topic("takeover");
        context.cluster.admin("create_topic", topic(&more, 3));
        kept.push((more, 3));
        if program == Program::Apache {
            continue;
        }
        // A broker that dies now is this controller's to replace.
        let cluster = &context.cluster;
        cluster.kill(3);
        for (name, count) in &kept {
            cluster.wait_for_topic(name, "two in sync", |partitions| {
                let without = |p: &Partition| p.isr.len() == 2 && p.leader >= 0 && p.leader != 3;
                partitions.len() == *count && partitions.iter().all(without)
            });
        }
        cluster.restart(3);
        let names: Vec<&str> = kept.iter().map(|(name, _)| name.as_str()).collect();
        context.in_sync(&names);
    }
    let names: Vec<&String> = kept.iter().map(|(name, _)| name).chain([&gone]).collect();
    context
        .cluster
        .admin("delete_topics", json!({ "topics": names }));
    for user in users {
        let principal = format!("User:{user}");
        let acl = [
            "--force",
            "--allow-principal",
            &principal,
            "--operation",
            "Read",
        ];
        let of = [
            "--remove",
            "--topic",
            "takeover-",
            "--resource-pattern-type",
            "prefixed",
        ];
        tool(&context.cluster, "AclCommand", &[&of[..], &acl].concat());
    }
}

/// Adds an ACL.
fn allow(cluster: &Cluster, user: &str) -> String {
    let principal = format!("User:{user}");
    let acl = ["--allow-principal", &principal, "--operation", "Read"];
    let of = [
        "--add",
        "--topic",
        "takeover-",
        "--resource-pattern-type",
        "prefixed",
    ];
    tool(cluster, "AclCommand", &[&of[..], &acl].concat());
    user.to_owned()
}

/// Every broker leads its share, and no two replicas of a partition are on one broker.
fn assert_spread(partitions: &[Partition]) {
    for id in [1, 2, 3] {
        let led = partitions.iter().filter(|p| p.replicas[0] == id).count();
        assert!(
            (333..=334).contains(&led),
            "broker {id} is preferred for {led}"
        );
        assert!(partitions.iter().all(|p| p.replicas.contains(&id)));
    }
}
