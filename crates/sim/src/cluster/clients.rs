//! A client that changes the cluster, and one that writes records.

use std::collections::{BTreeMap, BTreeSet};

use klamm_metadata::Place;
use klamm_protocol::BrokerId;
use klamm_protocol::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, ReassignablePartition, ReassignableTopic,
};
use klamm_protocol::messages::create_partitions::{CreatePartitionsRequest, CreatePartitionsTopic};
use klamm_protocol::messages::create_topics::{
    CreatableReplicaAssignment, CreatableTopic, CreatableTopicConfig, CreateTopicsRequest,
};
use klamm_protocol::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest};
use klamm_protocol::messages::elect_leaders::{ElectLeadersRequest, TopicPartitions};
use klamm_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterableConfig, IncrementalAlterConfigsRequest,
};
use klamm_protocol::messages::list_partition_reassignments::ListPartitionReassignmentsRequest;
use klamm_protocol::messages::unregister_broker::UnregisterBrokerRequest;

use super::Cluster;
use super::events::Event;
use crate::asks::{Ask, Party, Reply};

/// How many topics there are at most.
const TOPICS: usize = 5;
/// How many partitions a topic has at most.
const MAX_PARTITIONS: i32 = 6;

/// The client.
#[derive(Debug, Default)]
pub(super) struct Client {
    /// Whom it takes for the controller.
    controller: Option<BrokerId>,
    open: BTreeMap<u64, BrokerId>,
    /// The topics that it has asked to delete.
    pub(super) deletes: BTreeSet<String>,
    records: u64,
}

impl Cluster {
    /// The client asks for something.
    pub(super) fn client_asks(&mut self) {
        if self.healed {
            return;
        }
        let wait = self.up_to(self.broker_plan().request_every * 2);
        self.queue.push(self.now + wait, Event::Client);
        let ask = self.any_ask();
        if let Some(ask) = ask {
            self.client_sends(ask);
        }
    }

    pub(super) fn client_sends(&mut self, ask: Ask) {
        let voters = self.plan.voters as i32;
        let any = BrokerId(self.rng.i32(1..=voters));
        let to = self.client.controller.unwrap_or(any);
        let ticket = self.ask(Party::Client, to, ask);
        self.client.open.insert(ticket, to);
    }

    /// A controller has answered the client, or nobody has.
    pub(super) fn client_told(&mut self, ticket: u64, reply: Option<Reply>) {
        if let Some(asked) = self.client.open.remove(&ticket) {
            self.client.controller = match reply {
                None | Some(Reply::NotController) => None,
                Some(_) => Some(asked),
            };
        }
    }

    fn any_ask(&mut self) -> Option<Ask> {
        let name = format!("topic-{}", self.rng.usize(..TOPICS));
        let topic = self.truth.image().topics().by_name(&name);
        let Some(topic) = topic else {
            return Some(self.create(name));
        };
        let (id, count) = (topic.id(), topic.partition_count() as i32);
        let place = crate::checker::place(id, self.rng.i32(0..count.max(1)));
        Some(match self.rng.u8(..20) {
            0 => {
                self.client.deletes.insert(name);
                DeleteTopicsRequest {
                    topics: vec![DeleteTopicState {
                        name: None,
                        topic_id: id,
                        ..Default::default()
                    }],
                    ..Default::default()
                }
                .into()
            }
            1 | 2 if count < MAX_PARTITIONS => CreatePartitionsRequest {
                topics: vec![CreatePartitionsTopic {
                    name: name.as_str().into(),
                    count: count + self.rng.i32(1..=2),
                    ..Default::default()
                }],
                ..Default::default()
            }
            .into(),
            3 => self.create(name),
            4 => {
                let down = self.brokers.keys().copied().filter(|id| !self.is_up(*id));
                let down: Vec<BrokerId> = down.collect();
                let broker_id = down.get(self.rng.usize(..down.len().max(1)))?.0;
                UnregisterBrokerRequest {
                    broker_id,
                    ..Default::default()
                }
                .into()
            }
            5..9 => self.reassign(&name, place),
            9 => self.configure(&name),
            10 => ListPartitionReassignmentsRequest::default().into(),
            unclean => self.elect(i8::from(unclean == 19), &name, place),
        })
    }

