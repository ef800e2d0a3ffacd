//! The small files, and snapshots.

use std::io;
use std::sync::Arc;

use klamm_log::testing::{Crash, Fault, MemDir, Operation};
use klamm_log::{
    CleanShutdown, Dir, DirLock, LockError, LogError, MetaProperties, OffsetCheckpoint,
    PartitionMetadata, PartitionOffset, QuorumState, SnapshotId, Snapshots, Vote,
};
use klamm_protocol::{BrokerId, LeaderEpoch, Offset, PartitionIndex, Uuid};

use crate::support::batch;

fn text(dir: &MemDir, name: &str) -> String {
    String::from_utf8(dir.bytes(name).unwrap()).unwrap()
}

fn id(number: u128) -> Uuid {
    Uuid::from_bytes(number.to_be_bytes())
}

#[test]
fn quorum_state_is_kafkas() {
    let dir = MemDir::default();
    assert_eq!(QuorumState::read(&dir).unwrap(), None);
    let voted = QuorumState {
        leader_id: None,
        leader_epoch: LeaderEpoch(5),
        voted: Some(Vote {
            id: BrokerId(2),
            directory_id: Some(id(1)),
        }),
        static_voters: None,
    };
    voted.write(&dir).unwrap();
    assert_eq!(
        text(&dir, "quorum-state"),
        r#"{"leaderId":-1,"leaderEpoch":5,"votedId":2,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAQ","data_version":1}"#
    );
    assert_eq!(QuorumState::read(&dir).unwrap(), Some(voted));
    let led = QuorumState {
        leader_id: Some(BrokerId(3)),
        leader_epoch: LeaderEpoch(6),
        voted: None,
        static_voters: Some(vec![BrokerId(2), BrokerId(3)]),
    };
    led.write(&dir).unwrap();
    assert_eq!(
        text(&dir, "quorum-state"),
        r#"{"clusterId":"","leaderId":3,"leaderEpoch":6,"votedId":-1,"appliedOffset":0,"currentVoters":[{"voterId":2},{"voterId":3}],"data_version":0}"#
    );
    assert_eq!(QuorumState::read(&dir).unwrap(), Some(led));
}

#[test]
fn other_files_are_kafkas() {
    let dir = MemDir::default();
    let properties = MetaProperties {
        cluster_id: "a b\\c".into(),
        node_id: BrokerId(7),
        directory_id: Some(id(2)),
    };
    properties.write(&dir).unwrap();
    assert_eq!(
        text(&dir, "meta.properties"),
        "node.id=7\nversion=1\ncluster.id=a b\\\\c\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAg\n"
    );
    assert_eq!(MetaProperties::read(&dir).unwrap(), Some(properties));

    let partition = PartitionMetadata { topic_id: id(3) };
    partition.write(&dir).unwrap();
    assert_eq!(
        text(&dir, "partition.metadata"),
        "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAw"
    );
    assert_eq!(PartitionMetadata::read(&dir).unwrap(), Some(partition));

    let entries =
        [("orders", 0, 42), ("orders", 1, 0)].map(|(topic, partition, offset)| PartitionOffset {
            topic: topic.into(),
            partition: PartitionIndex(partition),
            offset: Offset(offset),
        });
    OffsetCheckpoint::RecoveryPoint
        .write(&dir, &entries)
        .unwrap();
    assert_eq!(
        text(&dir, "recovery-point-offset-checkpoint"),
        "0\n2\norders 0 42\norders 1 0\n"
    );
    assert_eq!(OffsetCheckpoint::RecoveryPoint.read(&dir).unwrap(), entries);
    assert_eq!(OffsetCheckpoint::HighWatermark.read(&dir).unwrap(), []);

    let shutdown = CleanShutdown {
        broker_epoch: Some(8),
    };
    shutdown.write(&dir).unwrap();
    assert_eq!(
        text(&dir, ".kafka_cleanshutdown"),
        r#"{"version":0,"brokerEpoch":8}"#
    );
    assert_eq!(CleanShutdown::read(&dir).unwrap(), Some(shutdown));
    CleanShutdown::remove(&dir).unwrap();
    assert_eq!(CleanShutdown::read(&dir).unwrap(), None);
}

/// What is damaged is an error that names the file, whatever was done to it; never a panic.
#[test]
fn damaged_files_are_errors() {
    for (name, good) in [
        (
            "quorum-state",
            r#"{"leaderId":-1,"leaderEpoch":5,"votedId":-1,"data_version":1}"#,
        ),
        (
            "meta.properties",
            "version=1\ncluster.id=a\nnode.id=1\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAg\n",
        ),
        (
            "partition.metadata",
            "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAw",
        ),
        ("replication-offset-checkpoint", "0\n2\na 0 1\nb 0 2\n"),
    ] {
        let read = |bytes: &[u8]| {
            let dir = MemDir::default();
            dir.put(name, bytes);
            match name {
                "quorum-state" => QuorumState::read(&dir).map(drop),
                "meta.properties" => MetaProperties::read(&dir).map(drop),
                "partition.metadata" => PartitionMetadata::read(&dir).map(drop),
                _ => OffsetCheckpoint::HighWatermark.read(&dir).map(drop),
            }
        };
        read(good.as_bytes()).unwrap();
        let mut errors = 0;
        for len in 0..good.len() {
            for bytes in [good.as_bytes()[..len].to_vec(), {
                let mut bytes = good.as_bytes().to_vec();
                bytes[len] ^= 0x80;
                bytes
            }] {
                if let Err(e) = read(&bytes) {
                    errors += 1;
                    assert!(e.to_string().contains(name), "{e}");
                }
            }
        }
        assert!(errors > good.len() / 2, "{name}: {errors}");
        for bad in [
            "",
            "1\n0\n",
            "version=9\n",
            "version: 1\n",
            "{}",
            "\u{fffd}",
        ] {
            if !(name.ends_with("checkpoint") && bad.is_empty()) {
                read(bad.as_bytes()).unwrap_err();
            }
        }
    }
}

