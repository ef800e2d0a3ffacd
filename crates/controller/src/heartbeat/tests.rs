use std::time::Duration;

use klamm_protocol::Offset;
use klamm_protocol::data::metadata::PartitionChangeRecord;

use super::*;
use crate::testing::Fixture;
use crate::{How, Now};

/// A fixture with sessions, whose heartbeats are carried out.
struct Cluster {
    fixture: Fixture,
    sessions: Sessions,
    offset: i64,
}

impl Cluster {
    fn new(brokers: i32) -> Self {
        let fixture = Fixture::new(brokers);
        let timeout = Duration::from_secs(9);
        let sessions = Sessions::new(timeout, fixture.image.cluster(), Now::default());
        Self {
            fixture,
            sessions,
            offset: 100,
        }
    }

    fn beat(
        &mut self,
        change: impl FnOnce(&mut BrokerHeartbeatRequest),
        id: i32,
    ) -> Decision<HeartbeatReply> {
        let broker = self.fixture.image.cluster().broker(BrokerId(id)).unwrap();
        let mut request = BrokerHeartbeatRequest {
            broker_id: id,
            broker_epoch: broker.epoch.0,
            current_metadata_offset: self.offset,
            ..Default::default()
        };
        change(&mut request);
        self.sessions.heard(
            broker,
            Offset(request.current_metadata_offset),
            Now::default(),
        );
        let decision = heartbeat(&self.fixture.view(), &self.sessions, &request);
        self.fixture.carry_out(&decision);
        self.offset += decision.records.len() as i64;
        if decision.response.handing_over {
            self.sessions.handed_over(BrokerId(id), Offset(self.offset));
        }
        decision
    }

    fn broker(&self, id: i32) -> &Broker {
        self.fixture.image.cluster().broker(BrokerId(id)).unwrap()
    }
}

/// Caught up, fenced, to shut down.
fn said(decision: &Decision<HeartbeatReply>) -> (bool, bool, bool) {
    let response = &decision.response.response;
    assert_eq!(response.error_code, 0);
    (
        response.is_caught_up,
        response.is_fenced,
        response.should_shut_down,
    )
}

fn shut_down(request: &mut BrokerHeartbeatRequest) {
    request.want_shut_down = true;
}

#[test]
fn a_broker_is_unfenced_when_it_has_seen_its_registration() {
    let mut cluster = Cluster::new(0);
    cluster.fixture.register(1, 90, true);
    let early = cluster.beat(|request| request.current_metadata_offset = 89, 1);
    assert_eq!(said(&early), (false, true, false));
    let fenced_by_choice = cluster.beat(|request| request.want_fence = true, 1);
    assert_eq!(said(&fenced_by_choice), (true, true, false));
    assert!(cluster.broker(1).fenced);
    let caught_up = cluster.beat(|request| request.current_metadata_offset = 90, 1);
    assert_eq!(said(&caught_up), (true, false, false));
    assert!(!cluster.broker(1).fenced);
    assert_eq!(cluster.beat(|_| (), 1).records, []);
}

#[test]
fn a_stale_epoch_or_an_unknown_broker_is_refused() {
    let cluster = Cluster::new(1);
    for (id, epoch) in [(1, 0), (1, 2), (7, 7), (-1, -1)] {
        let request = BrokerHeartbeatRequest {
            broker_id: id,
            broker_epoch: epoch,
            ..Default::default()
        };
        let decision = heartbeat(&cluster.fixture.view(), &cluster.sessions, &request);
        assert_eq!(
            decision.response.response.error_code,
            ErrorCode::STALE_BROKER_EPOCH.0
        );
        assert_eq!(decision.records, []);
    }
}

