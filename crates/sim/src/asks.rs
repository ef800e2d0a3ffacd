//! What is asked of a controller, and what it answers.

use klamm_controller::{HeartbeatReply, Registered};
use klamm_protocol::BrokerId;
use klamm_protocol::messages::alter_partition::{AlterPartitionRequest, AlterPartitionResponse};
use klamm_protocol::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse,
};
use klamm_protocol::messages::assign_replicas_to_dirs::{
    AssignReplicasToDirsRequest, AssignReplicasToDirsResponse,
};
use klamm_protocol::messages::broker_heartbeat::{BrokerHeartbeatRequest, BrokerHeartbeatResponse};
use klamm_protocol::messages::broker_registration::{
    BrokerRegistrationRequest, BrokerRegistrationResponse,
};
use klamm_protocol::messages::create_partitions::{
    CreatePartitionsRequest, CreatePartitionsResponse,
};
use klamm_protocol::messages::create_topics::{CreateTopicsRequest, CreateTopicsResponse};
use klamm_protocol::messages::delete_topics::{DeleteTopicsRequest, DeleteTopicsResponse};
use klamm_protocol::messages::elect_leaders::{ElectLeadersRequest, ElectLeadersResponse};
use klamm_protocol::messages::incremental_alter_configs::{
    IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse,
};
use klamm_protocol::messages::list_partition_reassignments::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse,
};
use klamm_protocol::messages::unregister_broker::{
    UnregisterBrokerRequest, UnregisterBrokerResponse,
};

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Party {
    Client,
    Broker {
        id: BrokerId,
        /// The run of it.
        life: u64,
        connection: u64,
    },
}

macro_rules! asks {
    ($($name:ident($request:ident, $response:ty),)+) => {
        /// A request.
        #[derive(Clone, Debug)]
        pub(crate) enum Ask {
            $($name($request),)+
        }

        /// An answer.
        #[derive(Clone, Debug)]
        #[allow(dead_code, reason = "the client looks at no more than whether it was answered")]
        pub(crate) enum Reply {
            /// The node is not the active controller, or does not know whether it has done it.
            NotController,
            $($name($response),)+
        }

        $(impl From<$request> for Ask {
            fn from(request: $request) -> Self {
                Self::$name(request)
            }
        })+

        $(impl From<$response> for Reply {
            fn from(response: $response) -> Self {
                Self::$name(response)
            }
        })+
    };
}

asks! {
    Register(BrokerRegistrationRequest, BrokerRegistrationResponse),
    Beat(BrokerHeartbeatRequest, BrokerHeartbeatResponse),
    AlterPartition(AlterPartitionRequest, AlterPartitionResponse),
    AssignDirs(AssignReplicasToDirsRequest, AssignReplicasToDirsResponse),
    CreateTopics(CreateTopicsRequest, CreateTopicsResponse),
    CreatePartitions(CreatePartitionsRequest, CreatePartitionsResponse),
    DeleteTopics(DeleteTopicsRequest, DeleteTopicsResponse),
    Configs(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse),
    Elect(ElectLeadersRequest, ElectLeadersResponse),
    Reassign(AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse),
    List(ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse),
    Unregister(UnregisterBrokerRequest, UnregisterBrokerResponse),
}

impl From<Registered> for Reply {
    fn from(registered: Registered) -> Self {
        registered.response.into()
    }
}

impl From<HeartbeatReply> for Reply {
    fn from(reply: HeartbeatReply) -> Self {
        reply.response.into()
    }
}
