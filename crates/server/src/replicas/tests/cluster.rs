//! Replicas of several brokers in a process.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use klamm_config::Properties;
use klamm_metadata::{BrokerEpoch, Place, Record};
use klamm_net::TcpConnector;
use klamm_protocol::data::metadata::register_broker_record::BrokerEndpoint;
use klamm_protocol::data::metadata::{
    ConfigRecord, FenceBrokerRecord, PartitionRecord, RegisterBrokerRecord, RemoveTopicRecord,
    TopicRecord,
};
use klamm_protocol::messages::api_versions::{ApiVersion, ApiVersionsRequest, ApiVersionsResponse};
use klamm_protocol::messages::fetch::FetchRequest;
use klamm_protocol::messages::list_offsets::ListOffsetsRequest;
use klamm_protocol::{ApiKey, BrokerId, PartitionIndex, Request, Segments, Uuid, frame};
use tokio::sync::{mpsc, watch};

use super::controller::Controller;
use crate::apis::{Unserved, decode, encode};
use crate::broker::Touched;
use crate::clock::Clock;
use crate::listener::{Bound, Limits, Origin, Service};
use crate::replicas::{LogDir, OpenError, Opening, Question, Replicas};
use crate::settings::BrokerSettings;

/// How long a condition is waited for. It is there after milliseconds, or never.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

pub(super) const TOPIC: &str = "orders";
pub(super) const TOPIC_ID: Uuid = Uuid::from_bytes([7; 16]);
const LISTENER: &str = "PLAINTEXT";

pub(super) fn place(index: i32) -> Place {
    Place {
        topic: TOPIC_ID,
        index: PartitionIndex(index),
    }
}

/// Brokers 1, 2 and so on.
pub(super) struct Cluster {
    pub(super) controller: Controller,
    dirs: Vec<tempfile::TempDir>,
    brokers: Vec<Option<Broker>>,
    properties: String,
}

