use std::time::Duration;

use klamm_protocol::Uuid;
use klamm_protocol::messages::broker_registration::{Feature, Listener};

use super::*;
use crate::testing::Fixture;

const CLUSTER: &str = "cluster";

fn request(broker_id: i32, run: u8) -> BrokerRegistrationRequest {
    let feature = |name: &str, max: i16| Feature {
        name: name.into(),
        min_supported_version: if name == "metadata.version" { 7 } else { 0 },
        max_supported_version: max,
        ..Default::default()
    };
    BrokerRegistrationRequest {
        broker_id,
        cluster_id: CLUSTER.into(),
        incarnation_id: Uuid::from_bytes([run; 16]),
        listeners: vec![Listener {
            name: "PLAINTEXT".into(),
            host: "localhost".into(),
            port: 9092,
            ..Default::default()
        }],
        features: vec![
            feature("metadata.version", 33),
            feature("eligible.leader.replicas.version", 1),
        ],
        log_dirs: vec![Uuid::from_bytes([0x70 + broker_id as u8; 16])],
        ..Default::default()
    }
}

fn sessions(fixture: &Fixture) -> Sessions {
    Sessions::new(
        Duration::from_secs(9),
        fixture.image.cluster(),
        Now::default(),
    )
}

fn ask(request: &BrokerRegistrationRequest) -> Registration<'_> {
    Registration {
        request,
        version: 4,
        cluster_id: CLUSTER,
        next_offset: Offset(500),
        earlier: EarlierRun::Connected,
    }
}

fn decide(
    fixture: &Fixture,
    request: &BrokerRegistrationRequest,
) -> Result<Decision<Registered>, RegistrationError> {
    let late = Now(Duration::from_secs(60));
    ask(request).decide(&fixture.view(), &sessions(fixture), late)
}

#[test]
fn a_new_broker_is_registered_and_fenced() {
    let mut fixture = Fixture::new(0);
    let decision = decide(&fixture, &request(1, 9)).unwrap();
    assert_eq!(decision.response.response.broker_epoch, 500);
    fixture.carry_out(&decision);
    let broker = fixture.image.cluster().broker(BrokerId(1)).unwrap();
    assert!(broker.fenced);
    assert_eq!(broker.epoch, BrokerEpoch(500));
    assert_eq!(broker.listeners["PLAINTEXT"].port, 9092);
    assert_eq!(broker.features["metadata.version"].max, 33);
}

#[test]
fn the_same_run_keeps_its_epoch_and_state() {
    let mut fixture = Fixture::new(1);
    fixture.topic("t", &[&[1]]);
    let again = request(1, 1);
    let early = ask(&again)
        .decide(&fixture.view(), &sessions(&fixture), Now::default())
        .unwrap();
    assert_eq!(early.response.response.broker_epoch, 1);
    fixture.carry_out(&early);
    assert!(!fixture.image.cluster().broker(BrokerId(1)).unwrap().fenced);
    assert_eq!(fixture.partition("t", 0).leader(), BrokerId(1));
}

#[test]
fn another_run_waits_until_the_first_is_gone() {
    let fixture = Fixture::new(1);
    let other = request(1, 9);
    let sessions = sessions(&fixture);
    let decide = |asked: Registration<'_>, seconds| {
        asked.decide(
            &fixture.view(),
            &sessions,
            Now(Duration::from_secs(seconds)),
        )
    };
    let duplicate = Err(RegistrationError::Duplicate(BrokerId(1)));
    assert_eq!(decide(ask(&other), 9), duplicate);
    assert!(decide(ask(&other), 10).is_ok());
    // Without a connection of the first, there is nothing to wait for.
    let unconnected = Registration {
        earlier: EarlierRun::Gone,
        ..ask(&other)
    };
    assert!(decide(unconnected, 9).is_ok());
}

