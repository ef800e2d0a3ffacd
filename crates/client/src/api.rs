use std::time::Duration;

use klamm_protocol::Request;
use klamm_protocol::messages::alter_partition_reassignments::AlterPartitionReassignmentsRequest;
use klamm_protocol::messages::api_versions::ApiVersionsRequest;
use klamm_protocol::messages::create_partitions::CreatePartitionsRequest;
use klamm_protocol::messages::create_topics::CreateTopicsRequest;
use klamm_protocol::messages::delete_topics::DeleteTopicsRequest;
use klamm_protocol::messages::describe_cluster::DescribeClusterRequest;
use klamm_protocol::messages::describe_configs::DescribeConfigsRequest;
use klamm_protocol::messages::describe_topic_partitions::DescribeTopicPartitionsRequest;
use klamm_protocol::messages::elect_leaders::ElectLeadersRequest;
use klamm_protocol::messages::fetch::FetchRequest;
use klamm_protocol::messages::incremental_alter_configs::IncrementalAlterConfigsRequest;
use klamm_protocol::messages::init_producer_id::InitProducerIdRequest;
use klamm_protocol::messages::list_offsets::ListOffsetsRequest;
use klamm_protocol::messages::list_partition_reassignments::ListPartitionReassignmentsRequest;
use klamm_protocol::messages::metadata::MetadataRequest;
use klamm_protocol::messages::offset_for_leader_epoch::OffsetForLeaderEpochRequest;
use klamm_protocol::messages::produce::ProduceRequest;

/// A request that this client sends.
pub(crate) trait ClientRequest: Request {
    /// For how long an answer asks the client to send nothing on the connection it came from.
    ///
    /// A server that answers in an older version has made the pause itself before it answered
    /// (KIP-219), so that the client adds none.
    fn pause(version: i16, response: &Self::Response) -> Duration;
}

macro_rules! pauses {
    ($($request:ty: client since $since:literal,)*) => {
        $(impl ClientRequest for $request {
            fn pause(version: i16, response: &Self::Response) -> Duration {
                if version < $since {
                    return Duration::ZERO;
                }
                Duration::from_millis(u64::try_from(response.throttle_time_ms).unwrap_or(0))
            }
        })*
    };
}

// The versions of KIP-219, and the first one of every later API.
pauses! {
    MetadataRequest: client since 6,
    ApiVersionsRequest: client since 2,
    CreateTopicsRequest: client since 3,
    DeleteTopicsRequest: client since 2,
    DescribeConfigsRequest: client since 2,
    CreatePartitionsRequest: client since 1,
    ElectLeadersRequest: client since 0,
    IncrementalAlterConfigsRequest: client since 0,
    AlterPartitionReassignmentsRequest: client since 0,
    ListPartitionReassignmentsRequest: client since 0,
    DescribeClusterRequest: client since 0,
    DescribeTopicPartitionsRequest: client since 0,
    ProduceRequest: client since 6,
    InitProducerIdRequest: client since 1,
    FetchRequest: client since 8,
    ListOffsetsRequest: client since 3,
    OffsetForLeaderEpochRequest: client since 2,
}