    fn create(&mut self, name: String) -> Ask {
        let brokers = self.brokers.len() as i32;
        let factor = self.rng.i16(1..=3.min(brokers as i16));
        let mut topic = CreatableTopic {
            name: name.as_str().into(),
            num_partitions: self.rng.i32(1..=3),
            replication_factor: factor,
            ..Default::default()
        };
        if self.rng.u8(..3) == 0 {
            let assignments = (0..topic.num_partitions).map(|index| CreatableReplicaAssignment {
                partition_index: index,
                broker_ids: self.some_brokers(factor as usize)[..].into(),
                ..Default::default()
            });
            topic.assignments = assignments.collect();
            topic.num_partitions = -1;
            topic.replication_factor = -1;
        }
        let mut set = |key: &str, value: &str| {
            topic.configs.push(CreatableTopicConfig {
                name: key.into(),
                value: Some(value.into()),
                ..Default::default()
            });
        };
        if self.rng.u8(..4) == 0 {
            set("unclean.leader.election.enable", "true");
        }
        if self.rng.u8(..4) == 0 {
            set("min.insync.replicas", "2");
        }
        CreateTopicsRequest {
            topics: vec![topic],
            ..Default::default()
        }
        .into()
    }

    fn some_brokers(&mut self, count: usize) -> Vec<i32> {
        let mut ids: Vec<i32> = self.brokers.keys().map(|id| id.0).collect();
        self.rng.shuffle(&mut ids);
        ids.truncate(count);
        ids
    }

    fn reassign(&mut self, name: &str, place: Place) -> Ask {
        let target = (self.rng.u8(..4) > 0).then(|| {
            let count = self.rng.usize(1..=3);
            self.some_brokers(count)[..].into()
        });
        AlterPartitionReassignmentsRequest {
            allow_replication_factor_change: true,
            topics: vec![ReassignableTopic {
                name: name.into(),
                partitions: vec![ReassignablePartition {
                    partition_index: place.index.0,
                    replicas: target,
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        }
        .into()
    }

    /// Sets, or takes back, a config of a topic or of the cluster.
    fn configure(&mut self, name: &str) -> Ask {
        let (key, value) = match self.rng.u8(..4) {
            0 => ("unclean.leader.election.enable", "true"),
            1 => ("unclean.leader.election.enable", "false"),
            2 => ("min.insync.replicas", "2"),
            _ => ("min.insync.replicas", "1"),
        };
        let is_of_all = self.rng.u8(..4) == 0;
        let is_set = is_of_all || self.rng.bool();
        IncrementalAlterConfigsRequest {
            resources: vec![AlterConfigsResource {
                resource_type: if is_of_all { 4 } else { 2 },
                resource_name: if is_of_all { "" } else { name }.into(),
                configs: vec![AlterableConfig {
                    name: key.into(),
                    config_operation: if is_set { 0 } else { 1 },
                    value: is_set.then(|| value.into()),
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        }
        .into()
    }

    fn elect(&mut self, election_type: i8, name: &str, place: Place) -> Ask {
        let everywhere = self.rng.bool();
        let topic_partitions = (!everywhere).then(|| {
            vec![TopicPartitions {
                topic: name.into(),
                partitions: [place.index.0][..].into(),
                ..Default::default()
            }]
        });
        ElectLeadersRequest {
            election_type,
            topic_partitions,
            timeout_ms: 60_000,
            ..Default::default()
        }
        .into()
    }

    /// Every partition goes back to its preferred leader.
    pub(super) fn elect_preferred(&mut self) {
        let request = ElectLeadersRequest {
            election_type: 0,
            topic_partitions: None,
            timeout_ms: 60_000,
            ..Default::default()
        };
        self.client_sends(request.into());
    }

    /// A producer writes a record to whoever some broker takes for the leader.
    pub(super) fn producer_writes(&mut self) {
        if self.healed {
            return;
        }
        let wait = self.up_to(self.broker_plan().produce_every * 2);
        self.queue.push(self.now + wait, Event::Produce);
        let brokers: Vec<BrokerId> = self.brokers.keys().copied().collect();
        let any = brokers[self.rng.usize(..brokers.len())];
        let topics = self.brokers[&any].image().topics();
        let led = topics.iter().flat_map(|topic| {
            let id = topic.id();
            topic.partitions().map(move |(index, partition)| {
                let place = Place { topic: id, index };
                (place, partition.leader())
            })
        });
        let led: Vec<_> = led.filter(|(_, leader)| leader.known().is_some()).collect();
        if led.is_empty() {
            return;
        }
        let (place, leader) = led[self.rng.usize(..led.len())];
        self.client.records += 1;
        let id = self.client.records;
        self.produce(leader, place, id);
    }
}
