use klamm_metadata::{Feature, MetadataVersion};
use klamm_protocol::messages::broker_heartbeat::{BrokerHeartbeatRequest, BrokerHeartbeatResponse};
use klamm_protocol::messages::broker_registration::{
    BrokerRegistrationRequest, BrokerRegistrationResponse, Feature as FeatureRange, Listener,
};
use klamm_protocol::{ErrorCode, Uuid};

use super::{CLUSTER, Client, Controller, Follower};

/// A broker that does what a test says.
pub(crate) struct Broker {
    pub(crate) id: i32,
    pub(crate) epoch: i64,
    incarnation: Uuid,
    /// Its connection for heartbeats.
    heartbeats: Client,
    /// Its replica of the metadata log.
    pub(crate) follower: Follower,
}

impl Broker {
    /// A broker that has just begun to run, and is not registered.
    pub(crate) async fn new(controller: &Controller, id: i32, run: u8) -> Self {
        let mut incarnation = [run; 16];
        incarnation[0] = id as u8;
        Self {
            id,
            epoch: -1,
            incarnation: Uuid::from_bytes(incarnation),
            heartbeats: controller.connect().await,
            follower: Follower::new(controller, id).await,
        }
    }

    /// A broker in service.
    pub(crate) async fn started(controller: &Controller, id: i32) -> Self {
        let mut broker = Self::new(controller, id, 1).await;
        broker.register().await;
        broker.unfence().await;
        broker
    }

    /// Goes on with other connections, to the controller that runs now.
    pub(crate) async fn reconnect(&mut self, controller: &Controller) {
        self.heartbeats = controller.connect().await;
        self.follower.reconnect(controller).await;
    }

    /// Its replica of the log alone: the connection for heartbeats is closed.
    pub(crate) fn into_follower(self) -> Follower {
        self.follower
    }

    pub(crate) async fn try_register(&mut self) -> BrokerRegistrationResponse {
        let features = Feature::ALL.iter();
        let features = features.map(|feature| (feature.name, 0, feature.max_level()));
        let versions = (
            MetadataVersion::FEATURE,
            MetadataVersion::MINIMUM.level(),
            MetadataVersion::LATEST_PRODUCTION.level(),
        );
        let request = BrokerRegistrationRequest {
            broker_id: self.id,
            cluster_id: CLUSTER.into(),
            incarnation_id: self.incarnation,
            listeners: vec![Listener {
                name: "PLAINTEXT".into(),
                host: "127.0.0.1".into(),
                port: 9092,
                ..Listener::default()
            }],
            features: features
                .chain([versions])
                .map(|(name, min, max)| FeatureRange {
                    name: name.into(),
                    min_supported_version: min,
                    max_supported_version: max,
                    ..FeatureRange::default()
                })
                .collect(),
            log_dirs: vec![Uuid::from_bytes([0x70 + self.id as u8; 16])],
            previous_broker_epoch: self.epoch,
            ..BrokerRegistrationRequest::default()
        };
        self.heartbeats.ask(&request).await
    }

    pub(crate) async fn register(&mut self) {
        let response = self.try_register().await;
        assert_eq!(ErrorCode(response.error_code), ErrorCode::NONE);
        self.epoch = response.broker_epoch;
    }

    pub(crate) async fn heartbeat(&mut self) -> BrokerHeartbeatResponse {
        self.heartbeat_with(|_| ()).await
    }

    pub(crate) async fn heartbeat_with(
        &mut self,
        change: impl FnOnce(&mut BrokerHeartbeatRequest),
    ) -> BrokerHeartbeatResponse {
        let mut request = BrokerHeartbeatRequest {
            broker_id: self.id,
            broker_epoch: self.epoch,
            current_metadata_offset: self.follower.applied(),
            want_fence: false,
            want_shut_down: false,
            ..BrokerHeartbeatRequest::default()
        };
        change(&mut request);
        let response = self.heartbeats.ask(&request).await;
        assert_eq!(ErrorCode(response.error_code), ErrorCode::NONE);
        response
    }

    /// Follows the log and sends heartbeats until it is in service.
    pub(crate) async fn unfence(&mut self) {
        while self.heartbeat().await.is_fenced {
            self.follower.fetch(100).await;
        }
    }
}
