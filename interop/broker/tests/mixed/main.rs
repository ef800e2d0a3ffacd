//! Clusters of two Apache Kafka brokers and one of klamm's, with Apache Kafka's controller and with
//! klamm's.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod answers;
mod drill;
mod logs;

use std::process::ExitCode;

use klamm_cluster::{Cluster, KLAMM_LEVELS, Nodes, Program, Spec};
use klamm_java_peer::json;
use klamm_suite::{Test, is_full};

/// Brokers 1 and 2 are Apache Kafka's.
const KLAMM: i32 = 3;
const BROKERS: [i32; 3] = [1, 2, KLAMM];
const TOPIC: &str = "mixed";
/// As many lead as there are brokers, and one more of klamm's.
const REPLICAS: [&[i32]; 4] = [&[1, 2, 3], &[2, 3, 1], &[3, 1, 2], &[3, 2, 1]];

fn start(controllers: Program) -> Cluster {
    let klamm = Program::Klamm(klamm_suite::binary().to_owned());
    let cluster = Spec::separate(1, 3)
        .dynamic_quorum()
        .controllers(controllers)
        .broker(KLAMM.unsigned_abs(), klamm)
        .format_args(KLAMM_LEVELS)
        // A JVM may take its time until it leads.
        .property("initial.broker.registration.timeout.ms", "300000")
        .property("min.insync.replicas", "2")
        .property("log.segment.bytes", "1048576")
        .start();
    cluster.create_topic(TOPIC, &REPLICAS, &[]);
    let load = json!({ "topic": TOPIC, "bytes": 200 });
    cluster.admin("produce_start", load);
    cluster
}

/// Waits until records were acknowledged that were sent after this began.
fn produce_more(cluster: &Cluster) {
    let count = || {
        let count = cluster.admin("produce_count", json!({ "topic": TOPIC }));
        count.as_u64().unwrap()
    };
    let before = count();
    cluster.wait("more records", || count() > before + 200);
}

fn in_sync(cluster: &Cluster) {
    cluster.wait_for_topic(TOPIC, "full ISRs", |partitions| {
        partitions.iter().all(|p| p.isr.len() == BROKERS.len())
    });
}

/// Has one broker lead a partition: it becomes the preferred leader, and is elected.
fn lead(cluster: &Cluster, partition: usize, leader: i32) {
    let others = REPLICAS[partition].iter().filter(|id| **id != leader);
    let replicas: Vec<i32> = [leader].iter().chain(others).copied().collect();
    let moved = json!({ "topic": TOPIC, "partition": partition, "replicas": replicas });
    cluster.admin("reassign", moved);
    cluster.wait(
        &format!("{TOPIC}-{partition} to be led by {leader}"),
        || {
            elect(cluster, partition);
            cluster
                .partitions(TOPIC)
                .get(partition)
                .is_some_and(|p| p.leader == leader)
        },
    );
}

/// By Apache Kafka's tool, which fails while the preferred leader cannot lead.
fn elect(cluster: &Cluster, partition: usize) {
    let partition = partition.to_string();
    let what = ["--election-type", "preferred", "--topic", TOPIC];
    let args = [&what[..], &["--partition", &partition]].concat();
    cluster.tool("LeaderElectionCommand", &args);
}

/// Waits until every partition has the leader that it began with.
fn lead_as_before(cluster: &Cluster) {
    in_sync(cluster);
    for (partition, replicas) in REPLICAS.iter().enumerate() {
        lead(cluster, partition, replicas[0]);
    }
}

/// Leaders go round all brokers while a client produces.
fn elections(cluster: &Cluster) {
    let rounds = if is_full() { 10 } else { 2 };
    for round in 0..rounds {
        for partition in 0..REPLICAS.len() {
            lead(
                cluster,
                partition,
                BROKERS[(partition + round) % BROKERS.len()],
            );
        }
        produce_more(cluster);
    }
    lead_as_before(cluster);
}

/// A broker goes, others lead, and it comes back: in good order and by a crash.
fn leaves_and_returns(cluster: &Cluster, broker: i32) {
    let id = broker.unsigned_abs();
    for go in [Nodes::stop, Nodes::kill] {
        go(cluster, id);
        cluster.wait_for_topic(TOPIC, "other leaders", |partitions| {
            let led = |leader| leader >= 0 && leader != broker;
            partitions
                .iter()
                .all(|p| led(p.leader) && !p.isr.contains(&broker))
        });
        produce_more(cluster);
        cluster.restart(id);
        cluster.wait_for_brokers(&[1, 2, 3]);
        lead_as_before(cluster);
        produce_more(cluster);
    }
}

/// Without broker 2, whose partitions others lead, and but for one that it has alone.
fn with_one_dead(cluster: &Cluster) {
    cluster.create_topic("alone", &[&[2]], &[("min.insync.replicas", "1")]);
    cluster.kill(2);
    cluster.wait_for_brokers(&[1, 3]);
    answers::assert_equal(cluster);
    cluster.restart(2);
    cluster.wait_for_brokers(&[1, 2, 3]);
    in_sync(cluster);
}

fn mixed(controllers: Program) {
    let cluster = start(controllers);
    produce_more(&cluster);
    elections(&cluster);
    leaves_and_returns(&cluster, KLAMM);
    leaves_and_returns(&cluster, 1);
    with_one_dead(&cluster);
    for broker in [KLAMM, 1] {
        drill::sees_a_failover(&cluster, broker);
        lead_as_before(&cluster);
    }
    let outcome = cluster.admin("produce_stop", json!({ "topic": TOPIC }));
    for what in ["missing", "twice", "out_of_order"] {
        assert_eq!(outcome[what], 0, "{outcome}");
    }
    assert!(outcome["acknowledged"].as_u64() > Some(1_000), "{outcome}");
    assert_eq!(outcome["read"], outcome["acknowledged"], "{outcome}");
    logs::assert_equal(&cluster);
}

fn main() -> ExitCode {
    let tests = [
        Test(
            "with_apaches_controller",
            (|()| mixed(Program::Apache)) as fn(&mut ()),
        ),
        Test("with_klamms_controller", |()| {
            mixed(Program::Klamm(klamm_suite::binary().to_owned()));
        }),
    ];
    klamm_suite::run("mixed", &tests, || ())
}
