use std::time::Duration;

use klamm_protocol::BrokerId;

use super::*;
use crate::testing::Fixture;
use crate::{ElectionKind, Why, elect_leaderless, elect_uncleanly, fence, heartbeat};
use crate::{Sessions, rebalance};
use klamm_protocol::messages::broker_heartbeat::BrokerHeartbeatRequest;

fn at(seconds: u64) -> Now {
    Now(Duration::from_secs(seconds))
}

/// Broker 1 leads alone, broker 2 is out of sync and might be elected uncleanly; broker 1 is lost.
fn lost(elr: i16) -> (Fixture, Lost) {
    let mut fixture = Fixture::new(3);
    fixture.feature("eligible.leader.replicas.version", elr);
    fixture.topic("orders", &[&[1, 2]]);
    fixture.config(2, "orders", "unclean.leader.election.enable", "true");
    fixture.change(
        "orders",
        0,
        klamm_protocol::data::metadata::PartitionChangeRecord {
            isr: Some((&[1][..]).into()),
            ..Default::default()
        },
    );
    let mut lost = Lost::default();
    let broker = fixture.image.cluster().broker(BrokerId(1)).unwrap().clone();
    let decision = fence(&fixture.view(), &broker, Why::ConnectionLost);
    fixture.carry_out(&decision);
    lost.add(broker.id, at(9));
    assert_eq!(fixture.partition("orders", 0).leader(), BrokerId::NONE);
    (fixture, lost)
}

#[test]
fn nothing_that_happens_elects_uncleanly_while_a_broker_is_awaited() {
    for elr in [0, 1] {
        let (mut fixture, lost) = lost(elr);
        let leader = |fixture: &Fixture| fixture.partition("orders", 0).leader();
        let view = fixture.view().awaiting(&lost);
        assert_eq!(elect_uncleanly(&view, 10).records, []);
        assert_eq!(rebalance(&view, 10).records, []);
        assert_eq!(elect_leaderless(&view, Why::SessionTimedOut).records, []);
        // Another broker comes: that makes leaders wherever it can.
        fixture.fence(2, true);
        let view = fixture.view().awaiting(&lost);
        let request = BrokerHeartbeatRequest {
            broker_id: 2,
            broker_epoch: 2,
            current_metadata_offset: 5,
            ..Default::default()
        };
        let sessions = Sessions::new(Duration::from_secs(9), fixture.image.cluster(), at(0));
        let decision = heartbeat(&view, &sessions, &request);
        assert!(!decision.response.response.is_fenced);
        fixture.carry_out(&decision);
        assert_eq!(leader(&fixture), BrokerId::NONE);
        // Without that care it is elected.
        let decision = elect_leaderless(&fixture.view(), Why::SessionTimedOut);
        fixture.carry_out(&decision);
        assert_eq!(leader(&fixture), BrokerId(2));
    }
}

#[test]
fn a_new_controller_does_not_know_for_how_long_brokers_were_gone() {
    let (fixture, _) = lost(1);
    let mut lost = Lost::new(fixture.image.cluster(), at(20));
    let view = fixture.view().awaiting(&lost);
    assert_eq!(elect_uncleanly(&view, 10).records, []);
    assert!(lost.end_sessions(fixture.image.cluster(), at(20)));
    let view = fixture.view().awaiting(&lost);
    assert_eq!(elect_uncleanly(&view, 10).records.len(), 1);
}

#[test]
fn partitions_of_others_are_elected_as_ever() {
    let (mut fixture, lost) = lost(1);
    fixture.topic("bills", &[&[3, 2]]);
    let topic = fixture.image.topics().by_name("bills").unwrap();
    let partition = fixture.partition("bills", 0);
    let kind = fixture.view().awaiting(&lost).automatic(topic, partition);
    assert_eq!(kind, ElectionKind::Online);
}

#[test]
fn it_ends_with_the_session_or_with_the_brokers_return() {
    let (mut fixture, mut awaited) = lost(1);
    assert_eq!(awaited.next_deadline(), Some(at(9)));
    assert!(!awaited.end_sessions(fixture.image.cluster(), at(8)));
    assert!(awaited.end_sessions(fixture.image.cluster(), at(9)));
    assert_eq!(awaited.next_deadline(), None);
    assert!(!awaited.end_sessions(fixture.image.cluster(), at(10)));

    let broker = fixture.image.cluster().broker(BrokerId(1)).unwrap().clone();
    awaited.add(broker.id, at(9));
    fixture.fence(1, false);
    assert!(
        awaited.end_sessions(fixture.image.cluster(), at(1)),
        "what waited for it may be elected"
    );
    assert_eq!(awaited.next_deadline(), None);

    // Another run that does not get ready is awaited for no longer than the one before it.
    awaited.add(broker.id, at(9));
    fixture.register(1, 77, true);
    assert!(!awaited.end_sessions(fixture.image.cluster(), at(8)));
    assert!(awaited.end_sessions(fixture.image.cluster(), at(9)));
}

/// Broker 1 was the last known leader; a run of it that may have lost data comes into service.
#[test]
fn who_is_awaited_leads_when_it_comes() {
    let mut fixture = Fixture::new(3);
    fixture.feature("eligible.leader.replicas.version", 1);
    fixture.topic("orders", &[&[1]]);
    let mut awaited = Lost::default();
    let broker = fixture.image.cluster().broker(BrokerId(1)).unwrap().clone();
    let decision = fence(&fixture.view(), &broker, Why::ConnectionLost);
    fixture.carry_out(&decision);
    awaited.add(broker.id, at(9));
    fixture.change(
        "orders",
        0,
        klamm_protocol::data::metadata::PartitionChangeRecord {
            eligible_leader_replicas: Some((&[][..]).into()),
            ..Default::default()
        },
    );
    assert_eq!(
        fixture.partition("orders", 0).last_known_elr(),
        &klamm_metadata::Replicas::from([1])
    );

    let request = BrokerHeartbeatRequest {
        broker_id: 1,
        broker_epoch: 1,
        current_metadata_offset: 5,
        ..Default::default()
    };
    let view = fixture.view().awaiting(&awaited);
    let sessions = Sessions::new(Duration::from_secs(9), fixture.image.cluster(), at(0));
    let decision = heartbeat(&view, &sessions, &request);
    fixture.carry_out(&decision);
    assert_eq!(fixture.partition("orders", 0).leader(), BrokerId(1));
}
