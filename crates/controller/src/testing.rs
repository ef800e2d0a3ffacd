//! Small clusters for tests, made of records.

use klamm_metadata::{Image, Partition, Place, Record};
use klamm_protocol::data::metadata::{
    BrokerRegistrationChangeRecord, ConfigRecord, FeatureLevelRecord, PartitionChangeRecord,
    PartitionRecord, RegisterBrokerRecord, TopicRecord,
};
use klamm_protocol::{BrokerId, PartitionIndex, Uuid};

use crate::{ControllerConfig, Decision, View};

/// The id of the controller itself.
pub(crate) const NODE: BrokerId = BrokerId(100);

/// A cluster whose metadata tests write and decide on.
#[derive(Clone, Debug)]
pub(crate) struct Fixture {
    pub(crate) image: Image,
    pub(crate) config: ControllerConfig,
}

/// The id of a topic that a fixture makes.
pub(crate) fn topic_id(name: &str) -> Uuid {
    let mut bytes = [0xab; 16];
    for (byte, letter) in bytes.iter_mut().zip(name.bytes()) {
        *byte = letter;
    }
    Uuid::from_bytes(bytes)
}

impl Fixture {
    /// A cluster with the latest features and brokers 1 to `brokers`, none of them fenced.
    pub(crate) fn new(brokers: i32) -> Self {
        let mut fixture = Self {
            image: Image::new(),
            config: ControllerConfig::new(NODE),
        };
        fixture.feature("metadata.version", 33);
        fixture.feature("eligible.leader.replicas.version", 1);
        for id in 1..=brokers {
            fixture.register(id, id.into(), false);
        }
        fixture
    }

    pub(crate) fn apply(&mut self, record: impl Into<Record>) {
        self.image.apply(&record.into()).unwrap();
    }

    pub(crate) fn feature(&mut self, name: &str, feature_level: i16) {
        self.apply(FeatureLevelRecord {
            name: name.into(),
            feature_level,
            ..Default::default()
        });
    }

    pub(crate) fn register(&mut self, broker_id: i32, broker_epoch: i64, fenced: bool) {
        self.apply(RegisterBrokerRecord {
            broker_id,
            broker_epoch,
            incarnation_id: Uuid::from_bytes([broker_id as u8; 16]),
            fenced,
            log_dirs: vec![Uuid::from_bytes([0x70 + broker_id as u8; 16])],
            ..Default::default()
        });
    }

    pub(crate) fn fence(&mut self, broker_id: i32, fenced: bool) {
        let broker = self.image.cluster().broker(BrokerId(broker_id)).unwrap();
        let broker_epoch = broker.epoch.0;
        self.apply(BrokerRegistrationChangeRecord {
            broker_id,
            broker_epoch,
            fenced: if fenced { 1 } else { -1 },
            ..Default::default()
        });
    }

    /// A topic; each partition has its replicas all in sync, the first leading.
    pub(crate) fn topic(&mut self, name: &str, assignment: &[&[i32]]) {
        self.apply(TopicRecord {
            name: name.into(),
            topic_id: topic_id(name),
            ..Default::default()
        });
        for (partition_id, replicas) in (0..).zip(assignment) {
            self.apply(PartitionRecord {
                partition_id,
                topic_id: topic_id(name),
                replicas: (*replicas).into(),
                isr: (*replicas).into(),
                leader: replicas[0],
                leader_epoch: 0,
                partition_epoch: 0,
                ..Default::default()
            });
        }
    }

    pub(crate) fn change(&mut self, name: &str, index: i32, change: PartitionChangeRecord) {
        self.apply(PartitionChangeRecord {
            topic_id: topic_id(name),
            partition_id: index,
            ..change
        });
    }

    pub(crate) fn config(&mut self, kind: i8, resource: &str, key: &str, value: &str) {
        self.apply(ConfigRecord {
            resource_type: kind,
            resource_name: resource.into(),
            name: key.into(),
            value: Some(value.into()),
            ..Default::default()
        });
    }

    pub(crate) fn view(&self) -> View<'_> {
        View::new(&self.image, &self.config).unwrap()
    }

    pub(crate) fn partition(&self, name: &str, index: i32) -> &Partition {
        let place = Place {
            topic: topic_id(name),
            index: PartitionIndex(index),
        };
        self.image.topics().partition(place).unwrap()
    }

    /// Applies what was decided, and holds every change of a leader to the image before and after.
    pub(crate) fn carry_out<R>(&mut self, decision: &Decision<R>) {
        let before = self.image.clone();
        for record in &decision.records {
            self.image.apply(record).unwrap();
        }
        for change in &decision.leader_changes {
            let old = before.topics().partition(change.place).unwrap();
            let new = self.image.topics().partition(change.place).unwrap();
            assert_eq!((old.leader(), new.leader()), (change.from, change.to));
            assert_eq!(new.leader_epoch(), change.epoch);
        }
        let epochs_raised = before.topics().iter().flat_map(|topic| {
            topic.partitions().map(|(index, old)| {
                (
                    Place {
                        topic: topic.id(),
                        index,
                    },
                    old,
                )
            })
        });
        let raised = epochs_raised.filter(|(place, old)| {
            let new = self.image.topics().partition(*place);
            new.is_some_and(|new| new.leader_epoch() != old.leader_epoch())
        });
        assert_eq!(raised.count(), decision.leader_changes.len());
    }
}