#[test]
fn another_run_waits_for_a_fenced_one_too() {
    let mut fixture = Fixture::new(0);
    fixture.register(1, 1, true);
    let other = request(1, 9);
    let mut sessions = sessions(&fixture);
    let decide = |sessions: &Sessions, seconds| {
        let now = Now(Duration::from_secs(seconds));
        ask(&other).decide(&fixture.view(), sessions, now)
    };
    assert!(decide(&sessions, 1).is_ok(), "nobody has heard of it");
    let broker = fixture.image.cluster().broker(BrokerId(1)).unwrap();
    sessions.heard(broker, Offset(1), Now(Duration::from_secs(2)));
    let duplicate = Err(RegistrationError::Duplicate(BrokerId(1)));
    assert_eq!(decide(&sessions, 11), duplicate);
    assert!(decide(&sessions, 12).is_ok());
}

#[test]
fn who_has_a_log_directory_of_the_first_run_comes_after_it() {
    let fixture = Fixture::new(1);
    let known = fixture.image.cluster().broker(BrokerId(1)).unwrap();
    let (own, other) = (known.log_dirs.clone(), vec![Uuid::from_bytes([0x60; 16])]);
    assert_eq!(own.len(), 1);
    let decide = |earlier, log_dirs: &[Uuid]| {
        let request = BrokerRegistrationRequest {
            log_dirs: log_dirs.to_vec(),
            ..request(1, 9)
        };
        let asked = Registration {
            earlier,
            ..ask(&request)
        };
        let decided = asked.decide(&fixture.view(), &sessions(&fixture), Now::default());
        decided.map(|decision| decision.response.awaited_until)
    };
    let duplicate = Err(RegistrationError::Duplicate(BrokerId(1)));
    let session_end = Now(Duration::from_secs(9));
    let (unknown, connected) = (EarlierRun::Unknown, EarlierRun::Connected);
    assert_eq!(decide(unknown, &own), Ok(Some(session_end)));
    let both = [&other[..], &own].concat();
    assert_eq!(decide(unknown, &both), Ok(Some(session_end)));
    assert_eq!(decide(unknown, &other), duplicate);
    assert_eq!(decide(connected, &own), duplicate, "it is seen alive");
}

/// Broker 1 leads alone; broker 2, which is out of sync, would be elected uncleanly.
#[test]
fn a_run_that_comes_before_the_session_ends_costs_no_records() {
    for elr in [0, 1] {
        for previous_broker_epoch in [-1, 1] {
            let mut fixture = Fixture::new(2);
            fixture.feature("eligible.leader.replicas.version", elr);
            fixture.topic("t", &[&[1, 2]]);
            fixture.config(2, "t", "unclean.leader.election.enable", "true");
            let alone = klamm_protocol::data::metadata::PartitionChangeRecord {
                isr: Some([1][..].into()),
                ..Default::default()
            };
            fixture.change("t", 0, alone);
            let next = BrokerRegistrationRequest {
                previous_broker_epoch,
                ..request(1, 9)
            };
            let asked = Registration {
                earlier: EarlierRun::Gone,
                ..ask(&next)
            };
            let sessions = sessions(&fixture);
            let (early, late) = (Now::default(), Now(Duration::from_secs(60)));
            let decided = asked.decide(&fixture.view(), &sessions, late).unwrap();
            assert_eq!(decided.response.awaited_until, None);
            assert_eq!(decided.leader_changes[0].to, BrokerId(2), "Kafka's rule");

            let decided = asked.decide(&fixture.view(), &sessions, early).unwrap();
            fixture.carry_out(&decided);
            assert_eq!(fixture.partition("t", 0).leader(), BrokerId::NONE);
            let mut lost = crate::Lost::default();
            let session_end = decided.response.awaited_until.unwrap();
            lost.add(BrokerId(1), session_end);
            let view = fixture.view().awaiting(&lost);
            assert_eq!(crate::elect_uncleanly(&view, 10).records, []);
            // It gets back what it led, whole.
            let mut comes = Decision::answer(());
            let broker = fixture.image.cluster().broker(BrokerId(1)).unwrap();
            crate::failover::unfence(&view, broker, &mut comes);
            fixture.carry_out(&comes);
            assert_eq!(fixture.partition("t", 0).leader(), BrokerId(1));
        }
    }
}