#[test]
fn a_controlled_shutdown_hands_over_and_waits_until_everybody_knows() {
    let mut cluster = Cluster::new(3);
    cluster.fixture.topic("t", &[&[1, 2], &[2, 1], &[1]]);
    let begun = cluster.beat(shut_down, 1);
    assert_eq!(said(&begun), (true, false, false));
    assert!(begun.response.handing_over);
    assert!(
        begun
            .leader_changes
            .iter()
            .all(|change| change.why == Why::ControlledShutdown)
    );
    assert_eq!(
        cluster.fixture.image.topics().led_by(BrokerId(1)).count(),
        0
    );
    assert_eq!(
        cluster
            .fixture
            .image
            .topics()
            .with_in_isr(BrokerId(1))
            .count(),
        0
    );
    assert_eq!(cluster.fixture.partition("t", 2).elr()[..], [BrokerId(1)]);
    // The others are not there yet.
    cluster.beat(|request| request.current_metadata_offset = 100, 2);
    cluster.beat(|_| (), 3);
    assert_eq!(said(&cluster.beat(shut_down, 1)), (true, false, false));
    cluster.beat(|_| (), 2);
    let done = cluster.beat(shut_down, 1);
    assert_eq!(said(&done), (true, true, true));
    assert!(cluster.broker(1).fenced);
    // It asks once more on its way out.
    let gone = cluster.beat(shut_down, 1);
    assert_eq!(said(&gone), (true, true, true));
    assert_eq!(gone.records, []);
}

#[test]
fn a_new_controller_takes_over_a_controlled_shutdown() {
    let mut cluster = Cluster::new(2);
    cluster.fixture.topic("t", &[&[1, 2]]);
    cluster.beat(shut_down, 1);
    let timeout = Duration::from_secs(9);
    cluster.sessions = Sessions::new(timeout, cluster.fixture.image.cluster(), Now::default());
    assert!(cluster.beat(shut_down, 1).response.handing_over);
    cluster.beat(|_| (), 2);
    assert_eq!(said(&cluster.beat(shut_down, 1)), (true, true, true));
}

/// The records of a handing-over may be more than one batch, and the controller before may have got
/// no further than the first.
#[test]
fn a_new_controller_goes_on_where_the_one_before_stopped() {
    let mut cluster = Cluster::new(2);
    cluster.fixture.topic("t", &[&[1, 2], &[2, 1]]);
    let broker_epoch = cluster.broker(1).epoch.0;
    cluster.fixture.apply(BrokerRegistrationChangeRecord {
        broker_id: 1,
        broker_epoch,
        in_controlled_shutdown: 1,
        ..Default::default()
    });
    let decision = cluster.beat(shut_down, 1);
    assert_eq!(decision.records.len(), 2);
    assert_eq!(cluster.fixture.partition("t", 0).leader(), BrokerId(2));
    assert_eq!(cluster.fixture.partition("t", 1).isr()[..], [BrokerId(2)]);
}

/// Where unclean elections are allowed, a controlled shutdown makes them when it begins, as Apache
/// Kafka's controller does, and no more of them while the broker waits.
#[test]
fn one_that_waits_to_stop_is_not_replaced_uncleanly() {
    let mut cluster = Cluster::new(3);
    cluster.fixture.topic("t", &[&[1, 2]]);
    cluster
        .fixture
        .config(4, "", "unclean.leader.election.enable", "true");
    let alone = PartitionChangeRecord {
        isr: Some([1][..].into()),
        ..Default::default()
    };
    cluster.fixture.change("t", 0, alone);
    cluster.beat(|request| request.want_fence = true, 2);
    cluster.beat(shut_down, 1);
    assert_eq!(cluster.fixture.partition("t", 0).leader(), BrokerId::NONE);
    // Another is assigned that lacks records.
    let more = PartitionChangeRecord {
        replicas: Some([1, 2, 3][..].into()),
        directories: Some(vec![klamm_protocol::Uuid::ZERO; 3]),
        ..Default::default()
    };
    cluster.fixture.change("t", 0, more);
    cluster.beat(shut_down, 1);
    assert_eq!(cluster.fixture.partition("t", 0).leader(), BrokerId::NONE);
}

