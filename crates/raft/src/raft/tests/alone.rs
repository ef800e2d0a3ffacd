//! A quorum of one.

use klamm_protocol::records::{Batch, Batches};

use super::support::*;
use crate::*;
use klamm_protocol::{BrokerId, LeaderEpoch, Offset};

fn control_of(append: &Append) -> Vec<(Offset, ControlRecord)> {
    let batch = Batches::new(append.batches.clone())
        .next()
        .unwrap()
        .unwrap();
    match batch {
        Batch::V2(batch) => ControlRecord::read(&batch).unwrap(),
        Batch::Legacy(batch) => panic!("{batch:?}"),
    }
}

#[test]
fn the_only_voter_elects_itself_at_once() {
    let mut world = World::new([1]);
    let outputs = world.outputs();
    let state = |leader, voted| ElectionState {
        epoch: LeaderEpoch(1),
        leader,
        voted,
    };
    let local = ReplicaKey::new(BrokerId(1), directory(1));
    let persisted: Vec<ElectionState> = outputs
        .iter()
        .filter_map(|output| match output {
            Output::Persist(state) => Some(*state),
            _ => None,
        })
        .collect();
    assert_eq!(
        persisted[persisted.len() - 2..],
        [state(None, Some(local)), state(Some(BrokerId(1)), None)]
    );
    // The epoch begins with its leader, and the log gets what the bootstrap snapshot alone had.
    let Some(Output::Append(append)) = outputs.last() else {
        panic!("{outputs:?}");
    };
    assert_eq!((append.base, append.end), (Offset(0), Offset(3)));
    let control = control_of(append);
    assert!(matches!(&control[0].1, ControlRecord::LeaderChange(m) if m.leader_id == 1));
    assert_eq!(
        control[1].1,
        ControlRecord::KRaftVersion(KRaftVersion::DYNAMIC)
    );
    assert_eq!(
        control[2].1,
        ControlRecord::Voters([voter(1)].into_iter().collect())
    );
    assert_eq!(world.raft.high_watermark(), None);
    assert!(matches!(
        world.flush(&outputs)[..],
        [Output::HighWatermark(Offset(3))]
    ));
    assert_eq!(world.raft.deadline(), None, "nothing to wait for");
}

#[test]
fn voters_that_the_log_has_are_not_written_again() {
    let mut start = formatted([1]);
    let voters: VoterSet = [voter(1)].into_iter().collect();
    start.log.append(LeaderEpoch(1), Offset(3));
    start
        .control
        .push((Offset(2), ControlRecord::Voters(voters)));
    let mut world = World::start(settings(1), start);
    let outputs = world.outputs();
    let Some(Output::Append(append)) = outputs.last() else {
        panic!("{outputs:?}");
    };
    assert_eq!((append.base, append.end), (Offset(3), Offset(4)));
    assert_eq!(world.raft.epoch(), LeaderEpoch(2), "later than the log's");
}

#[test]
fn a_new_address_is_written() {
    let mut start = formatted([1]);
    let mut old = voter(1);
    old.endpoints = Endpoints::one(LISTENER, endpoint(9));
    start.log.append(LeaderEpoch(1), Offset(3));
    start.control.push((
        Offset(2),
        ControlRecord::Voters([old].into_iter().collect()),
    ));
    let mut world = World::start(settings(1), start);
    let outputs = world.outputs();
    let Some(Output::Append(append)) = outputs.last() else {
        panic!("{outputs:?}");
    };
    assert_eq!(append.end, Offset(6));
    assert_eq!(world.raft.voters().voter(BrokerId(1)), Some(&voter(1)));
}

#[test]
fn records_are_committed_when_they_are_durable() {
    let mut world = World::new([1]);
    world.elected();
    let end = world
        .raft
        .append(LeaderEpoch(1), batch(3, 1), world.now)
        .unwrap();
    assert_eq!(end, Offset(4));
    let outputs = world.outputs();
    assert!(matches!(outputs[..], [Output::Append(_)]), "{outputs:?}");
    assert_eq!(world.raft.high_watermark(), Some(Offset(3)));
    world.flush(&outputs);
    assert_eq!(world.raft.high_watermark(), Some(Offset(4)));
}

#[test]
fn only_the_leader_appends_and_only_what_fits() {
    let mut world = World::new([1]);
    world.elected();
    let now = world.now;
    let mut refused = |epoch, batches| {
        let end = world.raft.log().end();
        let error = world
            .raft
            .append(LeaderEpoch(epoch), batches, now)
            .unwrap_err();
        assert_eq!(world.raft.log().end(), end);
        error
    };
    assert!(matches!(refused(2, batch(3, 2)), AppendError::NotLeader(_)));
    assert!(matches!(refused(1, batch(4, 1)), AppendError::Gap { .. }));
    assert!(matches!(refused(1, batch(3, 0)), AppendError::Epoch { .. }));
    assert!(matches!(
        refused(1, batch(3, 1).slice(..40)),
        AppendError::Empty
    ));
    let mut damaged = batch(3, 1).to_vec();
    *damaged.last_mut().unwrap() ^= 1;
    assert!(matches!(
        refused(1, damaged.into()),
        AppendError::Damaged(_)
    ));
    let version = ControlRecord::KRaftVersion(KRaftVersion::STATIC);
    let control = ControlRecord::batch(&[version], Offset(3), LeaderEpoch(1), 0);
    assert!(matches!(refused(1, control), AppendError::Control));
}

#[test]
fn a_leader_that_comes_back_begins_another_epoch() {
    let mut start = formatted([1]);
    start.log.append(LeaderEpoch(5), Offset(7));
    start.election = Some(ElectionState {
        epoch: LeaderEpoch(5),
        leader: Some(BrokerId(1)),
        voted: None,
    });
    let mut world = World::start(settings(1), start);
    world.elected();
    assert_eq!(world.raft.epoch(), LeaderEpoch(6));
}

/// The first batch of a log that Apache Kafka 4.4.0 wrote: node 7, formatted with `--standalone`.
const APACHE_KAFKAS_FIRST_BATCH: &str = "\
    0000000000000000000000a200000001025e87d14d002000000002000001a229f325fa000001a229\
    f325faffffffffffffffffffffffffffff000000033a000000080000000226000000000007020000\
    00070002000000070000001e00000208000000050a000000010000820100000408000000066e0000\
    0200000007878db8d9c1144df3810ce2fd63daf03d020b434f4e54524f4c4c45520a3132372e302e\
    302e317461000000000100000000";

#[test]
fn the_first_batch_is_apache_kafkas_to_the_byte() {
    let directory = "h4242cEUTfOBDOL9Y9rwPQ".parse().unwrap();
    let endpoint = Endpoint {
        host: "127.0.0.1".into(),
        port: 29_793,
    };
    let settings = Settings::new(BrokerId(7), directory, LISTENER, endpoint.clone());
    let voter = Voter {
        key: ReplicaKey::new(BrokerId(7), directory),
        endpoints: Endpoints::one(LISTENER, endpoint),
        kraft_versions: settings.kraft_versions,
    };
    let mut start = formatted([]);
    start.control[1].1 = ControlRecord::Voters([voter].into_iter().collect());
    let now = Now {
        timestamp_ms: 0x1a2_29f3_25fa,
        ..Now::default()
    };
    let mut raft = Raft::new(settings, start, now);
    let appended = std::iter::from_fn(|| raft.poll_output()).find_map(|output| match output {
        Output::Append(append) => Some(append.batches),
        _ => None,
    });
    let hex: String = appended
        .unwrap()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(hex, APACHE_KAFKAS_FIRST_BATCH);
}
