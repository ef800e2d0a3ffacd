use klamm_metadata::Replicas;
use klamm_protocol::data::metadata::PartitionChangeRecord;

use super::*;
use crate::How;
use crate::testing::Fixture;

fn broker(fixture: &Fixture, id: i32) -> Broker {
    fixture
        .image
        .cluster()
        .broker(BrokerId(id))
        .unwrap()
        .clone()
}

fn fenced(fixture: &mut Fixture, id: i32, why: Why) -> Decision<()> {
    let decision = fence(&fixture.view(), &broker(fixture, id), why);
    fixture.carry_out(&decision);
    assert!(broker(fixture, id).fenced);
    decision
}

fn unfenced(fixture: &mut Fixture, id: i32) -> Decision<()> {
    let mut decision = Decision::answer(());
    unfence(&fixture.view(), &broker(fixture, id), &mut decision);
    fixture.carry_out(&decision);
    decision
}

/// Leader, ISR, ELR, last known ELR.
fn state(fixture: &Fixture, index: i32) -> (i32, Vec<i32>, Vec<i32>, Vec<i32>) {
    let ids = |replicas: &Replicas| replicas.to_wire().to_vec();
    let p = fixture.partition("t", index);
    (
        p.leader().0,
        ids(p.isr()),
        ids(p.elr()),
        ids(p.last_known_elr()),
    )
}

fn isr(isr: &[i32]) -> PartitionChangeRecord {
    PartitionChangeRecord {
        isr: Some(isr.into()),
        leader: isr[0],
        ..Default::default()
    }
}

#[test]
fn others_lead_what_a_fenced_broker_led() {
    let mut fixture = Fixture::new(3);
    fixture.topic("t", &[&[1, 2, 3], &[2, 1, 3], &[2, 3]]);
    let decision = fenced(&mut fixture, 1, Why::SessionTimedOut);
    assert_eq!(state(&fixture, 0), (2, vec![2, 3], vec![], vec![]));
    assert_eq!(state(&fixture, 1), (2, vec![2, 3], vec![], vec![]));
    assert_eq!(state(&fixture, 2), (2, vec![2, 3], vec![], vec![]));
    // Two partitions and the registration; the leader epoch rises only where the leader changes.
    assert_eq!(decision.records.len(), 3);
    assert_eq!(decision.leader_changes.len(), 1);
    assert_eq!(decision.leader_changes[0].why, Why::SessionTimedOut);
    let again = fence(&fixture.view(), &broker(&fixture, 1), Why::SessionTimedOut);
    assert_eq!(again, Decision::answer(()));
}

#[test]
fn the_last_in_sync_replica_comes_back_as_the_leader() {
    for (elr, left) in [
        (1, (-1, vec![], vec![1], vec![1])),
        (0, (-1, vec![1], vec![], vec![])),
    ] {
        let mut fixture = Fixture::new(2);
        fixture.feature("eligible.leader.replicas.version", elr);
        fixture.topic("t", &[&[1, 2]]);
        fixture.change("t", 0, isr(&[1]));
        fenced(&mut fixture, 1, Why::SessionTimedOut);
        assert_eq!(state(&fixture, 0), left);
        let decision = unfenced(&mut fixture, 1);
        assert_eq!(state(&fixture, 0), (1, vec![1], vec![], vec![]));
        assert_eq!(decision.leader_changes[0].why, Why::Unfenced);
        assert!(!decision.leader_changes[0].how.is_unclean());
    }
}

#[test]
fn an_unfenced_broker_leads_nothing_that_it_may_lack_records_of() {
    let mut fixture = Fixture::new(2);
    fixture.topic("t", &[&[1, 2]]);
    fixture.change("t", 0, isr(&[1]));
    fixture.fence(2, true);
    fenced(&mut fixture, 1, Why::SessionTimedOut);
    let decision = unfenced(&mut fixture, 2);
    assert_eq!(decision.leader_changes, []);
    assert_eq!(state(&fixture, 0).0, -1);
}

#[test]
fn with_unclean_elections_a_live_replica_leads_at_once() {
    let mut fixture = Fixture::new(2);
    fixture.topic("t", &[&[1, 2]]);
    fixture.config(2, "t", "unclean.leader.election.enable", "true");
    // Without ELR, there is nobody but the last in-sync replica who has everything.
    fixture.change("t", 0, isr(&[1]));
    let decision = fenced(&mut fixture, 1, Why::SessionTimedOut);
    assert_eq!(decision.leader_changes[0].how, How::Unclean);
    assert_eq!(state(&fixture, 0), (2, vec![2], vec![], vec![]));
}