struct Broker {
    replicas: Replicas,
    closing: watch::Sender<bool>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Cluster {
    /// So many brokers, with properties in their files.
    pub(super) async fn start(count: usize, properties: &str) -> Self {
        let temporary = |_| tempfile::tempdir().unwrap();
        let mut cluster = Self {
            controller: Controller::new(),
            dirs: (0..count).map(temporary).collect(),
            brokers: (0..count).map(|_| None).collect(),
            properties: properties.to_owned(),
        };
        for id in 1..=count {
            cluster.start_broker(id as i32).await;
        }
        cluster
    }

    /// Makes the topic: each partition's replicas, whose first leads.
    pub(super) fn create(&self, partitions: &[&[i32]]) {
        let mut records = vec![Record::from(TopicRecord {
            name: TOPIC.into(),
            topic_id: TOPIC_ID,
            ..TopicRecord::default()
        })];
        for (index, replicas) in (0..).zip(partitions) {
            records.push(
                PartitionRecord {
                    topic_id: TOPIC_ID,
                    partition_id: index,
                    replicas: (*replicas).into(),
                    isr: (*replicas).into(),
                    leader: replicas[0],
                    leader_epoch: 0,
                    partition_epoch: 0,
                    ..PartitionRecord::default()
                }
                .into(),
            );
        }
        self.controller.write(&records);
    }

    pub(super) fn remove_topic(&self) {
        self.controller.write(&[RemoveTopicRecord {
            topic_id: TOPIC_ID,
            ..RemoveTopicRecord::default()
        }
        .into()]);
    }

    /// The broker is known to be gone.
    pub(super) fn fence(&self, id: i32) {
        let image = self.controller.image();
        let broker = image.cluster().broker(BrokerId(id)).unwrap();
        self.controller.write(&[FenceBrokerRecord {
            id,
            epoch: broker.epoch.0,
            ..FenceBrokerRecord::default()
        }
        .into()]);
    }

    pub(super) fn configure(&self, key: &str, value: &str) {
        self.controller.write(&[ConfigRecord {
            resource_type: 2,
            resource_name: TOPIC.into(),
            name: key.into(),
            value: Some(value.into()),
            ..ConfigRecord::default()
        }
        .into()]);
    }

    /// The broker's log directory.
    pub(super) fn dir(&self, id: i32) -> &std::path::Path {
        self.dirs[id as usize - 1].path()
    }

    pub(super) fn replicas(&self, id: i32) -> &Replicas {
        &self.brokers[id as usize - 1].as_ref().unwrap().replicas
    }

    pub(super) async fn start_broker(&mut self, id: i32) {
        let bound = Bound::bind(LISTENER, Some("127.0.0.1"), 0, 50);
        let bound = bound.await.unwrap();
        let (settings, opening, asked) = self.opening(id);
        let replicas = Replicas::open(opening).unwrap();
        let (closing, is_closing) = watch::channel(false);
        let address = bound.address();
        let (told, mut news) = mpsc::unbounded_channel();
        let epoch = {
            let mut inner = self.controller.inner();
            told.send((inner.published(), Touched::All)).unwrap();
            inner.brokers.retain(|(other, _)| *other != id);
            inner.brokers.push((id, told));
            inner.end
        };
        self.controller.write(&[register(id, epoch, address)]);
        replicas.set_broker_epoch(BrokerEpoch(epoch));
        let publish = {
            let replicas = replicas.clone();
            let mut closing = closing.subscribe();
            async move {
                loop {
                    let next = tokio::select! {
                        _ = closing.wait_for(|closing| *closing) => None,
                        next = news.recv() => next,
                    };
                    let Some((published, touched)) = next else {
                        return;
                    };
                    replicas.publish(&published, &touched).await;
                }
            }
        };
        let service = Serving(replicas.clone());
        let connections = Arc::new(settings.connections);
        let limits = Limits::new(&connections);
        let tasks = vec![
            tokio::spawn(self.controller.clone().answer(asked)),
            tokio::spawn(publish),
            tokio::spawn(bound.serve(limits, service, connections, is_closing)),
        ];
        self.brokers[id as usize - 1] = Some(Broker {
            replicas,
            closing,
            tasks,
        });
    }

    /// Opens a broker's replicas, and nothing more of it.
    pub(super) fn open_broker(&self, id: i32) -> Result<Replicas, OpenError> {
        Replicas::open(self.opening(id).1)
    }

    fn opening(&self, id: i32) -> (BrokerSettings, Opening, mpsc::Receiver<Question>) {
        let text = format!(
            "node.id={id}\nprocess.roles=broker\nlisteners={LISTENER}://127.0.0.1:9092\n\
             controller.listener.names=CONTROLLER\n\
             controller.quorum.bootstrap.servers=127.0.0.1:9093\n\
             log.dirs={}\n{}\n",
            self.dir(id).display(),
            self.properties
        );
        let properties = Properties::parse("server.properties", &text).unwrap();
        let settings = BrokerSettings::read(&properties).unwrap().0;
        let (questions, asked) = mpsc::channel(16);
        let opening = Opening {
            broker: BrokerId(id),
            settings: settings.replicas.clone(),
            inter_broker_listener: LISTENER.to_owned(),
            dirs: vec![LogDir::open(self.dir(id), Uuid::from_bytes([id as u8; 16])).unwrap()],
            unusable: Vec::new(),
            clock: Clock::start(),
            questions,
            connector: Arc::new(TcpConnector::default()),
        };
        (settings, opening, asked)
    }

    fn take(&mut self, id: i32) -> Broker {
        let broker = self.brokers[id as usize - 1].take().unwrap();
        self.controller
            .inner()
            .brokers
            .retain(|(other, _)| *other != id);
        broker.closing.send(true).unwrap();
        for task in &broker.tasks {
            task.abort();
        }
        broker
    }

    /// Closes a broker.
    pub(super) async fn stop(&mut self, id: i32) {
        let broker = self.take(id);
        broker.replicas.close().await;
    }

    /// Ends a broker as `kill -9` does: nothing of it is done any more.
    pub(super) async fn kill(&mut self, id: i32) {
        let broker = self.take(id);
        broker.replicas.kill().await;
    }

    /// The bytes of a partition's segments.
    pub(super) fn log_bytes(&self, id: i32, index: i32) -> Vec<u8> {
        let dir = self.dir(id).join(format!("{TOPIC}-{index}"));
        let mut names: Vec<_> = std::fs::read_dir(&dir)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ext| ext == "log"))
            .collect();
        names.sort();
        names
            .iter()
            .flat_map(|path| std::fs::read(path).unwrap())
            .collect()
    }

    /// Waits until a broker has taken over what the metadata says of a partition.
    pub(super) async fn hosts(&self, id: i32, index: i32) {
        let until = || {
            let image = self.controller.image();
            let wanted = image.topics().partition(place(index))?.partition_epoch();
            let shared = &self.replicas(id).0;
            let hosted = shared.hosted(place(index))?;
            let known = shared.with(&hosted, &shared.moment(), |state| {
                Ok(state.replica.partition_epoch())
            });
            (known.ok()? >= wanted).then_some(())
        };
        eventually("the metadata is known", until).await;
    }
}

