use std::time::Duration;

use klamm_net::ServerAddress;
use klamm_protocol::messages::describe_cluster::{DescribeClusterRequest, DescribeClusterResponse};
use klamm_protocol::messages::metadata::{MetadataRequest, MetadataResponse};
use klamm_protocol::{BrokerId, SmallString};

use super::Admin;
use crate::call::{Call, Effect, Verdict};
use crate::client::Route;
use crate::metadata::{CONTROLLER_ENDPOINTS, NAMES_CONTROLLER, no_topics};
use crate::retry::Deadline;
use crate::{Bootstrap, ClientError, ServerVersions};

/// Options of [`Admin::describe_cluster`].
#[derive(Clone, Debug, Default)]
pub struct DescribeClusterOptions {
    /// How long the call may take, `default_api_timeout` if `None`.
    pub timeout: Option<Duration>,
    /// Whether fenced brokers are listed, too, where the server can (Kafka 4.0 and later).
    pub include_fenced: bool,
}

/// A cluster and its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterDescription {
    /// The cluster's id, where the server tells it.
    pub cluster_id: Option<SmallString>,
    /// The controller: the active one where controllers were asked, else the broker that takes
    /// calls for it.
    pub controller: Option<BrokerId>,
    /// The brokers, or the controllers where those were asked, in order of their ids.
    pub brokers: Vec<BrokerDescription>,
}

/// A node and how it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerDescription {
    /// The node's id.
    pub id: BrokerId,
    /// The host name or IP address it advertises.
    pub host: SmallString,
    /// The port it advertises.
    pub port: i32,
    /// Its rack, where it has one.
    pub rack: Option<SmallString>,
    /// Whether it is fenced; `None` where the server does not tell.
    pub fenced: Option<bool>,
}

/// Options of [`Admin::api_versions`].
#[derive(Clone, Debug, Default)]
pub struct ApiVersionsOptions {
    /// How long the call may take, `default_api_timeout` if `None`.
    pub timeout: Option<Duration>,
    /// The node to ask; `None` asks any.
    pub node: Option<BrokerId>,
}

impl Admin {
    /// Describes the cluster: its id, controller and nodes.
    pub async fn describe_cluster(
        &self,
        options: DescribeClusterOptions,
    ) -> Result<ClusterDescription, ClientError> {
        let deadline = self.deadline(options.timeout);
        match self.client.config().bootstrap {
            Bootstrap::Controllers(_) => self.describe_nodes(&options, true, deadline).await,
            Bootstrap::Brokers(_) => match self.describe_nodes(&options, false, deadline).await {
                // Brokers before Kafka 2.8 say the same in Metadata.
                Err(ClientError::Unsupported { offered, .. }) if offered.is_empty() => {
                    self.describe_by_metadata(deadline).await
                }
                result => result,
            },
        }
    }

    /// The API versions and features that a server offers.
    pub async fn api_versions(
        &self,
        options: ApiVersionsOptions,
    ) -> Result<ServerVersions, ClientError> {
        let deadline = self.deadline(options.timeout);
        let route = options.node.map_or(Route::Any, Route::Node);
        let peer = self.client.peer(route, &mut Vec::new(), &deadline).await?;
        Ok(peer.versions.clone())
    }

    async fn describe_nodes(
        &self,
        options: &DescribeClusterOptions,
        controllers: bool,
        deadline: Deadline,
    ) -> Result<ClusterDescription, ClientError> {
        let mut call = Call::new(Route::Any, Effect::Read, deadline);
        if controllers {
            call = call.needing(1, "asking controllers");
        }
        let answer = call
            .make(
                &self.client,
                |version, _timeout_ms| {
                    let mut request = DescribeClusterRequest {
                        include_fenced_brokers: version >= 2 && options.include_fenced,
                        ..Default::default()
                    };
                    if controllers {
                        request.endpoint_type = CONTROLLER_ENDPOINTS;
                    }
                    request
                },
                |_version, response| Verdict::of(response.error_code),
            )
            .await?;
        let response = answer.response;
        let message = response.error_message.clone();
        ClientError::check::<DescribeClusterRequest>(&answer.server, response.error_code, message)?;
        Ok(from_cluster(response, answer.version))
    }

    async fn describe_by_metadata(
        &self,
        deadline: Deadline,
    ) -> Result<ClusterDescription, ClientError> {
        let call = Call::new(Route::Any, Effect::Read, deadline)
            .needing(NAMES_CONTROLLER.min, "naming the controller");
        let answer = call
            .make(
                &self.client,
                |version, _timeout_ms| no_topics(version),
                |_version, response| Verdict::of(response.error_code),
            )
            .await?;
        let response = answer.response;
        ClientError::check::<MetadataRequest>(&answer.server, response.error_code, None)?;
        Ok(response.into())
    }
}

fn from_cluster(response: DescribeClusterResponse, version: i16) -> ClusterDescription {
    let brokers = response
        .brokers
        .into_iter()
        .map(|broker| BrokerDescription {
            id: BrokerId(broker.broker_id),
            host: broker.host,
            port: broker.port,
            rack: broker.rack,
            fenced: (version >= 2).then_some(broker.is_fenced),
        });
    ClusterDescription {
        cluster_id: Some(response.cluster_id),
        controller: BrokerId(response.controller_id).known(),
        brokers: in_order(brokers.collect()),
    }
}

impl From<MetadataResponse> for ClusterDescription {
    fn from(response: MetadataResponse) -> Self {
        let brokers = response
            .brokers
            .into_iter()
            .map(|broker| BrokerDescription {
                id: BrokerId(broker.node_id),
                host: broker.host,
                port: broker.port,
                rack: broker.rack,
                fenced: None,
            });
        Self {
            cluster_id: response.cluster_id,
            controller: BrokerId(response.controller_id).known(),
            brokers: in_order(brokers.collect()),
        }
    }
}

fn in_order(mut brokers: Vec<BrokerDescription>) -> Vec<BrokerDescription> {
    brokers.sort_by_key(|broker| broker.id);
    brokers
}

impl BrokerDescription {
    /// The address it advertises, unless it is none that can be connected to.
    pub fn address(&self) -> Option<ServerAddress> {
        let port = u16::try_from(self.port).ok()?;
        Some(ServerAddress::new(&*self.host, port))
    }
}
