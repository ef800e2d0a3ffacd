use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use klamm_net::ServerAddress;
use klamm_net::testing::{FakeServer, Reply};
use klamm_protocol::messages::describe_cluster::{
    DescribeClusterBroker, DescribeClusterRequest, DescribeClusterResponse,
};
use klamm_protocol::messages::describe_topic_partitions::{
    DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
};
use klamm_protocol::messages::elect_leaders::{
    ElectLeadersRequest, ElectLeadersResponse, PartitionResult, ReplicaElectionResult,
};
use klamm_protocol::messages::metadata::{
    MetadataRequest, MetadataResponse, MetadataResponseBroker, MetadataResponsePartition,
    MetadataResponseTopic,
};
use klamm_protocol::{ApiKey, ErrorCode, Request, VersionRange};

/// A partition of the fake cluster.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) leader: i32,
    pub(crate) epoch: i32,
    pub(crate) replicas: Vec<i32>,
    pub(crate) isr: Vec<i32>,
    pub(crate) elr: Vec<i32>,
}

/// A partition: its leader or -1, replicas, ISR.
pub(crate) fn part(leader: i32, replicas: &[i32], isr: &[i32]) -> Part {
    let (replicas, isr) = (replicas.to_vec(), isr.to_vec());
    Part {
        leader,
        epoch: 1,
        replicas,
        isr,
        elr: Vec::new(),
    }
}

/// A cluster of one listening server that speaks for all of its brokers, and elects as Kafka does.
#[derive(Clone)]
pub(crate) struct FakeCluster {
    pub(crate) server: FakeServer,
    pub(crate) address: ServerAddress,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    up: Vec<i32>,
    topics: BTreeMap<String, Vec<Part>>,
    elections: Vec<Option<usize>>,
    /// How many Metadata answers after an election still show what was before.
    lag: usize,
    before: Option<BTreeMap<String, Vec<Part>>>,
}

impl State {
    fn broker_ids(&self) -> Vec<i32> {
        self.up.clone()
    }

    /// What Metadata shows.
    fn shown(&mut self) -> BTreeMap<String, Vec<Part>> {
        match (&self.before, self.lag) {
            (Some(before), 1..) => {
                self.lag -= 1;
                before.clone()
            }
            _ => self.topics.clone(),
        }
    }

    fn online(&self, replicas: &[i32]) -> Vec<i32> {
        replicas
            .iter()
            .copied()
            .filter(|id| self.up.contains(id))
            .collect()
    }

    fn elect(&mut self, election_type: i8, topic: &str, index: i32) -> ErrorCode {
        let up = self.up.clone();
        let part = self
            .topics
            .get_mut(topic)
            .and_then(|parts| parts.get_mut(usize::try_from(index).ok()?));
        let Some(part) = part else {
            return ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
        };
        let valid = |id: &&i32| up.contains(id) && part.isr.contains(id);
        let elected = match election_type {
            0 if part.leader == part.replicas[0] => return ErrorCode::ELECTION_NOT_NEEDED,
            0 => part.replicas.iter().take(1).find(valid).copied(),
            _ if part.leader >= 0 => return ErrorCode::ELECTION_NOT_NEEDED,
            _ => part.replicas.iter().copied().find(|id| up.contains(id)),
        };
        match (elected, election_type) {
            (Some(id), _) => {
                part.leader = id;
                part.epoch += 1;
                ErrorCode::NONE
            }
            (None, 0) => ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE,
            (None, _) => ErrorCode::ELIGIBLE_LEADERS_NOT_AVAILABLE,
        }
    }
}

/// What a current broker offers of the APIs that klamm uses.
pub(crate) const OFFERS: [(ApiKey, VersionRange); 4] = [
    (MetadataRequest::KEY, MetadataRequest::STABLE),
    (DescribeClusterRequest::KEY, DescribeClusterRequest::STABLE),
    (ElectLeadersRequest::KEY, ElectLeadersRequest::STABLE),
    (
        DescribeTopicPartitionsRequest::KEY,
        DescribeTopicPartitionsRequest::STABLE,
    ),
];

