use klamm_metadata::directory;
use klamm_protocol::data::metadata::PartitionRecord;

use super::*;
use crate::How;

mod exhaustive;

fn place() -> Place {
    Place {
        topic: Uuid::from_bytes([7; 16]),
        index: klamm_protocol::PartitionIndex(0),
    }
}

fn rules() -> ChangeRules {
    ChangeRules {
        metadata_version: MetadataVersion::LATEST_PRODUCTION,
        elr_enabled: true,
        min_isr: 2,
        election: ElectionKind::Online,
    }
}

/// A partition led by the first in its ISR.
fn partition(replicas: &[i32], isr: &[i32]) -> PartitionRecord {
    PartitionRecord {
        partition_id: 0,
        topic_id: place().topic,
        replicas: replicas.into(),
        isr: isr.into(),
        leader: isr.first().copied().unwrap_or(-1),
        leader_epoch: 5,
        partition_epoch: 9,
        ..Default::default()
    }
}

fn from(record: &PartitionRecord) -> Partition {
    Partition::from_record(record).unwrap()
}

fn all_live(_: BrokerId) -> bool {
    true
}

fn unassigned(_: BrokerId) -> Uuid {
    directory::UNASSIGNED
}

fn ids(ids: &[i32]) -> Replicas {
    ids.into()
}

fn after(partition: &Partition, change: Option<Change>) -> Partition {
    partition
        .changed_by(&change.expect("a change").record)
        .unwrap()
}

#[test]
fn nothing_changes_where_nothing_is_wanted() {
    let partition = from(&partition(&[1, 2, 3], &[1, 2, 3]));
    assert_eq!(
        WantedChange::new(place(), &partition, rules()).build(all_live, unassigned),
        None
    );
}

#[test]
fn the_last_in_sync_replica_that_fails_stays_eligible() {
    let partition = from(&partition(&[1, 2], &[1]));
    let fail = |elr_enabled| {
        let rules = ChangeRules {
            elr_enabled,
            ..rules()
        };
        let wanted = WantedChange::new(place(), &partition, rules).isr(Replicas::NONE);
        after(
            &partition,
            wanted.build(|broker| broker == BrokerId(2), unassigned),
        )
    };
    let with_elr = fail(true);
    assert_eq!(with_elr.leader(), BrokerId::NONE);
    assert_eq!((with_elr.isr(), with_elr.elr()), (&ids(&[]), &ids(&[1])));
    assert_eq!(with_elr.last_known_elr(), &ids(&[1]));
    let without = fail(false);
    assert_eq!(without.leader(), BrokerId::NONE);
    assert_eq!((without.isr(), without.elr()), (&ids(&[1]), &ids(&[])));
    assert!(without.last_known_elr().is_empty());
}

#[test]
fn a_shrunk_isr_raises_the_leader_epoch_for_old_brokers_only() {
    let partition = from(&partition(&[1, 2, 3], &[1, 2, 3]));
    for (version, epoch) in [("3.5-IV2", 6), ("3.6-IV0", 5), ("4.4-IV2", 5)] {
        let metadata_version = version.parse().unwrap();
        let rules = ChangeRules {
            metadata_version,
            elr_enabled: false,
            ..rules()
        };
        let wanted = WantedChange::new(place(), &partition, rules).isr(ids(&[1, 2]));
        let changed = after(&partition, wanted.build(all_live, unassigned));
        assert_eq!(changed.leader_epoch().0, epoch, "{version}");
        assert_eq!(changed.partition_epoch().0, 10, "{version}");
        assert_eq!(changed.leader(), BrokerId(1), "{version}");
    }
    // A grown one never does.
    let partition = from(&self::partition(&[1, 2, 3], &[1, 2]));
    let rules = ChangeRules {
        metadata_version: MetadataVersion::MINIMUM,
        elr_enabled: false,
        ..rules()
    };
    let wanted = WantedChange::new(place(), &partition, rules).isr(ids(&[1, 2, 3]));
    assert_eq!(
        after(&partition, wanted.build(all_live, unassigned))
            .leader_epoch()
            .0,
        5
    );
}

#[test]
fn an_unclean_shutdown_ends_eligibility() {
    let mut record = partition(&[1, 2, 3], &[1]);
    record.eligible_leader_replicas = Some([2][..].into());
    let partition = from(&record);
    let wanted = WantedChange::new(place(), &partition, rules()).unclean_shutdown(BrokerId(2));
    let changed = after(&partition, wanted.build(all_live, unassigned));
    assert!(changed.elr().is_empty());
    assert_eq!(changed.leader(), BrokerId(1));
}

