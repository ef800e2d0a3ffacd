//! Brokers that follow a script: they register, send heartbeats and follow the metadata log, and keep
//! nothing of it, so that the time measured is the controller's.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use klamm_metadata::{Feature, MetadataVersion};
use klamm_net::ServerAddress;
use klamm_protocol::Uuid;
use klamm_protocol::messages::broker_heartbeat::{BrokerHeartbeatRequest, BrokerHeartbeatResponse};
use klamm_protocol::messages::broker_registration::{
    BrokerRegistrationRequest, Feature as FeatureRange, Listener,
};
use klamm_protocol::messages::fetch::{FetchPartition, FetchRequest, FetchTopic, ReplicaState};
use klamm_protocol::records::{Batch, Batches};
use klamm_raft::METADATA_TOPIC_ID;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::server::CLUSTER;
use bench_common::{Client, check};

/// `broker.heartbeat.interval.ms`, by default.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(2);
/// Between heartbeats of a broker that is not in service yet.
const FIRST_INTERVAL: Duration = Duration::from_millis(10);
/// How long a Fetch waits, as Apache Kafka's brokers have it.
const MAX_WAIT_MS: i32 = 500;

/// A broker in service.
#[derive(Debug)]
pub(crate) struct Broker {
    tasks: Vec<JoinHandle<()>>,
}

impl Broker {
    /// Registers, and goes on by itself as soon as it is in service.
    pub(crate) async fn start(server: &ServerAddress, id: i32) -> Result<Self, String> {
        let client = Client::connect(server).await?;
        let epoch = register(&client, id).await?;
        let applied = Arc::new(AtomicI64::new(-1));
        let follower = Follower {
            client: Client::connect(server).await?,
            id,
            epoch: 0,
            last_epoch: 0,
            end: 0,
            committed: -1,
            applied: Arc::clone(&applied),
        };
        let mut tasks = vec![tokio::spawn(follower.follow())];
        let beat = Heartbeats {
            client,
            id,
            epoch,
            applied,
        };
        while beat.send().await?.is_fenced {
            sleep(FIRST_INTERVAL).await;
        }
        tasks.push(tokio::spawn(beat.go_on()));
        Ok(Self { tasks })
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

async fn register(client: &Client, id: i32) -> Result<i64, String> {
    let features = Feature::ALL.iter();
    let features = features.map(|feature| (feature.name, 0, feature.max_level()));
    let versions = (
        MetadataVersion::FEATURE,
        MetadataVersion::MINIMUM.level(),
        MetadataVersion::LATEST_PRODUCTION.level(),
    );
    let range = |(name, min, max): (&str, i16, i16)| FeatureRange {
        name: name.into(),
        min_supported_version: min,
        max_supported_version: max,
        ..FeatureRange::default()
    };
    let request = BrokerRegistrationRequest {
        broker_id: id,
        cluster_id: CLUSTER.into(),
        incarnation_id: Uuid::from_bytes([0x40 + id as u8; 16]),
        listeners: vec![Listener {
            name: "PLAINTEXT".into(),
            host: "127.0.0.1".into(),
            port: 9092,
            ..Listener::default()
        }],
        features: features.chain([versions]).map(range).collect(),
        log_dirs: vec![Uuid::from_bytes([0x70 + id as u8; 16])],
        previous_broker_epoch: -1,
        ..BrokerRegistrationRequest::default()
    };
    let response = client.ask(&request).await?;
    check("BrokerRegistration", response.error_code, None)?;
    Ok(response.broker_epoch)
}

struct Heartbeats {
    client: Client,
    id: i32,
    epoch: i64,
    applied: Arc<AtomicI64>,
}

impl Heartbeats {
    async fn send(&self) -> Result<BrokerHeartbeatResponse, String> {
        let request = BrokerHeartbeatRequest {
            broker_id: self.id,
            broker_epoch: self.epoch,
            current_metadata_offset: self.applied.load(Ordering::Relaxed),
            want_fence: false,
            want_shut_down: false,
            ..BrokerHeartbeatRequest::default()
        };
        let response = self.client.ask(&request).await?;
        check("BrokerHeartbeat", response.error_code, None)?;
        Ok(response)
    }

    /// Until the controller is gone.
    async fn go_on(self) {
        while self.send().await.is_ok() {
            sleep(HEARTBEAT_INTERVAL).await;
        }
    }
}

struct Follower {
    client: Client,
    id: i32,
    epoch: i32,
    last_epoch: i32,
    end: i64,
    committed: i64,
    applied: Arc<AtomicI64>,
}

impl Follower {
    /// Until the controller is gone. If that is against the plan, what is measured fails by itself.
    async fn follow(mut self) {
        while self.fetch().await.is_ok() {}
    }

    async fn fetch(&mut self) -> Result<(), String> {
        let request = FetchRequest {
            cluster_id: Some(CLUSTER.into()),
            replica_state: ReplicaState {
                replica_id: self.id,
                ..ReplicaState::default()
            },
            max_wait_ms: MAX_WAIT_MS,
            max_bytes: 8 << 20,
            topics: vec![FetchTopic {
                topic_id: METADATA_TOPIC_ID,
                partitions: vec![FetchPartition {
                    current_leader_epoch: self.epoch,
                    fetch_offset: self.end,
                    last_fetched_epoch: self.last_epoch,
                    replica_directory_id: Uuid::from_bytes([0x70 + self.id as u8; 16]),
                    high_watermark: self.committed,
                    ..FetchPartition::default()
                }],
                ..FetchTopic::default()
            }],
            ..FetchRequest::default()
        };
        let response = self.client.ask(&request).await?;
        check("Fetch", response.error_code, None)?;
        let topic = response.responses.into_iter().next();
        let partition = topic.and_then(|topic| topic.partitions.into_iter().next());
        let partition = partition.ok_or("Fetch: an answer without the metadata log")?;
        if partition.current_leader.leader_epoch > self.epoch {
            self.epoch = partition.current_leader.leader_epoch;
        }
        if partition.snapshot_id.end_offset >= 0 {
            return Err("Fetch: the log begins with a snapshot".into());
        }
        if partition.error_code != 0 {
            // The epoch is known now.
            return Ok(());
        }
        for batch in Batches::new(partition.records.unwrap_or_default()) {
            let Ok(Batch::V2(batch)) = batch else {
                return Err("Fetch: what came is no batch".into());
            };
            self.end = batch.header().last_offset().0 + 1;
            self.last_epoch = batch.header().partition_leader_epoch.0;
        }
        self.committed = self.committed.max(partition.high_watermark);
        let applied = self.committed.min(self.end) - 1;
        self.applied.store(applied, Ordering::Relaxed);
        Ok(())
    }
}
