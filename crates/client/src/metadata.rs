use std::collections::BTreeMap;

use klamm_net::ServerAddress;
use klamm_protocol::messages::describe_cluster::DescribeClusterRequest;
use klamm_protocol::messages::metadata::{MetadataRequest, MetadataResponse};
use klamm_protocol::{BrokerId, VersionRange};
use tokio::time::Instant;

use crate::api::ClientRequest;
use crate::pool::Peer;
use crate::{Bootstrap, ClientError};

/// DescribeCluster's endpoint type of controllers (KIP-919).
pub(crate) const CONTROLLER_ENDPOINTS: i8 = 2;

/// The versions of Metadata that name the controller. Version 0 also takes an empty list for all
/// topics.
pub(crate) const NAMES_CONTROLLER: VersionRange = VersionRange::new(1, i16::MAX);

/// The nodes that calls go to, as one of them told.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    /// Who told.
    pub(crate) server: ServerAddress,
    /// The node that takes calls for the controller: the active controller itself, or the broker
    /// that the server names in its place.
    pub(crate) controller: Option<BrokerId>,
    /// The brokers, or the controllers where the bootstrap list names controllers.
    pub(crate) nodes: BTreeMap<BrokerId, ServerAddress>,
}

impl Cluster {
    /// Asks a server for the nodes.
    pub(crate) async fn ask(
        peer: &Peer,
        bootstrap: &Bootstrap,
        at: Instant,
    ) -> Result<Self, ClientError> {
        match bootstrap {
            Bootstrap::Brokers(_) => Self::ask_broker(peer, at).await,
            Bootstrap::Controllers(_) => Self::ask_controller(peer, at).await,
        }
    }

    async fn ask_broker(peer: &Peer, at: Instant) -> Result<Self, ClientError> {
        let version = peer.choose::<MetadataRequest>(NAMES_CONTROLLER, None)?;
        let request = no_topics(version);
        let pause = move |response: &_| MetadataRequest::pause(version, response);
        let response = peer.connection.call(version, &request, at, pause).await?;
        let server = peer.connection.server();
        ClientError::check::<MetadataRequest>(server, response.error_code, None)?;
        Ok(Self::told(server, &response))
    }

    /// What a server's metadata says, in a version of [`NAMES_CONTROLLER`].
    pub(crate) fn told(server: &ServerAddress, response: &MetadataResponse) -> Self {
        let nodes = response.brokers.iter();
        Self {
            server: server.clone(),
            controller: BrokerId(response.controller_id).known(),
            nodes: nodes
                .filter_map(|node| address(node.node_id, &node.host, node.port))
                .collect(),
        }
    }

    async fn ask_controller(peer: &Peer, at: Instant) -> Result<Self, ClientError> {
        let needed = VersionRange::new(1, i16::MAX);
        let reason = Some("finding the active controller");
        let version = peer.choose::<DescribeClusterRequest>(needed, reason)?;
        let request = DescribeClusterRequest {
            endpoint_type: CONTROLLER_ENDPOINTS,
            ..Default::default()
        };
        let pause = move |response: &_| DescribeClusterRequest::pause(version, response);
        let response = peer.connection.call(version, &request, at, pause).await?;
        let server = peer.connection.server();
        ClientError::check::<DescribeClusterRequest>(
            server,
            response.error_code,
            response.error_message,
        )?;
        let nodes = response.brokers.into_iter();
        Ok(Self {
            server: server.clone(),
            controller: BrokerId(response.controller_id).known(),
            nodes: nodes
                .filter_map(|node| address(node.broker_id, &node.host, node.port))
                .collect(),
        })
    }

    /// The address of the node that takes calls for the controller, where there is one.
    pub(crate) fn controller(&self) -> Option<&ServerAddress> {
        self.nodes.get(&self.controller?)
    }
}

/// A request for the brokers without any topic.
pub(crate) fn no_topics(version: i16) -> MetadataRequest {
    MetadataRequest {
        topics: Some(Vec::new()),
        // Older versions always create topics that are asked for by name; here none is.
        allow_auto_topic_creation: version < 4,
        ..Default::default()
    }
}

/// A node with the address it advertises, unless it is none that can be connected to.
pub(crate) fn address(node: i32, host: &str, port: i32) -> Option<(BrokerId, ServerAddress)> {
    let port = u16::try_from(port).ok().filter(|port| *port > 0)?;
    Some((BrokerId(node), ServerAddress::new(host, port)))
}