/// Partition 0 has the broker in its ISR, partition 1 in its ELR.
fn with_replicas() -> Fixture {
    let mut fixture = Fixture::new(2);
    fixture.config(4, "", "min.insync.replicas", "2");
    fixture.topic("t", &[&[1, 2], &[1, 2]]);
    let change = klamm_protocol::data::metadata::PartitionChangeRecord {
        isr: Some([2][..].into()),
        eligible_leader_replicas: Some([1][..].into()),
        leader: 2,
        ..Default::default()
    };
    fixture.change("t", 1, change);
    fixture
}

/// Registers the next run of broker 1, whose last one had epoch 1.
fn come_back(fixture: &mut Fixture, previous_broker_epoch: i64, version: i16) -> Why {
    let next = BrokerRegistrationRequest {
        previous_broker_epoch,
        ..request(1, 9)
    };
    let asked = Registration {
        version,
        ..ask(&next)
    };
    let late = Now(Duration::from_secs(60));
    let decision = asked
        .decide(&fixture.view(), &sessions(fixture), late)
        .unwrap();
    fixture.carry_out(&decision);
    decision.leader_changes[0].why
}

#[test]
fn a_run_after_an_unclean_stop_is_eligible_nowhere() {
    // In version 2 a broker does not say how it stopped.
    for (previous_broker_epoch, version) in [(-1, 4), (7, 4), (-1, 3), (-1, 2), (1, 2)] {
        let mut fixture = with_replicas();
        let why = come_back(&mut fixture, previous_broker_epoch, version);
        for index in [0, 1] {
            let partition = fixture.partition("t", index);
            assert_eq!(partition.isr()[..], [BrokerId(2)]);
            assert!(partition.elr().is_empty());
        }
        assert_eq!(why, Why::UncleanShutdown);
    }
}

#[test]
fn a_run_after_a_clean_stop_stays_eligible() {
    for version in [3, 4] {
        let mut fixture = with_replicas();
        let why = come_back(&mut fixture, 1, version);
        for index in [0, 1] {
            let partition = fixture.partition("t", index);
            assert_eq!(partition.isr()[..], [BrokerId(2)]);
            assert_eq!(partition.elr()[..], [BrokerId(1)]);
        }
        assert_eq!(why, Why::NewIncarnation);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let fixture = Fixture::new(1);
    let code = |change: &dyn Fn(&mut BrokerRegistrationRequest)| {
        let mut request = request(2, 9);
        change(&mut request);
        decide(&fixture, &request)
            .map_err(|error| ErrorCode::from(&error))
            .map(|_| ())
    };
    assert_eq!(code(&|_| ()), Ok(()));
    let invalid = Err(ErrorCode::INVALID_REGISTRATION);
    let unsupported = Err(ErrorCode::UNSUPPORTED_VERSION);
    assert_eq!(
        code(&|r| r.cluster_id = "other".into()),
        Err(ErrorCode::INCONSISTENT_CLUSTER_ID)
    );
    let zk = Err(ErrorCode::BROKER_ID_NOT_REGISTERED);
    assert_eq!(code(&|r| r.is_migrating_zk_broker = true), zk);
    assert_eq!(code(&|r| r.log_dirs.clear()), invalid);
    assert_eq!(code(&|r| r.log_dirs[0] = directory::LOST), invalid);
    assert_eq!(code(&|r| r.log_dirs.push(r.log_dirs[0])), invalid);
    assert_eq!(
        code(&|r| r.log_dirs[0] = Uuid::from_bytes([0x71; 16])),
        invalid
    );
    assert_eq!(code(&|r| _ = r.features.remove(0)), invalid);
    assert_eq!(
        code(&|r| r.features[0].max_supported_version = 32),
        unsupported
    );
    assert_eq!(
        code(&|r| r.features[0].min_supported_version = 34),
        unsupported
    );
    // Without a range, a broker supports level 0; and what is not finalized is at level 0.
    assert_eq!(code(&|r| _ = r.features.remove(1)), unsupported);
    let from_one = |r: &mut BrokerRegistrationRequest| {
        r.features.push(Feature {
            name: "share.version".into(),
            min_supported_version: 1,
            max_supported_version: 1,
            ..Default::default()
        });
    };
    assert_eq!(code(&from_one), unsupported);
}