#[test]
fn a_reassignment_ends_when_what_it_adds_is_in_sync() {
    let mut record = partition(&[4, 5, 1, 2], &[1, 2]);
    record.adding_replicas = [4, 5][..].into();
    record.removing_replicas = [1, 2][..].into();
    let partition = from(&record);
    let with_isr = |isr: &[i32]| {
        let wanted = WantedChange::new(place(), &partition, rules()).isr(ids(isr));
        after(&partition, wanted.build(all_live, unassigned))
    };
    let halfway = with_isr(&[1, 2, 4]);
    assert!(halfway.is_reassigning());
    assert_eq!(halfway.leader(), BrokerId(1));
    let done = with_isr(&[1, 2, 4, 5]);
    assert!(!done.is_reassigning());
    assert_eq!(done.replicas(), &ids(&[4, 5]));
    assert_eq!(done.isr(), &ids(&[4, 5]));
    assert_eq!((done.leader(), done.leader_epoch().0), (BrokerId(4), 6));
    assert!(done.elr().is_empty());
}

#[test]
fn a_shrinking_reassignment_waits_for_all_that_stay() {
    let mut record = partition(&[1, 2, 3], &[1]);
    record.removing_replicas = [3][..].into();
    let partition = from(&record);
    let with_isr = |isr: &[i32]| {
        let wanted = WantedChange::new(place(), &partition, rules()).isr(ids(isr));
        wanted.build(all_live, unassigned)
    };
    assert!(after(&partition, with_isr(&[1, 3])).is_reassigning());
    assert_eq!(
        after(&partition, with_isr(&[1, 2])).replicas(),
        &ids(&[1, 2])
    );
    // One that adds as many as it removes needs only what it adds.
    let mut record = self::partition(&[4, 1, 2, 3], &[1, 3]);
    record.adding_replicas = [4][..].into();
    record.removing_replicas = [3][..].into();
    let partition = from(&record);
    let wanted = WantedChange::new(place(), &partition, rules()).isr(ids(&[1, 4]));
    assert_eq!(
        after(&partition, wanted.build(all_live, unassigned)).replicas(),
        &ids(&[4, 1, 2])
    );
}

#[test]
fn a_removed_replica_always_raises_the_leader_epoch() {
    let partition = from(&partition(&[1, 2, 3], &[1, 2, 3]));
    let wanted = WantedChange::new(place(), &partition, rules());
    let none = Replicas::NONE;
    let wanted = wanted
        .assignment(ids(&[1, 2]), none.clone(), none)
        .isr(ids(&[1, 2]));
    let changed = after(&partition, wanted.build(all_live, unassigned));
    assert_eq!(
        (changed.leader(), changed.leader_epoch().0),
        (BrokerId(1), 6)
    );
}

#[test]
fn a_removed_replica_is_eligible_no_more() {
    let mut record = partition(&[4, 1], &[1]);
    record.adding_replicas = [4][..].into();
    record.removing_replicas = [1][..].into();
    let partition = from(&record);
    let wanted = WantedChange::new(place(), &partition, rules()).isr(ids(&[1, 4]));
    let changed = after(&partition, wanted.build(all_live, unassigned));
    assert_eq!((changed.isr(), changed.elr()), (&ids(&[4]), &ids(&[])));
}

#[test]
fn new_replicas_get_a_directory_and_others_keep_theirs() {
    let mut record = partition(&[1, 2], &[1, 2]);
    let dir = |number| Uuid::from_bytes([number; 16]);
    record.directories = vec![dir(1), dir(2)];
    let partition = from(&record);
    let wanted = || {
        let wanted = WantedChange::new(place(), &partition, rules());
        wanted.assignment(ids(&[3, 1, 2]), Replicas::NONE, ids(&[3]))
    };
    let change = wanted().build(all_live, |_| dir(3)).unwrap();
    assert_eq!(
        change.record.directories,
        Some(vec![dir(3), dir(1), dir(2)])
    );
    let moved = wanted()
        .directory(BrokerId(2), dir(9))
        .build(all_live, |_| dir(3))
        .unwrap();
    assert_eq!(moved.record.directories, Some(vec![dir(3), dir(1), dir(9)]));
    let old = ChangeRules {
        metadata_version: "3.7-IV1".parse().unwrap(),
        elr_enabled: false,
        ..rules()
    };
    let wanted = WantedChange::new(place(), &partition, old).directory(BrokerId(2), dir(9));
    assert_eq!(wanted.build(all_live, |_| dir(3)), None);
}

#[test]
fn an_eligible_replica_in_another_order_is_no_change() {
    let mut record = partition(&[1, 17, 16], &[]);
    record.eligible_leader_replicas = Some([17, 16][..].into());
    record.last_known_elr = Some([1][..].into());
    let partition = from(&record);
    let rules = ChangeRules {
        election: ElectionKind::Preferred,
        ..rules()
    };
    let wanted = WantedChange::new(place(), &partition, rules);
    assert_eq!(wanted.build(|_| false, unassigned), None);
}

#[test]
fn the_leader_reports_that_it_has_recovered() {
    let mut record = partition(&[1, 2], &[1]);
    record.leader_recovery_state = 1;
    let partition = from(&record);
    let wanted = WantedChange::new(place(), &partition, rules())
        .isr(ids(&[1, 2]))
        .recovery(LeaderRecoveryState::Recovered);
    let change = wanted.build(all_live, unassigned).unwrap();
    assert_eq!(change.election.how, How::Kept);
    assert_eq!(change.record.leader_recovery_state, 0);
}
