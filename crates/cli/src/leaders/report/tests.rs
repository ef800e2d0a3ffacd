use expect_test::{Expect, expect};

use super::*;
use crate::cluster::Cluster;
use crate::cluster::testing::cluster;
use crate::leaders::args::Filter;

/// Broker 3 is down; broker 1 has a rack in some tests.
fn example() -> Cluster {
    let mut cluster = cluster(
        &[1, 2],
        &[
            ("orders.eu", 0, 1, &[1, 2, 3], &[1, 2]),
            ("orders.eu", 1, 1, &[2, 3, 1], &[1, 2]),
            ("orders.eu", 2, 1, &[3, 1, 2], &[1, 2]),
            ("orders.us", 0, -1, &[3], &[]),
            ("payments", 0, 2, &[2, 1], &[2, 1]),
        ],
    );
    for partition in cluster.partitions.values_mut() {
        partition.elr = Some(Vec::new());
        if partition.isr.is_empty() {
            partition.elr = Some(vec![BrokerId(3)]);
        }
    }
    cluster
}

#[track_caller]
fn check(filter: &Filter, partitions: bool, format: Format, look: Look, expected: &Expect) {
    let text = render(&Snapshot::new(example(), filter), partitions, format, look);
    expected.assert_eq(&text.replace('\x1b', "^"));
}

