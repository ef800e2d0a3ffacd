//! A Kafka client: admin calls, records, metadata, retries and deadlines.
//!
//! [`Producer`] sends records and [`Consumer`] reads them. [`Admin`] looks at clusters and changes
//! them:
//!
//! ```no_run
//! use klamm_client::{
//!     Admin, Bootstrap, ClientConfig, ElectLeadersOptions, ElectionScope, ElectionType, ServerAddress,
//! };
//!
//! # async fn elect() -> Result<(), Box<dyn std::error::Error>> {
//! let brokers = ServerAddress::parse_list("localhost:9092")?;
//! let admin = Admin::connect(ClientConfig::new(Bootstrap::Brokers(brokers))).await?;
//! let result = admin.elect_leaders(
//!     ElectionType::Preferred,
//!     ElectionScope::All,
//!     ElectLeadersOptions::default(),
//! );
//! for (partition, outcome) in result.partitions().await? {
//!     match outcome {
//!         Ok(()) => println!("{partition} has its preferred leader"),
//!         Err(error) => println!("{partition}: {error}"),
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A call has a deadline: its options' timeout, or `default_api_timeout`. Until then, requests that
//! failed for a passing reason are sent again with exponential backoff and jitter, over new
//! connections where old ones broke. A request that changes something, and would change something
//! else when it is done twice, is not sent again once it may have reached a server: the error says
//! that what became of it is unknown. Elections may be asked for again.

mod admin;
mod api;
mod call;
mod client;
mod config;
mod consumer;
mod errand;
mod error;
mod leaders;
mod metadata;
mod pool;
mod producer;
mod retry;
mod types;

pub use admin::{
    Admin, AlterConfigsOptions, AlterReassignmentsOptions, ApiVersionsOptions, BrokerDescription,
    ClusterDescription, ClusterMetadata, ConfigChange, ConfigEntry, ConfigOperation,
    ConfigResource, ConfigResourceKind, ConfigSource, ConfigSynonym, CreatePartitionsOptions,
    CreateTopicsOptions, CreatedTopic, DeleteTopicsOptions, DescribeClusterOptions,
    DescribeConfigsOptions, DescribeTopicPartitionsOptions, DescribeTopicsOptions,
    ElectLeadersError, ElectLeadersOptions, ElectLeadersResult, ElectionScope, ElectionType,
    ListReassignmentsOptions, MAX_ELECTIONS_PER_REQUEST, NewPartitions, NewTopic,
    OngoingReassignment, PartitionDescription, Placement, TopicDescription, TopicSelection,
};
pub use config::{Bootstrap, ClientConfig};
pub use consumer::{
    ConsumeError, Consumer, ConsumerOptions, IsolationLevel, OffsetReset, PartitionRecords, SeekTo,
};
pub use error::{ClientError, ItemError, PartitionError};
pub use klamm_net::{
    Cause, Connector, NetError, ParseAddressError, ServerAddress, ServerVersions, TcpConnector,
    Transport,
};
pub use klamm_protocol::records::{Codec, Compression, Header, Headers, Record, RecordsError};
pub use klamm_protocol::{
    ApiKey, BrokerId, Bytes, ErrorCode, LeaderEpoch, Offset, PartitionIndex, SmallString, Uuid,
    VersionRange,
};
pub use producer::{
    Acks, Delivery, ProduceError, Producer, ProducerOptions, ProducerRecord, RecordMetadata,
};
pub use types::TopicPartition;