impl FakeCluster {
    /// Listens, with these brokers running.
    pub(crate) async fn start(up: &[i32], topics: &[(&str, Vec<Part>)]) -> Self {
        let server = FakeServer::offering(&OFFERS);
        let address = server.listen().await;
        let topics = topics
            .iter()
            .map(|(name, parts)| ((*name).to_owned(), parts.clone()));
        let state = State {
            up: up.to_vec(),
            topics: topics.collect(),
            ..State::default()
        };
        let cluster = Self {
            server,
            address,
            state: Arc::new(Mutex::new(state)),
        };
        cluster.answer();
        cluster
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// `--bootstrap-server HOST:PORT`
    pub(crate) fn flag(&self) -> String {
        format!("--bootstrap-server {}", self.address)
    }

    /// How many partitions each ElectLeaders request named; `None` is all.
    pub(crate) fn elections(&self) -> Vec<Option<usize>> {
        self.state().elections.clone()
    }

    /// Offers only these APIs from now on.
    pub(crate) fn offer_without(&self, key: ApiKey) {
        let offers: Vec<_> = OFFERS
            .into_iter()
            .filter(|(offered, _)| *offered != key)
            .collect();
        self.server.offer(
            &offers,
            klamm_protocol::messages::api_versions::ApiVersionsRequest::STABLE,
        );
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes each connection on which somebody asks who leads.
    pub(crate) fn break_off(&self) {
        self.server.on(|_, _: MetadataRequest| Reply::Close);
    }

    /// Answers as at the start.
    pub(crate) fn recover(&self) {
        self.answer();
    }

    fn answer(&self) {
        let cluster = self.clone();
        self.server
            .on(move |_, request| Reply::Answer(cluster.metadata(&request)));
        let cluster = self.clone();
        self.server
            .on(move |_, request| Reply::Answer(cluster.describe_cluster(&request)));
        let cluster = self.clone();
        self.server
            .on(move |_, request| Reply::Answer(cluster.elect(&request)));
        let cluster = self.clone();
        self.server
            .on(move |_, request| Reply::Answer(cluster.topic_partitions(&request)));
    }

    /// Brokers hear of elections only this many Metadata answers later.
    pub(crate) fn lag(&self, answers: usize) {
        self.state().lag = answers;
    }

    fn metadata(&self, request: &MetadataRequest) -> MetadataResponse {
        let mut state = self.state();
        let asks_for_none = request.topics.as_ref().is_some_and(Vec::is_empty);
        let shown = if asks_for_none {
            BTreeMap::new()
        } else {
            state.shown()
        };
        let brokers = state
            .broker_ids()
            .into_iter()
            .map(|id| MetadataResponseBroker {
                node_id: id,
                host: self.address.host().to_owned().into(),
                port: self.port().into(),
                ..Default::default()
            });
        let wanted = |name: &str| match &request.topics {
            None => true,
            Some(topics) => topics
                .iter()
                .any(|topic| topic.name.as_deref() == Some(name)),
        };
        let topics = shown.iter().filter(|(name, _)| wanted(name));
        let known = topics.map(|(name, parts)| MetadataResponseTopic {
            name: Some(name.clone().into()),
            partitions: (0..)
                .zip(parts)
                .map(|(index, part)| {
                    let online = state.online(&part.replicas);
                    MetadataResponsePartition {
                        partition_index: index,
                        leader_id: part.leader,
                        leader_epoch: part.epoch,
                        replica_nodes: part.replicas.iter().copied().collect(),
                        isr_nodes: part.isr.iter().copied().collect(),
                        offline_replicas: part
                            .replicas
                            .iter()
                            .copied()
                            .filter(|id| !online.contains(id))
                            .collect(),
                        ..Default::default()
                    }
                })
                .collect(),
            ..Default::default()
        });
        let asked = request
            .topics
            .iter()
            .flatten()
            .filter_map(|topic| topic.name.clone());
        let unknown = asked.filter(|name| !state.topics.contains_key(&**name));
        let unknown = unknown.map(|name| MetadataResponseTopic {
            error_code: ErrorCode::UNKNOWN_TOPIC_OR_PARTITION.0,
            name: Some(name),
            ..Default::default()
        });
        MetadataResponse {
            brokers: brokers.collect(),
            controller_id: state.up[0],
            topics: known.chain(unknown).collect(),
            ..Default::default()
        }
    }

    fn describe_cluster(&self, request: &DescribeClusterRequest) -> DescribeClusterResponse {
        let state = self.state();
        let brokers = state
            .broker_ids()
            .into_iter()
            .map(|id| DescribeClusterBroker {
                broker_id: id,
                host: self.address.host().to_owned().into(),
                port: self.port().into(),
                ..Default::default()
            });
        DescribeClusterResponse {
            endpoint_type: request.endpoint_type,
            controller_id: state.up[0],
            brokers: brokers.collect(),
            ..Default::default()
        }
    }

    fn elect(&self, request: &ElectLeadersRequest) -> ElectLeadersResponse {
        let mut state = self.state();
        state.before = Some(state.topics.clone());
        let asked: Vec<(String, Vec<i32>)> = match &request.topic_partitions {
            Some(topics) => topics
                .iter()
                .map(|topic| (topic.topic.to_string(), topic.partitions.to_vec()))
                .collect(),
            None => state
                .topics
                .iter()
                .map(|(name, parts)| (name.clone(), (0..).zip(parts).map(|(i, _)| i).collect()))
                .collect(),
        };
        let all = request.topic_partitions.is_none();
        let count = asked.iter().map(|(_, partitions)| partitions.len()).sum();
        state.elections.push((!all).then_some(count));
        let mut results = Vec::new();
        for (topic, partitions) in asked {
            let mut partition_result = Vec::new();
            for partition_id in partitions {
                let code = state.elect(request.election_type, &topic, partition_id);
                if all && code == ErrorCode::ELECTION_NOT_NEEDED {
                    continue;
                }
                partition_result.push(PartitionResult {
                    partition_id,
                    error_code: code.0,
                    ..Default::default()
                });
            }
            results.push(ReplicaElectionResult {
                topic: topic.into(),
                partition_result,
                ..Default::default()
            });
        }
        ElectLeadersResponse {
            replica_election_results: results,
            ..Default::default()
        }
    }

    fn topic_partitions(
        &self,
        request: &DescribeTopicPartitionsRequest,
    ) -> DescribeTopicPartitionsResponse {
        let state = self.state();
        let wanted = |name: &str| {
            request.topics.is_empty() || request.topics.iter().any(|topic| *topic.name == *name)
        };
        let topics = state.topics.iter().filter(|(name, _)| wanted(name));
        let topics = topics.map(|(name, parts)| DescribeTopicPartitionsResponseTopic {
            name: Some(name.clone().into()),
            partitions: (0..)
                .zip(parts)
                .map(|(index, part)| DescribeTopicPartitionsResponsePartition {
                    partition_index: index,
                    leader_id: part.leader,
                    leader_epoch: part.epoch,
                    replica_nodes: part.replicas.iter().copied().collect(),
                    isr_nodes: part.isr.iter().copied().collect(),
                    eligible_leader_replicas: Some(part.elr.iter().copied().collect()),
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        });
        DescribeTopicPartitionsResponse {
            topics: topics.collect(),
            ..Default::default()
        }
    }
}