/// Waits until something is there.
pub(super) async fn eventually<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(
            tokio::time::Instant::now() < deadline,
            "not in time: {what}"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn register(id: i32, epoch: i64, address: SocketAddr) -> Record {
    Record::from(RegisterBrokerRecord {
        broker_id: id,
        broker_epoch: epoch,
        incarnation_id: Uuid::from_bytes([epoch as u8 + 1; 16]),
        end_points: vec![BrokerEndpoint {
            name: LISTENER.into(),
            host: address.ip().to_string().into(),
            port: address.port(),
            ..BrokerEndpoint::default()
        }],
        fenced: false,
        ..RegisterBrokerRecord::default()
    })
}

/// What followers ask of leaders, and no more.
#[derive(Clone)]
struct Serving(Replicas);

impl Service for Serving {
    async fn serve(&self, _: Origin, frame: Bytes) -> Result<Option<Segments>, Unserved> {
        let api = frame::peek_request(&frame).map_err(Unserved::NoHeader)?;
        let version = api.version;
        Ok(Some(match api.key {
            ApiKey::API_VERSIONS => {
                let (header, _) = decode::<ApiVersionsRequest>(&frame)?;
                encode::<ApiVersionsRequest>(&header, &versions())?
            }
            ApiKey::FETCH => {
                let (header, request) = decode::<FetchRequest>(&frame)?;
                let response = self.0.fetch(request, version, LISTENER).await;
                encode::<FetchRequest>(&header, &response)?
            }
            ApiKey::LIST_OFFSETS => {
                let (header, request) = decode::<ListOffsetsRequest>(&frame)?;
                let response = self.0.list_offsets(request, version).await;
                encode::<ListOffsetsRequest>(&header, &response)?
            }
            _ => return Err(Unserved::Unknown(api)),
        }))
    }

    fn closed(&self, _: &Origin) {}
}

fn versions() -> ApiVersionsResponse {
    let offered = |key: ApiKey, range: klamm_protocol::VersionRange| ApiVersion {
        api_key: key.0,
        min_version: range.min,
        max_version: range.max,
        ..ApiVersion::default()
    };
    ApiVersionsResponse {
        api_keys: vec![
            offered(ApiKey::FETCH, FetchRequest::STABLE),
            offered(ApiKey::LIST_OFFSETS, ListOffsetsRequest::STABLE),
            offered(ApiKey::API_VERSIONS, ApiVersionsRequest::STABLE),
        ],
        ..ApiVersionsResponse::default()
    }
}
