use super::*;
use crate::testing::Fixture;

const TIMEOUT: Duration = Duration::from_secs(9);

fn at(seconds: u64) -> Now {
    Now(Duration::from_secs(seconds))
}

fn broker(fixture: &Fixture, id: i32) -> &Broker {
    fixture.image.cluster().broker(BrokerId(id)).unwrap()
}

#[test]
fn a_new_controller_gives_everybody_a_full_session() {
    let fixture = Fixture::new(3);
    let cluster = fixture.image.cluster();
    let mut sessions = Sessions::new(TIMEOUT, cluster, at(100));
    assert_eq!(sessions.stale(cluster, at(109)), None);
    sessions.heard(broker(&fixture, 2), Offset(1), at(105));
    let unheard = |id| sessions.unheard_for(broker(&fixture, id), at(107));
    assert_eq!(unheard(1), Some(Duration::from_secs(7)));
    assert_eq!(unheard(2), Some(Duration::from_secs(2)));
    // One by one, the one that was silent for longest first.
    let stale = |now| sessions.stale(cluster, now).map(|broker| broker.id.0);
    assert_eq!(stale(at(110)), Some(1));
    assert_eq!(
        sessions.next_deadline(cluster),
        Some(at(109).after(Duration::from_nanos(1)))
    );
}

#[test]
fn the_deadline_is_when_a_session_has_ended() {
    let mut fixture = Fixture::new(1);
    let sessions = Sessions::new(TIMEOUT, fixture.image.cluster(), at(0));
    let deadline = sessions.next_deadline(fixture.image.cluster()).unwrap();
    assert_eq!(sessions.stale(fixture.image.cluster(), at(9)), None);
    assert!(sessions.stale(fixture.image.cluster(), deadline).is_some());
    fixture.fence(1, true);
    assert_eq!(sessions.stale(fixture.image.cluster(), at(100)), None);
    assert_eq!(sessions.next_deadline(fixture.image.cluster()), None);
}

#[test]
fn a_session_is_of_one_registration() {
    let mut fixture = Fixture::new(1);
    let mut sessions = Sessions::new(TIMEOUT, fixture.image.cluster(), at(0));
    sessions.handed_over(BrokerId(1), Offset(5));
    fixture.register(1, 77, false);
    assert!(!sessions.is_valid(broker(&fixture, 1), at(1)));
    sessions.heard(broker(&fixture, 1), Offset(80), at(1));
    assert!(sessions.is_valid(broker(&fixture, 1), at(10)));
    assert!(!sessions.may_stop(broker(&fixture, 1), fixture.image.cluster()));
    sessions.unregistered(BrokerId(1));
    assert_eq!(sessions.unheard_for(broker(&fixture, 1), at(1)), None);
    assert!(!sessions.is_valid(broker(&fixture, 1), at(1)));
}

#[test]
fn a_broker_may_stop_when_every_active_one_knows() {
    let mut fixture = Fixture::new(3);
    let mut sessions = Sessions::new(TIMEOUT, fixture.image.cluster(), at(0));
    fixture.apply(
        klamm_protocol::data::metadata::BrokerRegistrationChangeRecord {
            broker_id: 1,
            broker_epoch: 1,
            in_controlled_shutdown: 1,
            ..Default::default()
        },
    );
    fixture.fence(3, true);
    let may_stop =
        |sessions: &Sessions| sessions.may_stop(broker(&fixture, 1), fixture.image.cluster());
    assert!(!may_stop(&sessions));
    sessions.handed_over(BrokerId(1), Offset(50));
    sessions.handed_over(BrokerId(1), Offset(90));
    assert!(!may_stop(&sessions));
    sessions.heard(broker(&fixture, 2), Offset(49), at(1));
    assert!(!may_stop(&sessions));
    sessions.heard(broker(&fixture, 2), Offset(50), at(2));
    assert!(may_stop(&sessions));
}
