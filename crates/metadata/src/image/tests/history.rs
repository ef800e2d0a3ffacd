//! Random records of every kind, also such that do not fit.

use fastrand::Rng;
use klamm_protocol::data::metadata::client_quota_record::EntityData;
use klamm_protocol::data::metadata::register_broker_record::{BrokerEndpoint, BrokerFeature};
use klamm_protocol::data::metadata::register_controller_record::ControllerEndpoint;
use klamm_protocol::data::metadata::*;
use klamm_protocol::{Bytes, SmallVec, Uuid};

use crate::{Feature, Record};

pub(super) fn uuid(number: u8) -> Uuid {
    Uuid::from_bytes([number; 16])
}

fn brokers(rng: &mut Rng) -> SmallVec<[i32; 4]> {
    let mut ids: Vec<i32> = (0..7).collect();
    rng.shuffle(&mut ids);
    ids.truncate(rng.usize(..6));
    ids.into()
}

fn maybe<T>(rng: &mut Rng, make: impl FnOnce(&mut Rng) -> T) -> Option<T> {
    rng.bool().then(|| make(rng))
}

fn directories(rng: &mut Rng, count: usize) -> Vec<Uuid> {
    (0..count).map(|_| uuid(rng.u8(..4))).collect()
}

fn register_broker(rng: &mut Rng) -> Record {
    let endpoint = BrokerEndpoint {
        name: "PLAINTEXT".into(),
        host: "localhost".into(),
        port: rng.u16(..),
        security_protocol: 0,
        ..Default::default()
    };
    let feature = BrokerFeature {
        name: "metadata.version".into(),
        min_supported_version: 7,
        max_supported_version: rng.i16(20..35),
        ..Default::default()
    };
    Record::from(RegisterBrokerRecord {
        broker_id: rng.i32(0..7),
        broker_epoch: rng.i64(0..3),
        incarnation_id: uuid(rng.u8(..)),
        end_points: vec![endpoint],
        features: vec![feature],
        rack: maybe(rng, |_| "a".into()),
        fenced: rng.bool(),
        in_controlled_shutdown: rng.bool(),
        log_dirs: vec![uuid(1)],
        cordoned_log_dirs: maybe(rng, |_| vec![uuid(1)]),
        ..Default::default()
    })
}

fn partition(rng: &mut Rng) -> Record {
    let replicas = brokers(rng);
    let count = if rng.u8(..9) == 0 {
        rng.usize(..4)
    } else {
        replicas.len()
    };
    Record::from(PartitionRecord {
        partition_id: rng.i32(-1..5),
        topic_id: uuid(rng.u8(..5)),
        isr: brokers(rng),
        removing_replicas: maybe(rng, brokers).unwrap_or_default(),
        adding_replicas: maybe(rng, brokers).unwrap_or_default(),
        leader: rng.i32(-1..7),
        leader_recovery_state: rng.i8(0..2),
        leader_epoch: rng.i32(0..9),
        partition_epoch: rng.i32(0..9),
        directories: directories(rng, count),
        eligible_leader_replicas: maybe(rng, brokers),
        last_known_elr: maybe(rng, brokers),
        replicas,
        ..Default::default()
    })
}

fn partition_change(rng: &mut Rng) -> Record {
    let replicas = maybe(rng, brokers);
    let count = replicas.as_ref().map(|replicas| replicas.len());
    Record::from(PartitionChangeRecord {
        partition_id: rng.i32(-1..5),
        topic_id: uuid(rng.u8(..5)),
        isr: maybe(rng, brokers),
        leader: rng.i32(-2..7),
        removing_replicas: maybe(rng, brokers),
        adding_replicas: maybe(rng, brokers),
        leader_recovery_state: rng.i8(-1..2),
        directories: count.map(|count| directories(rng, count)),
        eligible_leader_replicas: maybe(rng, brokers),
        last_known_elr: maybe(rng, brokers),
        replicas,
        ..Default::default()
    })
}

