use klamm_metadata::BrokerEpoch;
use klamm_protocol::data::metadata::PartitionRecord;
use klamm_protocol::records::{BatchBuilder, BatchHeader, BatchOptions, NewRecord};
use klamm_protocol::{EpochEnd, LeaderEpochs};

use super::*;
use crate::{Acks, Admission, FetchPosition, Isolation, ProduceError, Readable, Reader, Standing};

struct AllUp;

impl Brokers for AllUp {
    fn standing(&self, broker: BrokerId) -> Option<Standing> {
        Some(Standing {
            epoch: BrokerEpoch(i64::from(broker.0) + 10),
            is_shutting_down: broker == BrokerId(3),
        })
    }
}

const NOW: Duration = Duration::from_secs(100);

fn partition(leader: i32, leader_epoch: i32, partition_epoch: i32, isr: &[i32]) -> Partition {
    let record = PartitionRecord {
        replicas: [0, 1, 2, 3][..].into(),
        isr: isr.into(),
        leader,
        leader_epoch,
        partition_epoch,
        ..Default::default()
    };
    Partition::from_record(&record).unwrap()
}

fn leader(isr: &[i32]) -> Replica {
    let settings = Settings {
        min_insync_replicas: 2,
        ..Settings::default()
    };
    let producers = Producers::default();
    let mut replica = Replica::new(BrokerId(0), LogState::default(), producers, settings);
    assert!(replica.update(&partition(0, 5, 8, isr), NOW, &AllUp));
    outputs(&mut replica);
    replica
}

fn outputs(replica: &mut Replica) -> Vec<Output> {
    std::iter::from_fn(|| replica.poll_output()).collect()
}

fn header() -> BatchHeader {
    let mut builder = BatchBuilder::new(BatchOptions::default());
    builder.append(&NewRecord::default()).unwrap();
    *builder.finish().unwrap().header()
}

fn append(replica: &mut Replica) -> Offset {
    let Ok(Admission::Append(prepared)) = replica.admit(&header(), Acks::Leader) else {
        panic!("not admitted");
    };
    let end = prepared.end();
    replica.appended(prepared, NOW, &AllUp);
    end
}

fn fetch(replica: &mut Replica, id: i32, offset: i64) -> Result<(), ReplicaError> {
    fetch_as(replica, id, offset, Some(BrokerEpoch(i64::from(id) + 10)))
}

fn position(offset: i64) -> FetchPosition {
    FetchPosition {
        current_leader_epoch: Some(LeaderEpoch(5)),
        offset: Offset(offset),
        last_fetched_epoch: None,
        log_start: Offset(0),
    }
}

fn fetch_as(
    replica: &mut Replica,
    id: i32,
    offset: i64,
    epoch: Option<BrokerEpoch>,
) -> Result<(), ReplicaError> {
    let id = BrokerId(id);
    let reader = Reader::Replica { id, epoch };
    replica
        .fetch(&position(offset), reader, NOW, &AllUp)
        .map(drop)
}

fn proposed(outputs: &[Output]) -> Vec<(ProposalId, Vec<i32>)> {
    let isr = |it: &crate::ProposedIsr| it.isr.iter().map(|member| member.broker.0).collect();
    let proposals = outputs.iter().filter_map(|output| match output {
        Output::AlterPartition(proposal) => Some((proposal.id, isr(proposal))),
        _ => None,
    });
    proposals.collect()
}

#[test]
fn what_all_in_sync_have_is_committed_and_answered() {
    let mut replica = leader(&[0, 1]);
    let end = append(&mut replica);
    let waiter = replica.await_commit(end).unwrap().unwrap();
    fetch(&mut replica, 1, 0).unwrap();
    assert_eq!(outputs(&mut replica), []);
    fetch(&mut replica, 1, 1).unwrap();
    let result = Ok(());
    let acked = Output::Acked(crate::Acked { waiter, result });
    assert_eq!(outputs(&mut replica), [Output::HighWatermark(end), acked]);
    assert_eq!(replica.await_commit(end), Ok(None));
}

#[test]
fn below_min_isr_nothing_is_committed() {
    let mut replica = leader(&[0]);
    let refused = replica.admit(&header(), Acks::All);
    let error = ProduceError::NotEnoughReplicas {
        in_sync: 1,
        needed: 2,
    };
    assert_eq!(refused, Err(error));
    append(&mut replica);
    assert_eq!(outputs(&mut replica), []);
    assert_eq!(replica.log().high_watermark(), Offset(0));
}

#[test]
fn one_that_joins_counts_before_it_is_committed() {
    let mut replica = leader(&[0, 1]);
    append(&mut replica);
    fetch(&mut replica, 2, 1).unwrap();
    let asked = proposed(&outputs(&mut replica));
    assert_eq!(asked, [(ProposalId(1), vec![0, 1, 2])]);
    append(&mut replica);
    fetch(&mut replica, 1, 2).unwrap();
    assert_eq!(replica.log().high_watermark(), Offset(1));
    // A refusal that says that nothing was done takes it back; then it may be asked for anew.
    let refused = Err(ErrorCode::INELIGIBLE_REPLICA);
    replica.isr_answered(ProposalId(1), refused, NOW, &AllUp);
    outputs(&mut replica);
    fetch(&mut replica, 2, 2).unwrap();
    let asked = proposed(&outputs(&mut replica));
    assert_eq!(asked, [(ProposalId(2), vec![0, 1, 2])]);
}

#[test]
fn who_is_shutting_down_does_not_join() {
    let mut replica = leader(&[0, 1]);
    fetch(&mut replica, 3, 0).unwrap();
    assert_eq!(outputs(&mut replica), []);
}

