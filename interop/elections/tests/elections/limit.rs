//! The most that Apache Kafka elects in one request. With brokers that are registrations
//! only, 20,400 replicas cost no files.

use expect_test::expect;
use klamm_java_peer::{Value, json};
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::elect_leaders::ElectLeadersResponse;

use crate::Context;
use crate::klamm::klamm;
use crate::phantoms::Phantoms;
use crate::wire::{PREFERRED, elect, same, show};

const TOPICS: [&str; 3] = ["many-a", "many-b", "many-c"];
/// Three topics: more than one request may change, though each alone is less.
const PARTITIONS: i32 = 3_400;

pub(crate) fn ten_thousand(context: &mut Context) {
    let mut phantoms = Phantoms::start(&context.program, 2);
    for topic in TOPICS {
        phantoms.create(topic, PARTITIONS, &[1, 2]);
        phantoms.reassign(topic, PARTITIONS, &[2, 1]);
    }
    let all: Vec<i32> = (0..PARTITIONS).collect();
    let lists: Vec<(&str, &[i32])> = TOPICS.map(|topic| (topic, &all[..])).to_vec();
    for topics in [Some(&lists[..]), None] {
        let mut refused = |version| {
            summary(
                version,
                &phantoms.wire.call(version, &elect(PREFERRED, topics)),
            )
        };
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
    let failed = phantoms.wire.call(2, &elect(PREFERRED, Some(&lists)));
    expect![[r#"
        UNKNOWN_SERVER_ERROR (-1)
        10000 x UNKNOWN_SERVER_ERROR (-1)
    "#]]
    .assert_eq(&summary(2, &failed));
    let mut rest = String::new();
    phantoms.cluster.wait("the controller to be back", || {
        let answer = phantoms.wire.call(2, &elect(PREFERRED, None));
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
        phantoms.reassign(topic, PARTITIONS, &[1, 2]);
    }
    lists[2].1 = &all[..3_199];
    let most = phantoms.wire.call(2, &elect(PREFERRED, Some(&lists)));
    expect![[r#"
        NONE (0)
        9999 x NONE (0)
    "#]]
    .assert_eq(&summary(2, &most));
    let rest = phantoms.wire.call(2, &elect(PREFERRED, None));
    assert!(summary(2, &rest).contains("201 x NONE (0)"));

    for topic in TOPICS {
        phantoms.reassign(topic, PARTITIONS, &[2, 1]);
    }
    let elect = "elect --election-type preferred --bootstrap-controller";
    let controller = phantoms.cluster.controller(101);
    let null_list = klamm(&format!("{elect} {controller} --all-topic-partitions"));
    expect![[r#"
        --- errors
        error: no leader was elected
          cause: 127.0.0.1:PORT: the controller refuses to elect all partitions of a cluster this large at once; connect to brokers, which know the partitions, or name them
        --- exit status 1
    "#]].assert_eq(&null_list.shown());
    // An explicit list goes in requests that are small enough.
    let file = phantoms.cluster.dir().join("partitions.json");
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

/// klamm's controller elects whatever is asked for, by a list as by none.
pub(crate) fn none(context: &mut Context) {
    let mut phantoms = Phantoms::start(&context.program, 2);
    for topic in TOPICS {
        phantoms.create(topic, PARTITIONS, &[1, 2]);
        phantoms.reassign(topic, PARTITIONS, &[2, 1]);
    }
    let all: Vec<i32> = (0..PARTITIONS).collect();
    let lists: Vec<(&str, &[i32])> = TOPICS.map(|topic| (topic, &all[..])).to_vec();
    let listed = phantoms.wire.call(2, &elect(PREFERRED, Some(&lists)));
    expect![[r#"
        NONE (0)
        10200 x NONE (0)
    "#]]
    .assert_eq(&summary(2, &listed));
    for topic in TOPICS {
        phantoms.reassign(topic, PARTITIONS, &[1, 2]);
    }
    let every = phantoms.wire.call(2, &elect(PREFERRED, None));
    assert_eq!(summary(2, &every), summary(2, &listed));
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
