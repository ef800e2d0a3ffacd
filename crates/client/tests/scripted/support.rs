//! A scripted cluster.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use klamm_client::{
    Admin, ApiKey, Bootstrap, BrokerId, ClientConfig, ClientError, ElectLeadersOptions,
    ElectLeadersResult, ElectionScope, ElectionType, ErrorCode, ServerAddress, TopicPartition,
    VersionRange,
};
use klamm_net::testing::{FakeNetwork, FakeServer, Reply};
use klamm_protocol::messages::elect_leaders::{
    ElectLeadersRequest, ElectLeadersResponse, PartitionResult, ReplicaElectionResult,
};
use klamm_protocol::messages::metadata::{
    MetadataRequest, MetadataResponse, MetadataResponseBroker, MetadataResponsePartition,
    MetadataResponseTopic,
};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// Brokers 1 to n at broker-1:9092 and so on. All know the same metadata.
#[derive(Clone)]
pub(crate) struct Cluster {
    pub(crate) network: FakeNetwork,
    pub(crate) brokers: Vec<FakeServer>,
    metadata: Arc<Mutex<MetadataResponse>>,
}

impl Cluster {
    /// A cluster whose brokers offer all that klamm knows.
    pub(crate) fn new(brokers: i32) -> Self {
        Self::offering(brokers, &modern())
    }

    pub(crate) fn offering(brokers: i32, offers: &[(ApiKey, VersionRange)]) -> Self {
        let nodes = (1..=brokers).map(|node_id| MetadataResponseBroker {
            node_id,
            host: format!("broker-{node_id}").into(),
            port: 9092,
            ..Default::default()
        });
        let metadata = MetadataResponse {
            brokers: nodes.collect(),
            controller_id: 1,
            cluster_id: Some("cluster".into()),
            ..Default::default()
        };
        let metadata = Arc::new(Mutex::new(metadata));
        let network = FakeNetwork::new();
        let servers = (1..=brokers).map(|id| {
            let server = FakeServer::offering(offers);
            let known = metadata.clone();
            server.on(move |_version, request: MetadataRequest| {
                let mut answer = known.lock().unwrap().clone();
                if let Some(topics) = request.topics {
                    answer
                        .topics
                        .retain(|known| topics.iter().any(|topic| topic.name == known.name));
                }
                Reply::Answer(answer)
            });
            network.add(&broker(id), &server);
            server
        });
        let brokers = servers.collect();
        Self {
            network,
            brokers,
            metadata,
        }
    }

    /// Broker `id`, from 1.
    pub(crate) fn broker(&self, id: usize) -> &FakeServer {
        &self.brokers[id - 1]
    }

    pub(crate) fn metadata(&self) -> MutexGuard<'_, MetadataResponse> {
        self.metadata.lock().unwrap()
    }

    /// Adds a topic whose partitions have these leaders, and replicas 1 and 2.
    pub(crate) fn add_topic(&self, name: &str, leaders: impl IntoIterator<Item = i32>) {
        let partitions =
            (0..)
                .zip(leaders)
                .map(|(partition_index, leader_id)| MetadataResponsePartition {
                    partition_index,
                    leader_id,
                    replica_nodes: [1, 2].into_iter().collect(),
                    isr_nodes: [1, 2].into_iter().collect(),
                    ..Default::default()
                });
        let topic = MetadataResponseTopic {
            name: Some(name.into()),
            partitions: partitions.collect(),
            ..Default::default()
        };
        self.metadata().topics.push(topic);
    }

    /// A client whose only bootstrap server is broker 1.
    pub(crate) async fn admin(&self) -> Admin {
        self.admin_with(|_| {}).await
    }

    pub(crate) async fn admin_with(&self, change: impl FnOnce(&mut ClientConfig)) -> Admin {
        let mut config = ClientConfig::new(Bootstrap::Brokers(vec![broker(1)]));
        change(&mut config);
        Admin::connect_with(config, Arc::new(self.network.clone()))
            .await
            .unwrap()
    }
}

pub(crate) fn broker(id: i32) -> ServerAddress {
    ServerAddress::new(format!("broker-{id}"), 9092)
}