#[test]
fn a_broker_that_leads_nothing_stops_at_once() {
    let mut cluster = Cluster::new(2);
    cluster.fixture.topic("t", &[&[2, 1]]);
    let decision = cluster.beat(shut_down, 1);
    assert_eq!(said(&decision), (true, true, true));
    assert!(cluster.broker(1).fenced);
    assert_eq!(cluster.fixture.partition("t", 0).isr()[..], [BrokerId(2)]);
}

#[test]
fn a_broker_may_ask_to_be_fenced_and_to_stop_without_handing_over() {
    let mut cluster = Cluster::new(3);
    cluster.fixture.topic("t", &[&[1, 2], &[2, 1]]);
    let fenced = cluster.beat(|request| request.want_fence = true, 1);
    assert_eq!(said(&fenced), (true, true, false));
    assert_eq!(fenced.leader_changes[0].why, Why::FenceRequested);
    let stopped = cluster.beat(
        |request| {
            request.want_fence = true;
            request.want_shut_down = true;
        },
        2,
    );
    assert_eq!(said(&stopped), (true, true, true));
}

#[test]
fn a_failed_directory_takes_its_replicas_out_of_sync() {
    let mut cluster = Cluster::new(2);
    let (good, bad) = (Uuid::from_bytes([0x71; 16]), Uuid::from_bytes([0x99; 16]));
    cluster.fixture.apply(BrokerRegistrationChangeRecord {
        broker_id: 1,
        broker_epoch: 1,
        log_dirs: vec![good, bad],
        ..Default::default()
    });
    cluster.fixture.topic("t", &[&[1, 2], &[1, 2]]);
    let other = Uuid::from_bytes([0x72; 16]);
    for (index, id) in [(0, good), (1, bad)] {
        let change = klamm_protocol::data::metadata::PartitionChangeRecord {
            directories: Some(vec![id, other]),
            ..Default::default()
        };
        cluster.fixture.change("t", index, change);
    }
    let failed = |request: &mut BrokerHeartbeatRequest| request.offline_log_dirs = vec![bad];
    let decision = cluster.beat(failed, 1);
    assert_eq!(cluster.fixture.partition("t", 0).leader(), BrokerId(1));
    assert_eq!(cluster.fixture.partition("t", 1).leader(), BrokerId(2));
    assert_eq!(decision.leader_changes[0].why, Why::DirectoryFailed);
    assert_eq!(decision.leader_changes[0].how, How::InSync);
    assert_eq!(cluster.broker(1).log_dirs, [good]);
    assert_eq!(cluster.beat(failed, 1).records, []);
    // The last one stays in the registration: the broker stops by itself.
    let all = |request: &mut BrokerHeartbeatRequest| {
        request.offline_log_dirs = vec![good, bad];
        request.want_fence = true;
    };
    let last = cluster.beat(all, 1);
    assert_eq!(said(&last), (true, false, false));
    assert_eq!(cluster.fixture.partition("t", 0).leader(), BrokerId(2));
    assert_eq!(cluster.broker(1).log_dirs, [good]);
    // Nothing is left to leave it: the rest of what it asks for comes next.
    assert_eq!(said(&cluster.beat(all, 1)), (true, true, false));
    assert!(cluster.broker(1).fenced);
}

#[test]
fn cordoned_directories_are_written_down_when_they_change() {
    let mut cluster = Cluster::new(1);
    let dirs = |cordoned: &[u8]| {
        let ids = cordoned
            .iter()
            .map(|id| Uuid::from_bytes([*id; 16]))
            .collect();
        move |request: &mut BrokerHeartbeatRequest| request.cordoned_log_dirs = Some(ids)
    };
    assert_eq!(cluster.beat(dirs(&[1, 2]), 1).records.len(), 1);
    assert_eq!(cluster.beat(dirs(&[2, 1]), 1).records.len(), 0);
    assert_eq!(cluster.beat(|_| (), 1).records.len(), 0);
    assert_eq!(cluster.beat(dirs(&[]), 1).records.len(), 1);
    assert_eq!(cluster.broker(1).cordoned_log_dirs, Some(vec![]));
    cluster.fixture.feature("metadata.version", 29);
    assert_eq!(cluster.beat(dirs(&[1]), 1).records.len(), 0);
}