fn security(rng: &mut Rng) -> Record {
    match rng.u8(..6) {
        0 => Record::from(AccessControlEntryRecord {
            id: uuid(rng.u8(..5)),
            resource_type: rng.i8(2..8),
            resource_name: "a".into(),
            pattern_type: rng.i8(3..5),
            principal: "User:a".into(),
            host: "*".into(),
            operation: rng.i8(2..15),
            permission_type: rng.i8(1..4),
            ..Default::default()
        }),
        1 => Record::from(RemoveAccessControlEntryRecord {
            id: uuid(rng.u8(..5)),
            ..Default::default()
        }),
        2 => Record::from(UserScramCredentialRecord {
            name: "alice".into(),
            mechanism: rng.i8(0..4),
            salt: Bytes::from_static(b"salt"),
            stored_key: Bytes::from_static(b"stored"),
            server_key: Bytes::from_static(b"server"),
            iterations: rng.i32(4096..9000),
            ..Default::default()
        }),
        3 => Record::from(RemoveUserScramCredentialRecord {
            name: "alice".into(),
            mechanism: rng.i8(0..4),
            ..Default::default()
        }),
        4 => Record::from(DelegationTokenRecord {
            owner: "User:a".into(),
            requester: "User:b".into(),
            renewers: vec!["User:c".into()],
            issue_timestamp: rng.i64(..),
            max_timestamp: rng.i64(..),
            expiration_timestamp: rng.i64(..),
            token_id: "token".into(),
            ..Default::default()
        }),
        _ => Record::from(RemoveDelegationTokenRecord {
            token_id: "token".into(),
            ..Default::default()
        }),
    }
}

fn settings(rng: &mut Rng) -> Record {
    match rng.u8(..4) {
        0 => Record::from(ConfigRecord {
            resource_type: 2,
            resource_name: format!("topic-{}", rng.u8(..4)).as_str().into(),
            name: format!("key-{}", rng.u8(..3)).as_str().into(),
            value: maybe(rng, |_| "value".into()),
            ..Default::default()
        }),
        1 => {
            let entity = EntityData {
                entity_type: "user".into(),
                entity_name: maybe(rng, |_| "alice".into()),
                ..Default::default()
            };
            Record::from(ClientQuotaRecord {
                entity: vec![entity],
                key: format!("key-{}", rng.u8(..3)).as_str().into(),
                value: rng.f64(),
                remove: rng.bool(),
                ..Default::default()
            })
        }
        2 => Record::from(ProducerIdsRecord {
            broker_id: 1,
            next_producer_id: rng.i64(..),
            ..Default::default()
        }),
        _ => Record::from(FeatureLevelRecord {
            name: Feature::ALL[rng.usize(..Feature::ALL.len())].name.into(),
            feature_level: rng.i16(0..3),
            ..Default::default()
        }),
    }
}

fn nodes(rng: &mut Rng) -> Record {
    let (id, epoch) = (rng.i32(0..7), rng.i64(0..3));
    match rng.u8(..8) {
        0 => Record::from(UnregisterBrokerRecord {
            broker_id: id,
            broker_epoch: epoch,
            ..Default::default()
        }),
        1 => Record::from(FenceBrokerRecord {
            id,
            epoch,
            ..Default::default()
        }),
        2 => Record::from(UnfenceBrokerRecord {
            id,
            epoch,
            ..Default::default()
        }),
        3 => Record::from(BrokerRegistrationChangeRecord {
            broker_id: id,
            broker_epoch: epoch,
            fenced: rng.i8(-1..3),
            in_controlled_shutdown: rng.i8(-1..2),
            log_dirs: maybe(rng, |_| vec![uuid(2)]).unwrap_or_default(),
            cordoned_log_dirs: maybe(rng, |_| vec![uuid(2)]),
            ..Default::default()
        }),
        4 => Record::from(RegisterControllerRecord {
            controller_id: id,
            incarnation_id: uuid(rng.u8(..)),
            end_points: vec![ControllerEndpoint {
                name: "CONTROLLER".into(),
                host: "localhost".into(),
                port: 9093,
                ..Default::default()
            }],
            ..Default::default()
        }),
        5 => Record::from(UnregisterControllerRecord {
            controller_id: id,
            ..Default::default()
        }),
        _ => register_broker(rng),
    }
}

pub(super) fn any_record(rng: &mut Rng) -> Record {
    match rng.u8(..16) {
        0 => {
            let number = rng.u8(..5);
            Record::from(TopicRecord {
                name: ["topic-0", "topic-1", "topic.2", "topic_2", "topic-4"][number as usize]
                    .into(),
                topic_id: uuid(number),
                ..Default::default()
            })
        }
        1 => Record::from(RemoveTopicRecord {
            topic_id: uuid(rng.u8(..5)),
            ..Default::default()
        }),
        2 => Record::from(ClearElrRecord {
            topic_name: match rng.u8(..5) {
                0 => "".into(),
                1 => "topic-1".into(),
                2 => "topic.2".into(),
                _ => "topic_2".into(),
            },
            ..Default::default()
        }),
        3..6 => partition(rng),
        6..10 => partition_change(rng),
        10..12 => settings(rng),
        12..14 => security(rng),
        _ => nodes(rng),
    }
}
