//! The most that Apache Kafka elects in one request. A controller alone is enough for this: the brokers
//! are registrations without anyone behind them, so that 20,400 replicas cost no files.

use expect_test::expect;
use klamm_cluster::Spec;
use klamm_java_peer::{Value, json};
use klamm_protocol::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, ReassignablePartition, ReassignableTopic,
};
use klamm_protocol::messages::broker_heartbeat::BrokerHeartbeatRequest;
use klamm_protocol::messages::broker_registration::{BrokerRegistrationRequest, Feature, Listener};
use klamm_protocol::messages::create_topics::{
    CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest,
};
use klamm_protocol::messages::elect_leaders::ElectLeadersResponse;
use klamm_protocol::{ErrorCode, Uuid};

use crate::Context;
use crate::klamm::klamm;
use crate::wire::{PREFERRED, Wire, elect, same, show};

const TOPICS: [&str; 3] = ["many-a", "many-b", "many-c"];
/// Three topics: more than one request may change, though each alone is less.
const PARTITIONS: i32 = 3_400;
const FEATURES: [&str; 7] = [
    "eligible.leader.replicas.version",
    "group.version",
    "kraft.version",
    "metadata.version",
    "share.version",
    "streams.version",
    "transaction.version",
];

pub(crate) fn ten_thousand(_: &mut Context) {
    // Nobody sends heartbeats for the brokers after the first.
    let cluster = Spec::separate(1, 0)
        .property("broker.session.timeout.ms", "600000")
        .start();
    let mut wire = Wire::connect(&cluster.controller(101));
    for id in [1, 2] {
        register(&mut wire, cluster.id(), id);
    }
    for topic in TOPICS {
        create(&mut wire, topic);
        turn_around(&mut wire, topic, [2, 1]);
    }
    let all: Vec<i32> = (0..PARTITIONS).collect();
    let lists: Vec<(&str, &[i32])> = TOPICS.map(|topic| (topic, &all[..])).to_vec();
    for topics in [Some(&lists[..]), None] {
        let mut refused =
            |version| summary(version, &wire.call(version, &elect(PREFERRED, topics)));
        let (version_0, later) = (refused(0), same([refused(1), refused(2)]));
        match topics {
            Some(_) => expect![[r#"
                no top-level error
                10200 x POLICY_VIOLATION (44) "Unable to perform excessively large batch operation."
                POLICY_VIOLATION (44)
                10200 x POLICY_VIOLATION (44) "Unable to perform excessively large batch operation."
            "#]]
            .assert_eq(&(version_0 + &later)),
            None => expect![[r#"
                no top-level error
                POLICY_VIOLATION (44)
            "#]]
            .assert_eq(&(version_0 + &later)),
        }
    }

    // 10,000 changes are not refused, and yet too many: they are made, then the controller fails over the
    // rest, which is nothing, and steps down. klamm stays far below.
    let mut lists = lists;
    lists[2].1 = &all[..3_200];
    let failed = wire.call(2, &elect(PREFERRED, Some(&lists)));
    expect![[r#"
        UNKNOWN_SERVER_ERROR (-1)
        10000 x UNKNOWN_SERVER_ERROR (-1)
    "#]]
    .assert_eq(&summary(2, &failed));
    let mut rest = String::new();
    cluster.wait("the controller to be back", || {
        let answer = wire.call(2, &elect(PREFERRED, None));
        rest = summary(2, &answer);
        ErrorCode(answer.error_code) != ErrorCode::NOT_CONTROLLER
    });
    expect![[r#"
        NONE (0)
        200 x NONE (0)
        2 x no partitions
    "#]]
    .assert_eq(&rest);

    for topic in TOPICS {
        turn_around(&mut wire, topic, [1, 2]);
    }
    lists[2].1 = &all[..3_199];
    let most = wire.call(2, &elect(PREFERRED, Some(&lists)));
    expect![[r#"
        NONE (0)
        9999 x NONE (0)
    "#]]
    .assert_eq(&summary(2, &most));
    let rest = wire.call(2, &elect(PREFERRED, None));
    assert!(summary(2, &rest).contains("201 x NONE (0)"));

    for topic in TOPICS {
        turn_around(&mut wire, topic, [2, 1]);
    }
    let elect = "elect --election-type preferred --bootstrap-controller";
    let controller = cluster.controller(101);
    let null_list = klamm(&format!("{elect} {controller} --all-topic-partitions"));
    expect![[r#"
        --- errors
        error: no leader was elected
          cause: 127.0.0.1:PORT: the controller refuses to elect all partitions of a cluster this large at once; connect to brokers, which know the partitions, or name them
        --- exit status 1
    "#]].assert_eq(&null_list.shown());
    // An explicit list goes in requests that are small enough.
    let file = cluster.dir().join("partitions.json");
    let partitions: Vec<Value> = TOPICS
        .iter()
        .flat_map(|topic| {
            all.iter()
                .map(move |p| json!({ "topic": topic, "partition": p }))
        })
        .collect();
    std::fs::write(&file, json!({ "partitions": partitions }).to_string()).unwrap();
    let file = file.display();
    let listed = klamm(&format!(
        "{elect} {controller} --output plain --path-to-json-file {file}"
    ));
    assert_eq!(listed.status, 0, "{}", listed.stderr);
    let elected = listed
        .stdout
        .lines()
        .filter(|line| line.contains(" result=elected "))
        .count();
    assert_eq!(elected, 10_200);
}

/// How often each error occurs, and with which message.
fn summary(version: i16, response: &ElectLeadersResponse) -> String {
    let text = show(version, response);
    let mut lines = text.lines();
    let mut out = format!("{}\n", lines.next().unwrap());
    let mut outcomes = std::collections::BTreeMap::<&str, usize>::new();
    for line in lines {
        *outcomes
            .entry(line.split_once(": ").unwrap().1)
            .or_default() += 1;
    }
    for (outcome, count) in outcomes {
        out += &format!("{count} x {outcome}\n");
    }
    out
}

fn uuid(kind: u8, id: i32) -> Uuid {
    let mut bytes = [kind; 16];
    bytes[12..].copy_from_slice(&id.to_be_bytes());
    Uuid::from_bytes(bytes)
}

fn register(wire: &mut Wire, cluster_id: &str, id: i32) {
    let request = BrokerRegistrationRequest {
        broker_id: id,
        cluster_id: cluster_id.into(),
        incarnation_id: uuid(0x10, id),
        listeners: vec![Listener {
            name: "PLAINTEXT".into(),
            host: "127.0.0.1".into(),
            port: 1,
            ..Default::default()
        }],
        features: FEATURES
            .map(|name| Feature {
                name: name.into(),
                max_supported_version: 100,
                ..Default::default()
            })
            .to_vec(),
        log_dirs: vec![uuid(0x20, id)],
        ..Default::default()
    };
    let answer = wire.call(4, &request);
    assert_eq!(ErrorCode(answer.error_code), ErrorCode::NONE);
    let request = BrokerHeartbeatRequest {
        broker_id: id,
        broker_epoch: answer.broker_epoch,
        current_metadata_offset: answer.broker_epoch,
        want_fence: false,
        ..Default::default()
    };
    let answer = wire.call(1, &request);
    assert_eq!(ErrorCode(answer.error_code), ErrorCode::NONE);
    assert!(!answer.is_fenced);
}

fn create(wire: &mut Wire, topic: &str) {
    let assignments = (0..PARTITIONS).map(|partition| CreatableReplicaAssignment {
        partition_index: partition,
        broker_ids: [1, 2].into_iter().collect(),
        ..Default::default()
    });
    let request = CreateTopicsRequest {
        topics: vec![CreatableTopic {
            name: topic.into(),
            num_partitions: -1,
            replication_factor: -1,
            assignments: assignments.collect(),
            ..Default::default()
        }],
        timeout_ms: 30_000,
        ..Default::default()
    };
    let answer = wire.call(7, &request);
    assert_eq!(
        ErrorCode(answer.topics[0].error_code),
        ErrorCode::NONE,
        "{:?}",
        answer.topics
    );
}

/// Changes the preferred leader of every partition, and not the leader.
fn turn_around(wire: &mut Wire, topic: &str, replicas: [i32; 2]) {
    let partitions = (0..PARTITIONS).map(|partition| ReassignablePartition {
        partition_index: partition,
        replicas: Some(replicas.into_iter().collect()),
        ..Default::default()
    });
    let request = AlterPartitionReassignmentsRequest {
        topics: vec![ReassignableTopic {
            name: topic.into(),
            partitions: partitions.collect(),
            ..Default::default()
        }],
        timeout_ms: 30_000,
        ..Default::default()
    };
    let answer = wire.call(0, &request);
    assert_eq!(ErrorCode(answer.error_code), ErrorCode::NONE);
    let failed = answer.responses[0]
        .partitions
        .iter()
        .find(|p| p.error_code != 0);
    assert!(failed.is_none(), "{failed:?}");
}