#[test]
fn a_lost_connection_never_costs_records() {
    let mut fixture = Fixture::new(3);
    fixture.topic("t", &[&[1, 2], &[1, 3]]);
    fixture.config(2, "t", "unclean.leader.election.enable", "true");
    fixture.change("t", 0, isr(&[1]));
    // What has another replica in sync is led by it at once; what has none waits.
    let decision = fenced(&mut fixture, 1, Why::ConnectionLost);
    assert_eq!(state(&fixture, 0), (-1, vec![], vec![1], vec![1]));
    assert_eq!(state(&fixture, 1), (3, vec![3], vec![], vec![]));
    assert!(
        decision
            .leader_changes
            .iter()
            .all(|change| !change.how.is_unclean())
    );
    let mut back = fixture.clone();
    unfenced(&mut back, 1);
    assert_eq!(state(&back, 0), (1, vec![1], vec![], vec![]));
    // After the session is over, the topic's own rule holds.
    let decision = elect_leaderless(&fixture.view(), Why::SessionTimedOut);
    assert_eq!(decision.leader_changes[0].how, How::Unclean);
    fixture.carry_out(&decision);
    assert_eq!(state(&fixture, 0).0, 2);
}

#[test]
fn an_unregistered_broker_is_in_sync_nowhere() {
    let mut fixture = Fixture::new(2);
    fixture.topic("t", &[&[1, 2], &[2, 1]]);
    let decision = unregister(&fixture.view(), BrokerId(1)).unwrap();
    fixture.carry_out(&decision);
    assert_eq!(state(&fixture, 0), (2, vec![2], vec![], vec![]));
    assert_eq!(state(&fixture, 1), (2, vec![2], vec![], vec![]));
    assert!(fixture.image.cluster().broker(BrokerId(1)).is_none());
    let again = unregister(&fixture.view(), BrokerId(1));
    assert_eq!(again, Err(ErrorCode::BROKER_ID_NOT_REGISTERED));
}

/// Brokers fail, return and stop in any order: whoever leads is in sync, and no partition is led by
/// a replica that may lack committed records, since no topic allows it.
#[test]
fn no_history_of_failures_elects_outside_the_rules() {
    for seed in 0..200u64 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut fixture = Fixture::new(4);
        fixture.topic("t", &[&[1, 2, 3], &[2, 3, 4], &[4, 1], &[3]]);
        fixture.config(4, "", "min.insync.replicas", "2");
        for _ in 0..60 {
            let id = rng.i32(1..5);
            let fenced = broker(&fixture, id).fenced;
            let decision = match (fenced, rng.u8(..3)) {
                (true, 0) => elect_leaderless(&fixture.view(), Why::Unfenced),
                (true, _) => {
                    let mut decision = Decision::answer(());
                    unfence(&fixture.view(), &broker(&fixture, id), &mut decision);
                    decision
                }
                (false, 0) => rejoin(&mut fixture, id),
                (false, _) => fence(&fixture.view(), &broker(&fixture, id), Why::ConnectionLost),
            };
            fixture.carry_out(&decision);
            for change in &decision.leader_changes {
                assert!(change.how != How::Unclean, "seed {seed}: {change:?}");
            }
            for (index, partition) in fixture.image.topics().iter().flat_map(|t| t.partitions()) {
                let leader = partition.leader();
                let context = || format!("seed {seed}, partition {index}: {partition:?}");
                assert!(
                    partition.replicas().contains_all(partition.isr()),
                    "{}",
                    context()
                );
                if leader == BrokerId::NONE {
                    continue;
                }
                assert!(partition.isr().contains(&leader), "{}", context());
                assert!(fixture.image.cluster().is_active(leader), "{}", context());
            }
        }
    }
}

/// A replica catches up and joins the ISR of every partition that another one leads.
fn rejoin(fixture: &mut Fixture, id: i32) -> Decision<()> {
    let mut decision = Decision::answer(());
    for index in 0..4 {
        let partition = fixture.partition("t", index).clone();
        let is_behind = partition.replicas().contains(&BrokerId(id))
            && !partition.isr().contains(&BrokerId(id));
        if is_behind && partition.leader() != BrokerId::NONE {
            let place = Place {
                topic: crate::testing::topic_id("t"),
                index: klamm_protocol::PartitionIndex(index),
            };
            let joined = partition
                .isr()
                .iter()
                .copied()
                .chain([BrokerId(id)])
                .collect();
            let topic = fixture.image.topics().by_name("t").unwrap();
            let view = fixture.view();
            let wanted =
                WantedChange::new(place, &partition, view.rules(topic, ElectionKind::Online));
            let change = wanted
                .isr(joined)
                .build(|b| view.is_live(&partition, b), |b| view.default_dir(b));
            decision.change(place, &partition, change.unwrap(), Why::Unfenced);
        }
    }
    decision
}
