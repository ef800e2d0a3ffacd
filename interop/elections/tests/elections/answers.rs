//! Every answer of ElectLeaders, in every version, from Apache Kafka itself.

use expect_test::{Expect, expect};
use klamm_protocol::messages::elect_leaders::ElectLeadersRequest;

use crate::Context;
use crate::seen::{self, unbalance};
use crate::wire::{PREFERRED, UNCLEAN, Wire, elect, same, show, show_sorted};

/// Compares what broker 1 and the controller answer with version 0's answer and with the one that
/// versions 1 and 2 share. `prepare` runs before each.
fn check(
    context: &Context,
    request: &ElectLeadersRequest,
    version_0: Option<Expect>,
    later: Expect,
    prepare: impl Fn(),
) {
    if let Some(expected) = version_0 {
        context.agree(&expected, &answer(context, 0, request, &prepare));
    }
    let answers = [1, 2].map(|version| answer(context, version, request, &prepare));
    context.agree(&later, &same(answers));
}

/// What a broker and the controller both answer, each after `prepare`.
fn answer(
    context: &Context,
    version: i16,
    request: &ElectLeadersRequest,
    prepare: impl Fn(),
) -> String {
    same(context.nodes().map(|address| {
        prepare();
        let answer = Wire::connect(&address).call(version, request);
        match request.topic_partitions {
            Some(_) => show(version, &answer),
            None => show_sorted(version, &answer),
        }
    }))
}

/// All brokers up, and two topics: `settled`, which no test changes, and `moved`.
fn with_topics(context: &Context) {
    let cluster = context.with_down(&[]);
    context.topic("settled", &[&[1, 2], &[2, 3]]);
    context.topic("moved", &[&[1, 2]]);
    for topic in ["settled", "moved"] {
        seen::leaders(cluster, &[1, 2, 3], topic, "led", |partitions| {
            partitions.iter().all(|p| p.leader > 0)
        });
    }
}