#[test]
fn brokers() {
    let all = Filter::default();
    check(
        &all,
        false,
        Format::Table,
        Look::default(),
        &expect![[r#"
            BROKER  ADDRESS               LEADS  PREFERRED  DIFFERENCE  OUT OF SYNC
                 1  kafka-1.example:9092      3          1          +2            0
                 2  kafka-2.example:9092      1          2          -1            0
                 3  down                      0          2          -2            4

            5 partitions of 3 topics: 3 off their preferred leader, 1 leaderless, 4 under-replicated
        "#]],
    );
    check(
        &all,
        false,
        Format::Plain,
        Look::default(),
        &expect![[r#"
            broker=1 state=up address=kafka-1.example:9092 rack=- leads=3 preferred=1 difference=2 out_of_sync=0
            broker=2 state=up address=kafka-2.example:9092 rack=- leads=1 preferred=2 difference=-1 out_of_sync=0
            broker=3 state=down address=- rack=- leads=0 preferred=2 difference=-2 out_of_sync=4
        "#]],
    );
    check(
        &all,
        false,
        Format::Json,
        Look::default(),
        &expect![[r#"
            {"counts":{"topics":3,"partitions":5,"not_preferred":3,"leaderless":1,"under_replicated":4},"brokers":[{"broker":1,"address":"kafka-1.example:9092","rack":null,"up":true,"leads":3,"preferred":1,"difference":2,"out_of_sync":0},{"broker":2,"address":"kafka-2.example:9092","rack":null,"up":true,"leads":1,"preferred":2,"difference":-1,"out_of_sync":0},{"broker":3,"address":null,"rack":null,"up":false,"leads":0,"preferred":2,"difference":-2,"out_of_sync":4}]}
        "#]],
    );
}

#[test]
fn racks_are_shown_where_there_are_any() {
    let mut cluster = example();
    if let Some(broker) = cluster.brokers.get_mut(&BrokerId(1)) {
        broker.rack = Some("zone-a".to_owned());
    }
    let snapshot = Snapshot::new(cluster, &Filter::default());
    let text = render(&snapshot, false, Format::Table, Look::default());
    expect![[r#"
        BROKER  ADDRESS               RACK    LEADS  PREFERRED  DIFFERENCE  OUT OF SYNC
             1  kafka-1.example:9092  zone-a      3          1          +2            0
             2  kafka-2.example:9092              1          2          -1            0
             3  down                              0          2          -2            4

        5 partitions of 3 topics: 3 off their preferred leader, 1 leaderless, 4 under-replicated
    "#]]
    .assert_eq(&text);
}

#[test]
fn blanks_in_a_rack_do_not_end_its_field() {
    let mut cluster = example();
    if let Some(broker) = cluster.brokers.get_mut(&BrokerId(1)) {
        broker.rack = Some("row 1\u{a0}a\tb".to_owned());
    }
    let filter = Filter {
        brokers: vec![BrokerId(1)],
        ..Filter::default()
    };
    let snapshot = Snapshot::new(cluster, &filter);
    let text = render(&snapshot, false, Format::Plain, Look::default());
    assert!(
        text.contains(r" rack=row\u{20}1\u{a0}a\tb leads="),
        "{text}"
    );
}

#[test]
fn partitions() {
    let all = Filter::default();
    check(
        &all,
        true,
        Format::Table,
        Look::default(),
        &expect![[r#"
            PARTITION    LEADER  PREFERRED  REPLICAS  ISR   ELR
            orders.eu-0       1          1  1,2,3     1,2   none
            orders.eu-1       1          2  2,3,1     1,2   none
            orders.eu-2       1          3  3,1,2     1,2   none
            orders.us-0    none          3  3         none  3
            payments-0        2          2  2,1       2,1   none

            5 partitions of 3 topics: 3 off their preferred leader, 1 leaderless, 4 under-replicated
        "#]],
    );
    check(
        &all,
        true,
        Format::Plain,
        Look::default(),
        &expect![[r#"
            topic=orders.eu partition=0 leader=1 preferred=1 replicas=1,2,3 isr=1,2 elr=none
            topic=orders.eu partition=1 leader=1 preferred=2 replicas=2,3,1 isr=1,2 elr=none
            topic=orders.eu partition=2 leader=1 preferred=3 replicas=3,1,2 isr=1,2 elr=none
            topic=orders.us partition=0 leader=none preferred=3 replicas=3 isr=none elr=3
            topic=payments partition=0 leader=2 preferred=2 replicas=2,1 isr=2,1 elr=none
        "#]],
    );
    check(
        &all,
        true,
        Format::Json,
        Look::default(),
        &expect![[r#"
        {"counts":{"topics":3,"partitions":5,"not_preferred":3,"leaderless":1,"under_replicated":4},"brokers":[{"broker":1,"address":"kafka-1.example:9092","rack":null,"up":true,"leads":3,"preferred":1,"difference":2,"out_of_sync":0},{"broker":2,"address":"kafka-2.example:9092","rack":null,"up":true,"leads":1,"preferred":2,"difference":-1,"out_of_sync":0},{"broker":3,"address":null,"rack":null,"up":false,"leads":0,"preferred":2,"difference":-2,"out_of_sync":4}],"partitions":[{"topic":"orders.eu","partition":0,"leader":1,"preferred":1,"replicas":[1,2,3],"isr":[1,2],"elr":[]},{"topic":"orders.eu","partition":1,"leader":1,"preferred":2,"replicas":[2,3,1],"isr":[1,2],"elr":[]},{"topic":"orders.eu","partition":2,"leader":1,"preferred":3,"replicas":[3,1,2],"isr":[1,2],"elr":[]},{"topic":"orders.us","partition":0,"leader":-1,"preferred":3,"replicas":[3],"isr":[],"elr":[3]},{"topic":"payments","partition":0,"leader":2,"preferred":2,"replicas":[2,1],"isr":[2,1],"elr":[]}]}
    "#]],
    );
}

#[test]
fn colours() {
    let look = Look {
        colour: true,
        width: None,
    };
    check(
        &Filter::default(),
        false,
        Format::Table,
        look,
        &expect![[r#"
            ^[1mBROKER^[0m  ^[1mADDRESS^[0m               ^[1mLEADS^[0m  ^[1mPREFERRED^[0m  ^[1mDIFFERENCE^[0m  ^[1mOUT OF SYNC^[0m
                 1  kafka-1.example:9092      3          1          ^[33m+2^[0m            ^[2m0^[0m
                 2  kafka-2.example:9092      1          2          ^[33m-1^[0m            ^[2m0^[0m
                 3  ^[31mdown^[0m                      0          2          ^[33m-2^[0m            ^[31m4^[0m

            ^[1m5 partitions of 3 topics: 3 off their preferred leader, 1 leaderless, 4 under-replicated^[0m
        "#]],
    );
    check(
        &Filter::default(),
        true,
        Format::Table,
        look,
        &expect![[r#"
            ^[1mPARTITION^[0m    ^[1mLEADER^[0m  ^[1mPREFERRED^[0m  ^[1mREPLICAS^[0m  ^[1mISR^[0m   ^[1mELR^[0m
            orders.eu-0       1          1  1,2,3     ^[31m1,2^[0m   none
            orders.eu-1       ^[33m1^[0m          2  2,3,1     ^[31m1,2^[0m   none
            orders.eu-2       ^[33m1^[0m          3  3,1,2     ^[31m1,2^[0m   none
            orders.us-0    ^[31mnone^[0m          3  3         ^[31mnone^[0m  3
            payments-0        2          2  2,1       2,1   none

            ^[1m5 partitions of 3 topics: 3 off their preferred leader, 1 leaderless, 4 under-replicated^[0m
        "#]],
    );
}

#[test]
fn the_elr_is_a_dash_where_nobody_tells() {
    let mut cluster = example();
    cluster.partitions.retain(|tp, _| &*tp.topic == "payments");
    for partition in cluster.partitions.values_mut() {
        partition.elr = None;
    }
    let snapshot = Snapshot::new(cluster, &Filter::default());
    let text = render(&snapshot, true, Format::Plain, Look::default());
    expect![[r#"
        topic=payments partition=0 leader=2 preferred=2 replicas=2,1 isr=2,1 elr=-
    "#]]
    .assert_eq(&text);
}

#[test]
fn filters() {
    let names = |filter: Filter| {
        let snapshot = Snapshot::new(example(), &filter);
        let brokers: Vec<_> = snapshot
            .brokers
            .iter()
            .map(|row| row.broker.to_string())
            .collect();
        let partitions: Vec<_> = snapshot
            .partitions
            .iter()
            .map(|(tp, _)| tp.to_string())
            .collect();
        format!("{} | {}", brokers.join(" "), partitions.join(" "))
    };
    let all = Filter::default;
    assert_eq!(
        names(Filter {
            topics: vec!["orders.*".parse().expect("a pattern")],
            ..all()
        }),
        "1 2 3 | orders.eu-0 orders.eu-1 orders.eu-2 orders.us-0"
    );
    assert_eq!(
        names(Filter {
            brokers: vec![BrokerId(3)],
            ..all()
        }),
        "3 | orders.eu-0 orders.eu-1 orders.eu-2 orders.us-0"
    );
    assert_eq!(
        names(Filter {
            not_preferred: true,
            ..all()
        }),
        "1 2 3 | orders.eu-1 orders.eu-2 orders.us-0"
    );
    assert_eq!(
        names(Filter {
            leaderless: true,
            ..all()
        }),
        "1 2 3 | orders.us-0"
    );
    assert_eq!(
        names(Filter {
            under_replicated: true,
            brokers: vec![BrokerId(2)],
            ..all()
        }),
        "2 | orders.eu-0 orders.eu-1 orders.eu-2"
    );
}