/// Every API in its stable versions.
pub(crate) fn modern() -> Vec<(ApiKey, VersionRange)> {
    ApiKey::all()
        .map(|api| (api, api.stable_versions()))
        .filter(|(api, versions)| *api != ApiKey::API_VERSIONS && !versions.is_empty())
        .collect()
}

/// Like [`modern`], with other versions of one API; none where the range is empty.
pub(crate) fn modern_but(api: ApiKey, versions: VersionRange) -> Vec<(ApiKey, VersionRange)> {
    let mut offers = modern();
    offers.retain(|(key, _)| *key != api);
    if !versions.is_empty() {
        offers.push((api, versions));
    }
    offers
}

pub(crate) fn partition(topic: &str, index: i32) -> TopicPartition {
    TopicPartition::new(topic, index)
}

/// An answer with a code for each partition.
pub(crate) fn elected<'a>(
    results: impl IntoIterator<Item = (&'a str, i32, ErrorCode)>,
) -> ElectLeadersResponse {
    let mut response = ElectLeadersResponse::default();
    for (topic, partition_id, code) in results {
        let result = PartitionResult {
            partition_id,
            error_code: code.0,
            ..Default::default()
        };
        let topics = &mut response.replica_election_results;
        match topics.last_mut() {
            Some(last) if last.topic == topic => last.partition_result.push(result),
            _ => topics.push(ReplicaElectionResult {
                topic: topic.into(),
                partition_result: vec![result],
                ..Default::default()
            }),
        }
    }
    response
}

/// An answer with a code for the whole.
pub(crate) fn refused(code: ErrorCode) -> ElectLeadersResponse {
    ElectLeadersResponse {
        error_code: code.0,
        ..Default::default()
    }
}

/// The partitions that a request names.
pub(crate) fn asked(request: &ElectLeadersRequest) -> Option<Vec<TopicPartition>> {
    let topics = request.topic_partitions.as_ref()?;
    let partitions = topics.iter().flat_map(|topic| {
        let indexes = topic.partitions.iter();
        indexes.map(|index| TopicPartition::new(topic.topic.clone(), *index))
    });
    Some(partitions.collect())
}

pub(crate) fn elect(admin: &Admin, partitions: &[(&str, i32)]) -> ElectLeadersResult {
    let partitions = partitions
        .iter()
        .map(|(topic, index)| partition(topic, *index))
        .collect();
    admin.elect_leaders(
        ElectionType::Preferred,
        ElectionScope::Partitions(partitions),
        ElectLeadersOptions::default(),
    )
}

pub(crate) fn elect_all(admin: &Admin, election: ElectionType) -> ElectLeadersResult {
    admin.elect_leaders(election, ElectionScope::All, ElectLeadersOptions::default())
}

/// A line for each partition of a result, or the error's text.
pub(crate) async fn outcome(result: &ElectLeadersResult) -> String {
    match result.partitions().await {
        Err(error) => error.to_string(),
        Ok(results) => {
            let line = |(partition, result)| match result {
                Ok(()) => format!("{partition}: elected\n"),
                Err(error) => format!("{partition}: {error}\n"),
            };
            results.into_iter().map(line).collect()
        }
    }
}

pub(crate) fn ids(ids: &[i32]) -> Vec<BrokerId> {
    ids.iter().copied().map(BrokerId).collect()
}

pub(crate) async fn connect(network: &FakeNetwork, list: &str) -> Result<Admin, ClientError> {
    let servers = ServerAddress::parse_list(list).unwrap();
    let config = ClientConfig::new(Bootstrap::Brokers(servers));
    Admin::connect_with(config, Arc::new(network.clone())).await
}

pub(crate) async fn connect_to_controllers(
    network: &FakeNetwork,
    list: &str,
) -> Result<Admin, ClientError> {
    let servers = ServerAddress::parse_list(list).unwrap();
    let config = ClientConfig::new(Bootstrap::Controllers(servers));
    Admin::connect_with(config, Arc::new(network.clone())).await
}

/// A text without when and after how many tries a call ended, which is up to chance.
pub(crate) fn without_tries(text: &str) -> String {
    let (before, rest) = text.split_once("gave up after").unwrap_or((text, ""));
    let (_, after) = rest.split_once(" tries").unwrap_or(("", rest));
    format!("{before}gave up{after}")
}
