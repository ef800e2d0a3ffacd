//! Elections while a partition is being reassigned, and such that the controller gets too late.

use expect_test::expect;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::elect_leaders::ElectLeadersRequest;
use klamm_protocol::messages::list_partition_reassignments::ListPartitionReassignmentsRequest;

use crate::Context;
use crate::phantoms::{Phantoms, reassignment};
use crate::wire::{PREFERRED, Wire, elect, same, show};

/// One partition for each version of the API.
const VERSIONS: [i16; 3] = [0, 1, 2];

pub(crate) fn preferred_is_the_first_of_the_target(context: &mut Context) {
    let mut phantoms = Phantoms::start(&context.program, 4);
    let id = phantoms.create("growing", 3, &[1, 2]);
    phantoms.reassign("growing", 3, &[3, 4]);
    // Broker 1 leads and was preferred; of the target none is in sync.
    let expected = expect![[r#"
        growing-N: PREFERRED_LEADER_NOT_AVAILABLE (80) "The preferred leader was not available."
    "#]];
    context.agree(&expected, &each_version(&mut phantoms.wire, "growing"));

    for partition in 0..3 {
        phantoms.set_isr(1, id, partition, &[1, 2, 3]);
    }
    let expected = expect![[r#"
        growing-N: NONE (0)
    "#]];
    context.agree(&expected, &each_version(&mut phantoms.wire, "growing"));
    let expected = expect![[r#"
        growing-N: ELECTION_NOT_NEEDED (84) "Leader election not needed for topic partition."
    "#]];
    context.agree(&expected, &each_version(&mut phantoms.wire, "growing"));
    // It was elected in the middle of it: 4 is not in sync yet.
    let expected = expect![[r#"
        growing-0: replicas [3, 4, 1, 2], adding [3, 4], removing [1, 2]
        growing-1: replicas [3, 4, 1, 2], adding [3, 4], removing [1, 2]
        growing-2: replicas [3, 4, 1, 2], adding [3, 4], removing [1, 2]
    "#]];
    context.agree(&expected, &ongoing(&mut phantoms.wire));
}

/// The answer about partition N to version N, where all say the same.
fn each_version(wire: &mut Wire, topic: &str) -> String {
    same(VERSIONS.map(|version| {
        let partition = i32::from(version);
        let request = elect(PREFERRED, Some(&[(topic, &[partition])]));
        let answer = show(version, &wire.call(version, &request));
        let (_, answer) = answer.split_once('\n').unwrap();
        answer.replace(&format!("{topic}-{partition}:"), &format!("{topic}-N:"))
    }))
}

fn ongoing(wire: &mut Wire) -> String {
    let answer = wire.call(0, &ListPartitionReassignmentsRequest::default());
    assert_eq!(ErrorCode(answer.error_code), ErrorCode::NONE);
    let mut lines: Vec<String> = Vec::new();
    for topic in answer.topics {
        lines.extend(topic.partitions.iter().map(|p| {
            format!(
                "{}-{}: replicas {:?}, adding {:?}, removing {:?}\n",
                topic.name,
                p.partition_index,
                p.replicas.to_vec(),
                p.adding_replicas.to_vec(),
                p.removing_replicas.to_vec()
            )
        }));
    }
    lines.sort();
    lines.concat()
}

/// The partitions that keep the controller busy, and those to be elected late.
const BUSY: i32 = 4_000;
const LATE: i32 = 20;

/// An election is one step of the controller: it is made in time, or not at all. A controller that is
/// busy with another request takes it up too late.
pub(crate) fn too_late(context: &mut Context) {
    let mut phantoms = Phantoms::start(&context.program, 2);
    phantoms.create("busy", BUSY, &[1, 2]);
    phantoms.create("late", LATE, &[1, 2]);
    phantoms.reassign("late", LATE, &[2, 1]);
    let all: Vec<i32> = (0..LATE).collect();
    let mut other = phantoms.connect();
    let mut in_time = 0;
    let mut orders = [[2, 1], [1, 2]].into_iter().cycle();
    let mut order = [2, 1];
    let timed_out = loop {
        let busy = reassignment("busy", BUSY, &orders.next().unwrap());
        other.send(&Wire::frame(0, &busy));
        let request = ElectLeadersRequest {
            timeout_ms: 1,
            ..elect(PREFERRED, Some(&[("late", &all)]))
        };
        let answer = show(2, &phantoms.wire.call(2, &request));
        other.read().expect("an answer");
        let (whole, partitions) = answer.split_once('\n').unwrap();
        if whole == ErrorCode::REQUEST_TIMED_OUT.to_string() {
            break partitions.to_owned();
        }
        // It was faster than the other request. The next one may not be.
        assert_eq!((whole, partitions), ("NONE (0)", &*lines(&all, "NONE (0)")));
        in_time += 1;
        assert!(in_time < 1_000, "the controller is never late");
        order.reverse();
        phantoms.reassign("late", LATE, &order);
    };
    assert_eq!(timed_out, lines(&all, "REQUEST_TIMED_OUT (7)"));
    // Nothing was elected, and nothing is later.
    let request = elect(PREFERRED, Some(&[("late", &all)]));
    let answer = show(2, &phantoms.wire.call(2, &request));
    assert_eq!(answer, format!("NONE (0)\n{}", lines(&all, "NONE (0)")));
}

fn lines(partitions: &[i32], outcome: &str) -> String {
    let line = |partition| format!("late-{partition}: {outcome}\n");
    partitions.iter().map(line).collect()
}