/// At any time a crash leaves the old file or the new one, whole.
#[test]
fn a_file_is_replaced_as_a_whole() {
    let state = |epoch| QuorumState {
        leader_id: None,
        leader_epoch: LeaderEpoch(epoch),
        voted: None,
        static_voters: None,
    };
    for operation in [
        Operation::Name,
        Operation::Write,
        Operation::Sync,
        Operation::SyncDir,
    ] {
        for seed in 0..60 {
            let dir = MemDir::default();
            state(1).write(&dir).unwrap();
            dir.fail(Fault {
                operation,
                after: seed % 3,
                error: io::ErrorKind::StorageFull,
            });
            let written = state(2).write(&dir);
            let mut rng = fastrand::Rng::with_seed(seed as u64);
            dir.crash(Crash::Random, |below| rng.usize(0..below));
            let epoch = QuorumState::read(&dir).unwrap().unwrap().leader_epoch.0;
            match written {
                Ok(()) => assert_eq!(epoch, 2),
                Err(_) => assert!((1..=2).contains(&epoch)),
            }
        }
    }
}

#[test]
fn a_directory_is_locked_once() {
    let dir = tempfile::tempdir().unwrap();
    let lock = DirLock::acquire(dir.path()).unwrap();
    let second = DirLock::acquire(dir.path()).unwrap_err();
    assert!(matches!(second, LockError::Held(_)), "{second}");
    drop(lock);
    DirLock::acquire(dir.path()).unwrap();
}

fn snapshot_id(end: i64) -> SnapshotId {
    SnapshotId {
        end: Offset(end),
        epoch: LeaderEpoch(1),
    }
}

#[test]
fn a_snapshot_is_there_when_it_is_finished() {
    let dir = MemDir::default();
    let snapshots = Snapshots::open(Arc::new(dir.clone())).unwrap();
    let bytes = [batch(0, 1, 3, 50, 0), batch(3, 1, 2, 90, 0)].map(|batch| batch.into_bytes());
    let mut writer = snapshots.create(snapshot_id(5)).unwrap();
    for part in bytes.concat().chunks(7) {
        writer.append(part).unwrap();
    }
    assert_eq!(snapshots.list().unwrap(), []);
    let snapshot = writer.finish().unwrap();
    dir.crash(Crash::Process, |_| 0);
    assert_eq!(snapshots.list().unwrap(), [snapshot_id(5)]);
    assert_eq!(snapshot.len(), bytes.concat().len() as u64);
    let snapshot = snapshots.read(snapshot_id(5)).unwrap().unwrap();
    assert_eq!(snapshot.batches(0, 0).unwrap(), bytes[0]);
    assert_eq!(snapshot.batches(0, 10_000).unwrap(), bytes.concat());
    assert_eq!(
        snapshot.batches(snapshot.len(), 10_000).unwrap(),
        [0_u8; 0][..]
    );
    assert_eq!(snapshot.bytes(5, 3).unwrap(), bytes[0].slice(5..8));
    assert_eq!(snapshot.bytes(1 << 40, 3).unwrap(), [0_u8; 0][..]);
    snapshots.remove(snapshot_id(5)).unwrap();
    assert!(snapshots.read(snapshot_id(5)).unwrap().is_none());
}

#[test]
fn a_snapshot_that_is_damaged_is_none() {
    let dir = MemDir::default();
    let snapshots = Snapshots::open(Arc::new(dir.clone())).unwrap();
    let bytes = batch(0, 1, 3, 50, 0).into_bytes();
    for damaged in [
        &bytes[..bytes.len() - 1],
        &[&bytes[..70], &[0], &bytes[71..]].concat(),
    ] {
        let mut writer = snapshots.create(snapshot_id(3)).unwrap();
        writer.append(damaged).unwrap();
        assert!(matches!(writer.finish(), Err(LogError::Corrupt { .. })));
        assert_eq!(snapshots.list().unwrap(), []);
        assert_eq!(dir.names().unwrap(), [""; 0], "nothing is left");
    }
}

#[test]
fn leftovers_of_snapshots_are_removed() {
    let dir = MemDir::default();
    let name = snapshot_id(3).file_name();
    dir.put(&name, b"");
    dir.put(&format!("{name}.part"), b"");
    dir.put("00000000000000000003-0000000001-123.checkpoint.part", b"");
    dir.put("00000000000000000002-0000000001.checkpoint.deleted", b"");
    dir.put("leader-epoch-checkpoint", b"");
    Snapshots::open(Arc::new(dir.clone())).unwrap();
    assert_eq!(
        dir.names().unwrap(),
        [name.as_str(), "leader-epoch-checkpoint"]
    );
}
