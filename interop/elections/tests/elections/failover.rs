//! Brokers that fail and come back, and what `klamm` and Apache Kafka's own tool make of it.

use expect_test::expect;
use klamm_java_peer::json;

use crate::Context;
use crate::klamm::klamm_on;
use crate::seen;
use crate::wire::{PREFERRED, Wire, elect, same, show};

pub(crate) fn preferred_after_a_restart(context: &mut Context) {
    let cluster = context.with_down(&[]);
    // The whole cluster is to be elected, so nothing else may be there.
    let all = cluster.all_partitions();
    let topics: std::collections::BTreeSet<&str> = all.iter().map(|p| p.topic.as_str()).collect();
    cluster.admin("delete_topics", json!({ "topics": topics }));
    cluster.wait("all topics to be gone", || {
        cluster.all_partitions().is_empty()
    });
    let replicas: [&[i32]; 6] = [
        &[1, 2, 3],
        &[2, 3, 1],
        &[3, 1, 2],
        &[1, 3, 2],
        &[2, 1, 3],
        &[3, 2, 1],
    ];
    cluster.create_topic("orders", &replicas, &[]);

    context.with_down(&[2]);
    seen::leaders(cluster, &[1, 3], "orders", "led by 1 and 3", |partitions| {
        partitions.iter().all(|p| [1, 3].contains(&p.leader))
    });
    let leaders = klamm_on(cluster, "leaders");
    expect![[r#"
        --- output
        BROKER  ADDRESS          LEADS  PREFERRED  DIFFERENCE  OUT OF SYNC
             1  127.0.0.1:PORT      3          2          +1            0
             2  down                 0          2          -2            6
             3  127.0.0.1:PORT      3          2          +1            0

        6 partitions of 1 topic: 2 off their preferred leader, 0 leaderless, 6 under-replicated
        --- exit status 0
    "#]]
    .assert_eq(&leaders.shown());

    context.with_down(&[]);
    seen::leaders(cluster, &[1, 2, 3], "orders", "in sync", |partitions| {
        partitions.iter().all(|p| p.isr.len() == 3)
    });
    let leaders = klamm_on(cluster, "leaders --not-preferred");
    expect![[r#"
        --- output
        PARTITION  LEADER  PREFERRED  REPLICAS  ISR    ELR
        orders-1        3          2  2,3,1     1,2,3  none
        orders-4        1          2  2,1,3     1,2,3  none

        2 partitions of 1 topic: 2 off their preferred leader, 0 leaderless, 0 under-replicated
        --- exit status 0
    "#]]
    .assert_eq(&leaders.shown());
    let all = "elect --election-type preferred --all-topic-partitions";
    let planned = klamm_on(cluster, &format!("{all} --dry-run"));
    expect![[r#"
        --- output
        PARTITION  RESULT       LEADER BEFORE  WOULD LEAD
        orders-1   would elect              3           2
        orders-4   would elect              1           2

        Partitions of all topics that each broker leads:
        BROKER  LEADS BEFORE  WOULD LEAD  CHANGE
             1             3           2      -1
             2             0           2      +2
             3             3           2      -1

        dry run of a preferred election, nothing was changed: 2 would be elected, 0 not needed, 0 would fail
        --- exit status 0
    "#]].assert_eq(&planned.shown());
    let elected = klamm_on(cluster, all);
    expect![[r#"
        --- output
        PARTITION  RESULT   LEADER BEFORE  LEADER AFTER
        orders-1   elected              3             2
        orders-4   elected              1             2

        Partitions of all topics that each broker leads:
        BROKER  LEADS BEFORE  LEADS AFTER  CHANGE
             1             3            2      -1
             2             0            2      +2
             3             3            2      -1

        preferred election: 2 elected, 0 not needed, 0 failed
        --- exit status 0
    "#]]
    .assert_eq(&elected.shown());

    seen::leaders(
        cluster,
        &[1, 2, 3],
        "orders",
        "led as preferred",
        |partitions| partitions.iter().all(|p| p.leader == p.replicas[0]),
    );
    let args = ["--election-type", "preferred", "--all-topic-partitions"];
    let (status, output) = cluster.tool("LeaderElectionCommand", &args);
    expect![[r#"
        --- exit status 0
    "#]]
    .assert_eq(&format!("{output}--- exit status {status}\n"));
    let again = klamm_on(cluster, all);
    expect![[r#"
        --- output
        Partitions of all topics that each broker leads:
        BROKER  LEADS BEFORE  LEADS AFTER  CHANGE
             1             2            2       0
             2             2            2       0
             3             2            2       0

        preferred election: no partition needs one
        --- exit status 0
    "#]]
    .assert_eq(&again.shown());
}

pub(crate) fn unknown(context: &mut Context) {
    let cluster = context.with_down(&[]);
    context.topic("known", &[&[1, 2]]);
    let elect = "elect --election-type preferred";
    let topic = klamm_on(cluster, &format!("{elect} --topic nowhere --partition 0"));
    expect![[r#"
        --- output
        PARTITION  RESULT  LEADER BEFORE  LEADER AFTER  ERROR
        nowhere-0  failed              -             -  UNKNOWN_TOPIC_OR_PARTITION (3)

        Partitions of the topics asked for that each broker leads:
        BROKER  LEADS BEFORE  LEADS AFTER  CHANGE
             1             0            0       0
             2             0            0       0
             3             0            0       0

        UNKNOWN_TOPIC_OR_PARTITION (3): 1 partition
          nowhere-0
          The cluster says: No such topic as nowhere
          What to do: The cluster has no such topic or partition, or this user may not see it. Check the
          name and the number with 'klamm leaders --partitions'; a topic deleted meanwhile can be left out.

        preferred election: 0 elected, 0 not needed, 1 failed
        --- exit status 1
    "#]].assert_eq(&topic.shown());
    let partition = klamm_on(cluster, &format!("{elect} --topic known --partition 7"));
    expect![[r#"
        --- output
        PARTITION  RESULT  LEADER BEFORE  LEADER AFTER  ERROR
        known-7    failed              -             -  UNKNOWN_TOPIC_OR_PARTITION (3)

        Partitions of the topics asked for that each broker leads:
        BROKER  LEADS BEFORE  LEADS AFTER  CHANGE
             1             1            1       0
             2             0            0       0
             3             0            0       0

        UNKNOWN_TOPIC_OR_PARTITION (3): 1 partition
          known-7
          The cluster says: No such partition as known-7
          What to do: The cluster has no such topic or partition, or this user may not see it. Check the
          name and the number with 'klamm leaders --partitions'; a topic deleted meanwhile can be left out.

        preferred election: 0 elected, 0 not needed, 1 failed
        --- exit status 1
    "#]].assert_eq(&partition.shown());
    let file = cluster.dir().join("partitions.json");
    let list = r#"{"partitions": [
        {"topic": "known", "partition": 0},
        {"topic": "known", "partition": 7},
        {"topic": "nowhere", "partition": 0}
    ]}"#;
    std::fs::write(&file, list).unwrap();
    let args = format!(
        "{elect} --output plain --path-to-json-file {}",
        file.display()
    );
    let listed = klamm_on(cluster, &args);
    expect![[r#"
        --- output
        topic=known partition=0 result=not_needed error_code=84 error_name=ELECTION_NOT_NEEDED leader_before=1 leader_after=1
        topic=known partition=7 result=failed error_code=3 error_name=UNKNOWN_TOPIC_OR_PARTITION leader_before=- leader_after=-
        topic=nowhere partition=0 result=failed error_code=3 error_name=UNKNOWN_TOPIC_OR_PARTITION leader_before=- leader_after=-
        --- errors
        UNKNOWN_TOPIC_OR_PARTITION (3): 2 partitions
          known-7: No such partition as known-7
          nowhere-0: No such topic as nowhere
          What to do: The cluster has no such topic or partition, or this user may not see it. Check the
          name and the number with 'klamm leaders --partitions'; a topic deleted meanwhile can be left out.
        preferred election: 0 elected, 1 not needed, 2 failed
        --- exit status 1
    "#]].assert_eq(&listed.shown());
}

pub(crate) fn preferred_replica_down(context: &mut Context) {
    context.with_down(&[]);
    context.topic("waiting", &[&[3, 1]]);
    let cluster = context.with_down(&[3]);
    seen::leaders(cluster, &[1, 2], "waiting", "led by 1", |partitions| {
        partitions[0].leader == 1
    });

    let request = elect(PREFERRED, Some(&[("waiting", &[0])]));
    for address in context.nodes() {
        let mut wire = Wire::connect(&address);
        let expected = expect![[r#"
            no top-level error
            waiting-0: PREFERRED_LEADER_NOT_AVAILABLE (80) "The preferred leader was not available."
        "#]];
        context.agree(&expected, &show(0, &wire.call(0, &request)));
        let later = [1, 2].map(|version| show(version, &wire.call(version, &request)));
        let expected = expect![[r#"
            NONE (0)
            waiting-0: PREFERRED_LEADER_NOT_AVAILABLE (80) "The preferred leader was not available."
        "#]];
        context.agree(&expected, &same(later));
        // A null list leaves out what needs no election, and only that.
        let all = show(2, &wire.call(2, &elect(PREFERRED, None)));
        assert!(
            all.contains("waiting-0: PREFERRED_LEADER_NOT_AVAILABLE (80)"),
            "{all}"
        );
    }
}

/// The same with the command, after that.
pub(crate) fn preferred_replica_down_said(context: &mut Context) {
    let cluster = context.with_down(&[3]);

    let ran = klamm_on(
        cluster,
        "elect --election-type preferred --topic waiting --partition 0",
    );
    expect![[r#"
        --- output
        PARTITION  RESULT  LEADER BEFORE  LEADER AFTER  ERROR
        waiting-0  failed              1             1  PREFERRED_LEADER_NOT_AVAILABLE (80)

        Partitions of the topics asked for that each broker leads:
        BROKER  LEADS BEFORE  LEADS AFTER  CHANGE
             1             1            1       0
             2             0            0       0
             3             0            0       0

        PREFERRED_LEADER_NOT_AVAILABLE (80): 1 partition
          waiting-0: preferred broker 3 is down
          The cluster says: The preferred leader was not available.
          What to do: The preferred replica cannot lead: its broker is down, or it is not in sync. Start the
          broker, wait until the replica is in the ISR ('klamm leaders --partitions --under-replicated'),
          then run the election again.

        preferred election: 0 elected, 0 not needed, 1 failed
        --- exit status 1
    "#]].assert_eq(&ran.shown());
}
