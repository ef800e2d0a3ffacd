use super::*;
use expect_test::expect;
use klamm_metadata::{Feature, Image};
use klamm_protocol::data::metadata::FeatureLevelRecord;

const NODE: BrokerId = BrokerId(3);
const INTERVAL: Duration = Duration::from_secs(2);
const UNHURRIED: Next = Next::After(INTERVAL);
const HURRIED: Next = Next::After(SOON);

fn answer(caught_up: bool, fenced: bool, may_stop: bool) -> BrokerHeartbeatResponse {
    BrokerHeartbeatResponse {
        is_caught_up: caught_up,
        is_fenced: fenced,
        should_shut_down: may_stop,
        ..BrokerHeartbeatResponse::default()
    }
}

fn refusal(code: ErrorCode) -> BrokerHeartbeatResponse {
    BrokerHeartbeatResponse {
        error_code: code.0,
        ..BrokerHeartbeatResponse::default()
    }
}

fn registration(code: ErrorCode, epoch: i64) -> BrokerRegistrationResponse {
    BrokerRegistrationResponse {
        error_code: code.0,
        broker_epoch: epoch,
        ..BrokerRegistrationResponse::default()
    }
}

fn registered() -> Lifecycle {
    let mut life = Lifecycle::new(NODE, INTERVAL);
    assert_eq!(
        life.registered(&registration(ErrorCode::NONE, 7)),
        Next::After(Duration::ZERO)
    );
    life
}

fn running() -> Lifecycle {
    let mut life = registered();
    life.heard(&answer(true, true, false));
    life.ready();
    assert_eq!(life.heard(&answer(true, false, false)), UNHURRIED);
    assert_eq!(life.stage(), Stage::Running);
    life
}

#[test]
fn a_broker_starts_step_by_step() {
    let mut life = registered();
    let first = life.heartbeat(Offset(5), Vec::new());
    assert_eq!((first.broker_epoch, first.current_metadata_offset), (7, 4));
    assert!(first.want_fence && !first.want_shut_down);
    assert_eq!(life.heard(&answer(false, true, false)), HURRIED);
    assert_eq!(life.stage(), Stage::CatchingUp);
    // It is caught up, and has its logs to open.
    assert_eq!(life.heard(&answer(true, true, false)), UNHURRIED);
    assert_eq!(life.stage(), Stage::Starting);
    life.ready();
    assert!(!life.heartbeat(Offset(9), Vec::new()).want_fence);
    assert_eq!(life.heard(&answer(true, true, false)), HURRIED);
    assert_eq!(life.heard(&answer(true, false, false)), UNHURRIED);
    assert_eq!(life.stage(), Stage::Running);
}

#[test]
fn one_that_was_fenced_comes_back() {
    let mut life = running();
    assert_eq!(life.heard(&answer(true, true, false)), HURRIED);
    assert_eq!(life.stage(), Stage::Starting);
    life.heard(&answer(true, false, false));
    assert_eq!(life.stage(), Stage::Running);
}

#[test]
fn it_stops_when_others_lead() {
    let mut life = running();
    life.shut_down();
    assert!(life.heartbeat(Offset(9), Vec::new()).want_shut_down);
    assert_eq!(life.heard(&answer(true, false, false)), HURRIED);
    assert_eq!(life.stage(), Stage::ShuttingDown);
    life.heard(&answer(true, true, true));
    assert_eq!(life.stage(), Stage::Stopped);
}

#[test]
fn one_that_leads_nothing_stops_at_once() {
    let mut life = Lifecycle::new(NODE, INTERVAL);
    life.shut_down();
    assert_eq!(life.stage(), Stage::Stopped);
    let mut life = registered();
    life.shut_down();
    assert_eq!(life.stage(), Stage::Stopped);
}

#[test]
fn failed_directories_are_told() {
    let dir = Uuid::from_bytes([9; 16]);
    let request = running().heartbeat(Offset(9), vec![dir]);
    assert_eq!(request.offline_log_dirs, [dir]);
}

#[test]
fn some_refusals_pass_and_some_do_not() {
    let mut life = Lifecycle::new(NODE, INTERVAL);
    let code = ErrorCode::DUPLICATE_BROKER_REGISTRATION;
    assert_eq!(life.registered(&registration(code, -1)), Next::Failed(code));
    assert_eq!(life.stage(), Stage::Registering);
    for code in [
        ErrorCode::INCONSISTENT_CLUSTER_ID,
        ErrorCode::UNSUPPORTED_VERSION,
    ] {
        let next = life.registered(&registration(code, -1));
        assert_eq!(
            next,
            Next::Fatal(LifecycleError::Refused { node: NODE, code })
        );
    }
    let mut life = running();
    let code = ErrorCode::BROKER_ID_NOT_REGISTERED;
    assert_eq!(life.heard(&refusal(code)), Next::Failed(code));
    assert_eq!(life.stage(), Stage::Running);
    let next = life.heard(&refusal(ErrorCode::STALE_BROKER_EPOCH));
    assert_eq!(next, Next::Fatal(LifecycleError::Replaced(NODE)));
}

#[test]
fn what_is_not_supported_is_named() {
    let mut image = Image::new();
    for (name, level) in [
        ("metadata.version", 33),
        (Feature::GROUP_VERSION.name, 1),
        (Feature::ELIGIBLE_LEADER_REPLICAS_VERSION.name, 1),
        ("later.version", 2),
    ] {
        let record = FeatureLevelRecord {
            name: name.into(),
            feature_level: level,
            ..FeatureLevelRecord::default()
        };
        image.apply(&record.into()).expect("a level");
    }
    let supported = [("eligible.leader.replicas.version", VersionRange::new(0, 1))];
    let found = unsupported(image.features(), &supported);
    expect!["klamm's brokers do not support what this cluster has: group.version is at level 1, and at most 0 is supported, later.version is at level 2, and at most 0 is supported; lower the levels with kafka-features downgrade, or format the cluster with them (klamm format --feature group.version=0 --feature later.version=0)"].assert_eq(&LifecycleError::Features(found).to_string());
}