#[test]
fn a_broker_epoch_that_has_ended_is_refused_and_none_is_let_pass() {
    let mut replica = leader(&[0, 1]);
    let stale = fetch_as(&mut replica, 2, 0, Some(BrokerEpoch(11)));
    assert_eq!(stale, Err(ReplicaError::StaleBrokerEpoch));
    fetch_as(&mut replica, 2, 0, None).unwrap();
    assert_eq!(proposed(&outputs(&mut replica)).len(), 1);
}

#[test]
fn who_lags_leaves_once_the_controller_agrees() {
    let mut replica = leader(&[0, 1, 2]);
    append(&mut replica);
    fetch(&mut replica, 1, 1).unwrap();
    let late = NOW + Duration::from_secs(31);
    replica.tick(late);
    let asked = proposed(&outputs(&mut replica));
    assert_eq!(asked, [(ProposalId(1), vec![0, 1])]);
    replica.tick(late);
    assert_eq!(outputs(&mut replica), []);
    // Lost on the way: the same again.
    let lost = Err(ErrorCode::REQUEST_TIMED_OUT);
    replica.isr_answered(ProposalId(1), lost, late, &AllUp);
    assert_eq!(proposed(&outputs(&mut replica)), asked);
    let committed = CommittedIsr {
        leader_epoch: LeaderEpoch(5),
        partition_epoch: PartitionEpoch(9),
        isr: [0, 1].into(),
        recovery: Default::default(),
    };
    replica.isr_answered(ProposalId(1), Ok(committed), late, &AllUp);
    assert_eq!(outputs(&mut replica), [Output::HighWatermark(Offset(1))]);
    assert_eq!(replica.partition_epoch(), PartitionEpoch(9));
    // What the metadata log told before the answer is passed over.
    assert!(!replica.update(&partition(0, 5, 8, &[0, 1, 2]), late, &AllUp));
}

#[test]
fn who_has_asked_again_does_not_lag_when_a_batch_comes_after_a_long_time() {
    let mut replica = leader(&[0, 1, 2]);
    append(&mut replica);
    fetch(&mut replica, 1, 1).unwrap();
    fetch(&mut replica, 2, 1).unwrap();
    outputs(&mut replica);
    let late = NOW + Duration::from_secs(60);
    replica.tick(late);
    assert_eq!(outputs(&mut replica), [], "both have everything");
    replica.asked_again(BrokerId(1), late - Duration::from_secs(1));
    // It does not follow, or asked before its last fetch: neither changes anything.
    replica.asked_again(BrokerId(7), late);
    replica.asked_again(BrokerId(2), NOW);
    append(&mut replica);
    replica.tick(late);
    let asked = proposed(&outputs(&mut replica));
    assert_eq!(asked, [(ProposalId(1), vec![0, 1])]);
}

#[test]
fn epochs_are_checked() {
    let mut replica = leader(&[0, 1]);
    let consumer = |isolation| Reader::Consumer {
        isolation,
        any_replica: false,
    };
    let reader = consumer(Isolation::ReadUncommitted);
    let asks = |replica: &Replica, epoch: i32| {
        let mut position = position(0);
        position.current_leader_epoch = Some(LeaderEpoch(epoch));
        replica
            .read(&position, reader)
            .map_err(ErrorCode::from)
            .err()
    };
    assert_eq!(asks(&replica, 4), Some(ErrorCode::FENCED_LEADER_EPOCH));
    assert_eq!(asks(&replica, 6), Some(ErrorCode::UNKNOWN_LEADER_EPOCH));
    assert_eq!(asks(&replica, 5), None);
    let end = append(&mut replica);
    let waiter = replica.await_commit(end).unwrap().unwrap();
    replica.update(&partition(1, 6, 9, &[0, 1]), NOW, &AllUp);
    assert_eq!(asks(&replica, 6), Some(ErrorCode::NOT_LEADER_OR_FOLLOWER));
    let result = Err(ReplicaError::NotLeader.into());
    let acked = Output::Acked(crate::Acked { waiter, result });
    assert_eq!(outputs(&mut replica), [acked]);
    replica.fail();
    assert_eq!(asks(&replica, 6), Some(ErrorCode::KAFKA_STORAGE_ERROR));
}

#[test]
fn readers_are_told_where_logs_part_and_what_is_out_of_range() {
    let mut epochs = LeaderEpochs::default();
    epochs.assign(LeaderEpoch(1), Offset(0));
    epochs.assign(LeaderEpoch(3), Offset(10));
    let log = LogState::new(Offset(5), Offset(20), Offset(20), epochs);
    let producers = Producers::new(Offset(20));
    let mut replica = Replica::new(BrokerId(0), log, producers, Settings::default());
    replica.update(&partition(0, 5, 8, &[0]), NOW, &AllUp);
    let id = BrokerId(1);
    let reader = Reader::Replica { id, epoch: None };
    let read = |offset, epoch| {
        let mut position = position(offset);
        position.last_fetched_epoch = Some(LeaderEpoch(epoch));
        replica.read(&position, reader).map(|reply| reply.found)
    };
    let parts = |epoch, end| {
        Ok(Readable::Diverging(EpochEnd {
            epoch: LeaderEpoch(epoch),
            end: Offset(end),
        }))
    };
    assert_eq!(read(15, 2), parts(1, 10));
    assert_eq!(read(12, 1), parts(1, 10));
    assert_eq!(read(30, 3), parts(3, 20));
    let (from, to) = (Offset(15), Offset(20));
    assert_eq!(read(15, 3), Ok(Readable::Records { from, to }));
    for (offset, epoch) in [(4, 1), (15, 9), (15, -1)] {
        let found = read(offset, epoch);
        assert!(matches!(found, Err(ReplicaError::OffsetOutOfRange { .. })));
    }
}
