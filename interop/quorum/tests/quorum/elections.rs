//! Brokers fail and come back; leaders move, and are moved back.

use std::process::Command;

use klamm_cluster::Partition;
use klamm_java_peer::json;

use crate::Context;
use crate::klamm::klamm;
use crate::tools::tool;

/// A broker is killed and comes back; its partitions are given back to it by Apache Kafka's tool, by
/// librdkafka, by `klamm elect` through a broker, and by `klamm elect` through the controller.
pub(crate) fn by_every_tool(context: &mut Context) {
    const VICTIM: i32 = 2;
    let names = [0; 4].map(|_| context.topic("elections"));
    let cluster = context.whole();
    for name in &names {
        cluster.create_topic(name, &[&[VICTIM, 3, 1], &[1, VICTIM, 3]], &[]);
    }
    cluster.kill(VICTIM as u32);
    for name in &names {
        cluster.wait_for_topic(name, "other leaders", |partitions| {
            let without = |p: &Partition| p.leader >= 0 && !p.isr.contains(&VICTIM);
            partitions.len() == 2 && partitions.iter().all(without)
        });
    }
    cluster.restart(VICTIM as u32);
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    context.in_sync(&all);
    for name in &names {
        let partitions = cluster.partitions(name);
        assert!(!partitions[0].is_preferred(), "{partitions:?}");
    }
    let [by_apache, by_librdkafka, by_broker, by_controller] = &names;
    let elect = |topic| {
        [
            "--election-type",
            "preferred",
            "--topic",
            topic,
            "--partition",
            "0",
        ]
    };
    let said = tool(cluster, "LeaderElectionCommand", &elect(by_apache));
    assert!(said.contains("Successfully completed"), "{said}");
    librdkafka(&cluster.bootstrap(), by_librdkafka);
    for (topic, flag, servers) in [
        (by_broker, "--bootstrap-server", cluster.bootstrap()),
        (
            by_controller,
            "--bootstrap-controller",
            cluster.controllers(),
        ),
    ] {
        let at = ["elect", flag, &servers, "--output", "plain"];
        let said = klamm(&[&at[..], &elect(topic)].concat());
        assert!(said.contains("result=elected"), "{said}");
    }
    for name in &names {
        cluster.wait_for_topic(name, "preferred leaders", |partitions| {
            partitions.iter().all(|p| p.is_preferred())
        });
    }
}

/// A client produces while a broker is killed, comes back and leads again: what was acknowledged is
/// there, once and in order.
pub(crate) fn producing(context: &mut Context) {
    let name = context.topic("producing");
    let cluster = context.whole();
    let replicas: [&[i32]; 3] = [&[1, 2, 3], &[2, 3, 1], &[3, 1, 2]];
    cluster.create_topic(&name, &replicas, &[]);
    let topic = json!({ "topic": name });
    cluster.admin("produce_start", topic.clone());
    let count = || {
        let count = cluster.admin("produce_count", topic.clone());
        count.as_u64().unwrap()
    };
    let wait_for_more = |what: &str| {
        let before = count();
        cluster.wait(what, || count() > before + 500);
    };
    wait_for_more("records from all brokers");
    cluster.kill(3);
    cluster.wait_for_topic(&name, "other leaders", |partitions| {
        partitions.iter().all(|p| p.leader >= 0 && p.leader != 3)
    });
    wait_for_more("records while a broker is dead");
    cluster.restart(3);
    context.in_sync(&[&name]);
    let elect = ["--election-type", "preferred", "--all-topic-partitions"];
    tool(cluster, "LeaderElectionCommand", &elect);
    wait_for_more("records after the election");
    context.assert_nothing_lost(&name);
}

/// A preferred election of the first partition of a topic.
fn librdkafka(bootstrap: &str, topic: &str) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/elect.py");
    let output = Command::new(klamm_suite::python())
        .args([script, bootstrap, topic, "0"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{script}: {output:?}");
}
