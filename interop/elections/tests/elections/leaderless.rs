//! Partitions whose in-sync replicas are all down.

use expect_test::expect;

use crate::Context;
use crate::klamm::klamm_on;
use crate::seen;
use crate::wire::{PREFERRED, UNCLEAN, Wire, elect, same, show};

pub(crate) fn no_live_replica(context: &mut Context) {
    context.with_down(&[]);
    context.topic("alone", &[&[3]]);
    let cluster = context.with_down(&[3]);
    seen::leaders(cluster, &[1, 2], "alone", "leaderless", |partitions| {
        partitions[0].leader == -1
    });

    for address in context.nodes() {
        let mut wire = Wire::connect(&address);
        let request = elect(UNCLEAN, Some(&[("alone", &[0])]));
        let later = [1, 2].map(|version| show(version, &wire.call(version, &request)));
        let expected = expect![[r#"
            NONE (0)
            alone-0: ELIGIBLE_LEADERS_NOT_AVAILABLE (83) "Eligible topic partition leaders are not available."
        "#]];
        context.agree(&expected, &same(later));
        let request = elect(PREFERRED, Some(&[("alone", &[0])]));
        let expected = expect![[r#"
            NONE (0)
            alone-0: PREFERRED_LEADER_NOT_AVAILABLE (80) "The preferred leader was not available."
        "#]];
        context.agree(&expected, &show(2, &wire.call(2, &request)));
    }
}

/// The same with the command, after that.
pub(crate) fn no_live_replica_said(context: &mut Context) {
    let cluster = context.with_down(&[3]);
    let ran = klamm_on(
        cluster,
        "elect --election-type unclean --topic alone --partition 0",
    );
    expect![[r#"
        --- output
        PARTITION  RESULT  LEADER BEFORE  LEADER AFTER  ERROR
        alone-0    failed           none          none  ELIGIBLE_LEADERS_NOT_AVAILABLE (83)

        Partitions of the topics asked for that each broker leads:
        BROKER  LEADS BEFORE  LEADS AFTER  CHANGE
             1             0            0       0
             2             0            0       0
             3             0            0       0

        ELIGIBLE_LEADERS_NOT_AVAILABLE (83): 1 partition
          alone-0: not running: 3
          The cluster says: Eligible topic partition leaders are not available.
          What to do: No replica can lead: none is running. Start one of the brokers that have the
          partition, the last leader before the others: it has all records.

        unclean election: 0 elected, 0 not needed, 1 failed
        --- errors
        warning: an unclean election may lose records for good: the new leader need not have all that was acknowledged, and the other replicas cut theirs to match it. Only partitions without a leader are touched.
        --- exit status 1
    "#]].assert_eq(&ran.shown());
    let ran = klamm_on(cluster, "leaders --leaderless --topic alone");
    expect![[r#"
        --- output
        PARTITION  LEADER  PREFERRED  REPLICAS  ISR   ELR
        alone-0      none          3  3         none  3

        1 partition of 1 topic: 1 off their preferred leader, 1 leaderless, 1 under-replicated
        --- exit status 0
    "#]]
    .assert_eq(&ran.shown());
}

/// The in-sync replica dies last and stays dead; the other one comes back without its records.
pub(crate) fn unclean(context: &mut Context) {
    context.with_down(&[]);
    context.topic("daring", &[&[2, 3], &[2, 3]]);
    context.topic("risky", &[&[2, 3]]);
    let cluster = context.with_down(&[3]);
    for topic in ["daring", "risky"] {
        seen::leaders(
            cluster,
            &[1, 2],
            topic,
            "in sync on 2 alone",
            |partitions| partitions.iter().all(|p| p.isr == [2]),
        );
    }
    context.with_down(&[2, 3]);
    context.with_down(&[2]);
    for topic in ["daring", "risky"] {
        seen::leaders(cluster, &[1, 3], topic, "leaderless", |partitions| {
            partitions.iter().all(|p| p.leader == -1)
        });
    }

    // One partition is elected through a broker, the other by the controller itself.
    for (partition, address) in context.nodes().iter().enumerate() {
        let partitions = [partition as i32];
        let mut wire = Wire::connect(address);
        let mut answer = |election_type| {
            let request = elect(election_type, Some(&[("daring", &partitions)]));
            let answer = show(2, &wire.call(2, &request));
            answer.replace(&format!("daring-{partition}:"), "daring-N:")
        };
        let expected = expect![[r#"
            NONE (0)
            daring-N: PREFERRED_LEADER_NOT_AVAILABLE (80) "The preferred leader was not available."
        "#]];
        context.agree(&expected, &answer(PREFERRED));
        let expected = expect![[r#"
            NONE (0)
            daring-N: NONE (0)
        "#]];
        context.agree(&expected, &answer(UNCLEAN));
    }
    seen::leaders(cluster, &[1, 3], "daring", "led by 3", |partitions| {
        partitions.iter().all(|p| p.leader == 3 && p.isr == [3])
    });
}

/// The same with the command, after that.
pub(crate) fn unclean_by_klamm(context: &mut Context) {
    let cluster = context.with_down(&[2]);
    let ran = klamm_on(
        cluster,
        "elect --election-type unclean --topic risky --partition 0",
    );
    expect![[r#"
        --- output
        PARTITION  RESULT   LEADER BEFORE  LEADER AFTER
        risky-0    elected           none             3

        Partitions of the topics asked for that each broker leads:
        BROKER  LEADS BEFORE  LEADS AFTER  CHANGE
             1             0            0       0
             2             0            0       0
             3             0            1      +1

        unclean election: 1 elected, 0 not needed, 0 failed
        --- errors
        warning: an unclean election may lose records for good: the new leader need not have all that was acknowledged, and the other replicas cut theirs to match it. Only partitions without a leader are touched.
        --- exit status 0
    "#]].assert_eq(&ran.shown());
    seen::leaders(cluster, &[1, 3], "risky", "led by 3", |partitions| {
        partitions[0].leader == 3 && partitions[0].isr == [3]
    });
}
