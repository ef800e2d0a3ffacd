use klamm_metadata::Operation;
use klamm_protocol::messages::describe_cluster::{
    DescribeClusterBroker, DescribeClusterRequest, DescribeClusterResponse,
};
use klamm_protocol::{BrokerId, ErrorCode};

use super::exchange::Api;
use super::serve::{Ask, Call};
use crate::controller::Controller;

/// The kind of endpoints that a controller's listener tells of (KIP-919).
const CONTROLLERS: i8 = 2;

/// What may be done to a cluster, by the operations' numbers.
const CLUSTER_OPERATIONS: [Operation; 7] = [
    Operation::Create,
    Operation::ClusterAction,
    Operation::DescribeConfigs,
    Operation::AlterConfigs,
    Operation::IdempotentWrite,
    Operation::Alter,
    Operation::Describe,
];

impl Api for DescribeClusterRequest {
    fn refused(&self, _: i16, error: ErrorCode, text: Option<&str>) -> DescribeClusterResponse {
        DescribeClusterResponse {
            error_code: error.0,
            error_message: text.map(Into::into),
            ..DescribeClusterResponse::default()
        }
    }
}

impl Ask for DescribeClusterRequest {
    fn answer(&self, call: &Call, controller: &mut Controller) -> DescribeClusterResponse {
        if self.endpoint_type != CONTROLLERS {
            let error = match self.endpoint_type {
                // A client of version 0 knows of no kinds of endpoints, nor of this error.
                1 if call.version == 0 => ErrorCode::INVALID_REQUEST,
                1 => ErrorCode::MISMATCHED_ENDPOINT_TYPE,
                _ => ErrorCode::UNSUPPORTED_ENDPOINT_TYPE,
            };
            let text = "the request was sent to a controller, and asks for brokers";
            return self.refused(call.version, error, Some(text));
        }
        let controllers = controller.image().cluster().controllers();
        let known = controllers.filter_map(|known| {
            let endpoint = known.listeners.get(&*call.listener)?;
            Some(DescribeClusterBroker {
                broker_id: known.id.0,
                host: (&*endpoint.host).into(),
                port: i32::from(endpoint.port),
                ..DescribeClusterBroker::default()
            })
        });
        let leader = controller.quorum().raft().leader();
        let allowed = |operation| controller.allows_on_cluster(&call.client, operation);
        let wanted = self.include_cluster_authorized_operations;
        let operations = cluster_operations(wanted, allowed);
        DescribeClusterResponse {
            endpoint_type: CONTROLLERS,
            cluster_id: controller.node().cluster_id.as_str().into(),
            controller_id: leader.unwrap_or(BrokerId::NONE).0,
            brokers: known.collect(),
            cluster_authorized_operations: operations,
            ..DescribeClusterResponse::default()
        }
    }
}

/// What a client may do to the cluster, as bits; the least number where it did not ask.
pub(crate) fn cluster_operations(wanted: bool, is_allowed: impl Fn(Operation) -> bool) -> i32 {
    if !wanted {
        return i32::MIN;
    }
    let allowed = CLUSTER_OPERATIONS
        .into_iter()
        .filter(|operation| is_allowed(*operation));
    allowed.fold(0, |bits, operation| bits | 1 << operation.to_wire())
}