pub(crate) fn already_preferred(context: &mut Context) {
    with_topics(context);
    check(
        context,
        &elect(PREFERRED, Some(&[("settled", &[0, 1])])),
        Some(expect![[r#"
            no top-level error
            settled-0: ELECTION_NOT_NEEDED (84) "Leader election not needed for topic partition."
            settled-1: ELECTION_NOT_NEEDED (84) "Leader election not needed for topic partition."
        "#]]),
        expect![[r#"
            NONE (0)
            settled-0: ELECTION_NOT_NEEDED (84) "Leader election not needed for topic partition."
            settled-1: ELECTION_NOT_NEEDED (84) "Leader election not needed for topic partition."
        "#]],
        || {},
    );
}

pub(crate) fn off_the_preferred_leader(context: &mut Context) {
    with_topics(context);
    check(
        context,
        &elect(PREFERRED, Some(&[("moved", &[0])])),
        Some(expect![[r#"
            no top-level error
            moved-0: NONE (0)
        "#]]),
        expect![[r#"
            NONE (0)
            moved-0: NONE (0)
        "#]],
        || unbalance(context.cluster(), "moved"),
    );
    context
        .cluster()
        .wait_for_topic("moved", "led by its preferred leader", |partitions| {
            partitions[0].is_preferred()
        });
}

pub(crate) fn null_list(context: &mut Context) {
    with_topics(context);
    check(
        context,
        &elect(PREFERRED, None),
        Some(expect![[r#"
            no top-level error
            moved-0: NONE (0)
            settled: no partitions
        "#]]),
        expect![[r#"
            NONE (0)
            moved-0: NONE (0)
            settled: no partitions
        "#]],
        || unbalance(context.cluster(), "moved"),
    );
    // Version 0 has no election type, so only the others can ask for this.
    check(
        context,
        &elect(UNCLEAN, None),
        None,
        expect![[r#"
        NONE (0)
        moved: no partitions
        settled: no partitions
    "#]],
        || {},
    );
}

pub(crate) fn empty_list(context: &mut Context) {
    with_topics(context);
    let request = elect(PREFERRED, Some(&[]));
    check(
        context,
        &request,
        Some(expect![[r#"
        no top-level error
    "#]]),
        expect![[r#"
        NONE (0)
    "#]],
        || {},
    );
}

pub(crate) fn no_partitions(context: &mut Context) {
    with_topics(context);
    let request = elect(
        PREFERRED,
        Some(&[("settled", &[]), ("nowhere", &[]), ("moved", &[0])]),
    );
    check(
        context,
        &request,
        Some(expect![[r#"
            no top-level error
            settled: no partitions
            nowhere: no partitions
            moved-0: NONE (0)
        "#]]),
        expect![[r#"
            NONE (0)
            settled: no partitions
            nowhere: no partitions
            moved-0: NONE (0)
        "#]],
        || unbalance(context.cluster(), "moved"),
    );
}

pub(crate) fn unknown(context: &mut Context) {
    with_topics(context);
    let topics: &[(&str, &[i32])] = &[("nowhere", &[0, 1]), ("settled", &[7, -1]), ("moved", &[0])];
    check(
        context,
        &elect(PREFERRED, Some(topics)),
        Some(expect![[r#"
            no top-level error
            nowhere-0: UNKNOWN_TOPIC_OR_PARTITION (3) "No such topic as nowhere"
            nowhere-1: UNKNOWN_TOPIC_OR_PARTITION (3) "No such topic as nowhere"
            settled-7: UNKNOWN_TOPIC_OR_PARTITION (3) "No such partition as settled-7"
            settled--1: UNKNOWN_TOPIC_OR_PARTITION (3) "No such partition as settled--1"
            moved-0: NONE (0)
        "#]]),
        expect![[r#"
            NONE (0)
            nowhere-0: UNKNOWN_TOPIC_OR_PARTITION (3) "No such topic as nowhere"
            nowhere-1: UNKNOWN_TOPIC_OR_PARTITION (3) "No such topic as nowhere"
            settled-7: UNKNOWN_TOPIC_OR_PARTITION (3) "No such partition as settled-7"
            settled--1: UNKNOWN_TOPIC_OR_PARTITION (3) "No such partition as settled--1"
            moved-0: NONE (0)
        "#]],
        || unbalance(context.cluster(), "moved"),
    );
    check(
        context,
        &elect(UNCLEAN, Some(topics)),
        None,
        expect![[r#"
            NONE (0)
            nowhere-0: UNKNOWN_TOPIC_OR_PARTITION (3) "No such topic as nowhere"
            nowhere-1: UNKNOWN_TOPIC_OR_PARTITION (3) "No such topic as nowhere"
            settled-7: UNKNOWN_TOPIC_OR_PARTITION (3) "No such partition as settled-7"
            settled--1: UNKNOWN_TOPIC_OR_PARTITION (3) "No such partition as settled--1"
            moved-0: ELECTION_NOT_NEEDED (84) "Leader election not needed for topic partition."
        "#]],
        || {},
    );
}

pub(crate) fn duplicates(context: &mut Context) {
    with_topics(context);
    let topics: &[(&str, &[i32])] = &[("moved", &[0, 0]), ("settled", &[1]), ("moved", &[0, 9])];
    if context.is_klamms() {
        return duplicates_at_klamm(context, topics);
    }
    check(
        context,
        &elect(PREFERRED, Some(topics)),
        Some(expect![[r#"
            no top-level error
            moved-0: NONE (0)
            moved-0: NONE (0)
            settled-1: ELECTION_NOT_NEEDED (84) "Leader election not needed for topic partition."
            moved-0: NONE (0)
            moved-9: UNKNOWN_TOPIC_OR_PARTITION (3) "No such partition as moved-9"
        "#]]),
        expect![[r#"
            NONE (0)
            moved-0: NONE (0)
            moved-0: NONE (0)
            settled-1: ELECTION_NOT_NEEDED (84) "Leader election not needed for topic partition."
            moved-0: NONE (0)
            moved-9: UNKNOWN_TOPIC_OR_PARTITION (3) "No such partition as moved-9"
        "#]],
        || unbalance(context.cluster(), "moved"),
    );
}

/// klamm keeps what KIP-183 says: what is named twice is invalid. Each mention of a topic is answered,
/// a partition once in each.
fn duplicates_at_klamm(context: &Context, twice: &[(&str, &[i32])]) {
    check(
        context,
        &elect(PREFERRED, Some(twice)),
        Some(expect![[r#"
            no top-level error
            moved-0: INVALID_REQUEST (42)
            settled-1: ELECTION_NOT_NEEDED (84)
            moved-0: INVALID_REQUEST (42)
            moved-9: INVALID_REQUEST (42)
        "#]]),
        expect![[r#"
            NONE (0)
            moved-0: INVALID_REQUEST (42)
            settled-1: ELECTION_NOT_NEEDED (84)
            moved-0: INVALID_REQUEST (42)
            moved-9: INVALID_REQUEST (42)
        "#]],
        || {},
    );
    check(
        context,
        &elect(PREFERRED, Some(&[("moved", &[0, 7, 0]), ("settled", &[1])])),
        None,
        expect![[r#"
            NONE (0)
            moved-0: INVALID_REQUEST (42)
            moved-7: UNKNOWN_TOPIC_OR_PARTITION (3)
            settled-1: ELECTION_NOT_NEEDED (84)
        "#]],
        || {},
    );
}

pub(crate) fn unknown_type(context: &mut Context) {
    with_topics(context);
    let all = |topics| {
        same([2, -1, 127].into_iter().flat_map(|election_type| {
            let request = elect(election_type, topics);
            let number = format!("type {election_type}\"");
            [1, 2].map(|version| {
                answer(context, version, &request, || {}).replace(&number, "type N\"")
            })
        }))
    };
    let expected = expect![[r#"
        INVALID_REQUEST (42)
        settled-0: INVALID_REQUEST (42) "Unknown election type N"
        settled-7: INVALID_REQUEST (42) "Unknown election type N"
        nowhere-0: INVALID_REQUEST (42) "Unknown election type N"
    "#]];
    context.agree(
        &expected,
        &all(Some(&[("settled", &[0, 7]), ("nowhere", &[0])])),
    );
    let expected = expect![[r#"
        INVALID_REQUEST (42)
    "#]];
    context.agree(&expected, &all(None));
}

pub(crate) fn no_time(context: &mut Context) {
    with_topics(context);
    let all = |versions: &[i16], topics| {
        same([0, -1, i32::MIN].into_iter().flat_map(|timeout_ms| {
            let request = ElectLeadersRequest {
                timeout_ms,
                ..elect(PREFERRED, topics)
            };
            let answers = versions
                .iter()
                .map(|&version| answer(context, version, &request, || {}));
            answers.collect::<Vec<_>>()
        }))
    };
    let topics: Option<&[(&str, &[i32])]> = Some(&[("settled", &[0]), ("nowhere", &[0])]);
    let expected = expect![[r#"
        no top-level error
        settled-0: REQUEST_TIMED_OUT (7)
        nowhere-0: REQUEST_TIMED_OUT (7)
    "#]];
    context.agree(&expected, &all(&[0], topics));
    let expected = expect![[r#"
        REQUEST_TIMED_OUT (7)
        settled-0: REQUEST_TIMED_OUT (7)
        nowhere-0: REQUEST_TIMED_OUT (7)
    "#]];
    context.agree(&expected, &all(&[1, 2], topics));
    let expected = expect![[r#"
        no top-level error
    "#]];
    context.agree(&expected, &all(&[0], None));
    let expected = expect![[r#"
        REQUEST_TIMED_OUT (7)
    "#]];
    context.agree(&expected, &all(&[1, 2], None));
}

pub(crate) fn unclean_with_leader(context: &mut Context) {
    with_topics(context);
    let request = elect(UNCLEAN, Some(&[("settled", &[0, 1])]));
    check(
        context,
        &request,
        None,
        expect![[r#"
            NONE (0)
            settled-0: ELECTION_NOT_NEEDED (84) "Leader election not needed for topic partition."
            settled-1: ELECTION_NOT_NEEDED (84) "Leader election not needed for topic partition."
        "#]],
        || {},
    );
}

/// Brokers pass the request on to the controller, which answers the same.
pub(crate) fn every_node(context: &mut Context) {
    with_topics(context);
    let cluster = context.cluster();
    let nodes = [
        cluster.broker(1),
        cluster.broker(2),
        cluster.broker(3),
        cluster.controller(101),
    ];
    let answers = nodes.map(|address| {
        unbalance(context.cluster(), "moved");
        let mut wire = Wire::connect(&address);
        show(
            2,
            &wire.call(2, &elect(PREFERRED, Some(&[("moved", &[0])]))),
        )
    });
    let expected = expect![[r#"
        NONE (0)
        moved-0: NONE (0)
    "#]];
    context.agree(&expected, &same(answers));
}
