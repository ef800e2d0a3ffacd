mod cluster;
mod configs;
mod elect_leaders;
mod reassignments;
mod topic_changes;
mod topic_partitions;
mod topics;

use std::sync::Arc;
use std::time::Duration;

use klamm_net::{Connector, TcpConnector};

pub use cluster::{
    ApiVersionsOptions, BrokerDescription, ClusterDescription, DescribeClusterOptions,
};
pub use configs::{
    AlterConfigsOptions, ConfigChange, ConfigEntry, ConfigOperation, ConfigResource,
    ConfigResourceKind, ConfigSource, ConfigSynonym, DescribeConfigsOptions,
};
pub use elect_leaders::{
    ElectLeadersError, ElectLeadersOptions, ElectLeadersResult, ElectionScope, ElectionType,
    MAX_ELECTIONS_PER_REQUEST,
};
pub use reassignments::{AlterReassignmentsOptions, ListReassignmentsOptions, OngoingReassignment};
pub use topic_changes::{
    CreatePartitionsOptions, CreateTopicsOptions, CreatedTopic, DeleteTopicsOptions, NewPartitions,
    NewTopic, Placement,
};
pub use topic_partitions::DescribeTopicPartitionsOptions;
pub use topics::{
    ClusterMetadata, DescribeTopicsOptions, PartitionDescription, TopicDescription, TopicSelection,
};

pub(crate) use topics::metadata;

use crate::client::Client;
use crate::retry::Deadline;
use crate::{ClientConfig, ClientError};

/// Calls that look at a cluster or change it. Clones share connections.
///
/// A call fails as a whole with a [`ClientError`]; where a server answers for each topic,
/// partition or resource, the call's result has one result each.
#[derive(Clone)]
pub struct Admin {
    client: Client,
}

impl Admin {
    /// Connects over TCP to the first server of the bootstrap list, in random order, that works.
    /// The list is gone through a few times at most, within `default_api_timeout`; the error then
    /// names each server with what happened there.
    pub async fn connect(config: ClientConfig) -> Result<Self, ClientError> {
        let connector = TcpConnector {
            timeout: config.connect_timeout,
        };
        Self::connect_with(config, Arc::new(connector)).await
    }

    /// Like [`Admin::connect`], with another way to reach servers.
    pub async fn connect_with(
        config: ClientConfig,
        connector: Arc<dyn Connector>,
    ) -> Result<Self, ClientError> {
        Ok(Self {
            client: Client::connect(config, connector).await?,
        })
    }

    fn deadline(&self, timeout: Option<Duration>) -> Deadline {
        Deadline::after(timeout.unwrap_or(self.client.config().default_api_timeout))
    }
}

impl std::fmt::Debug for Admin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Admin")
            .field("config", self.client.config())
            .finish_non_exhaustive()
    }
}
