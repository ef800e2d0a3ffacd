use klamm_protocol::ErrorCode;
use klamm_protocol::messages::describe_cluster::{
    DescribeClusterBroker, DescribeClusterRequest, DescribeClusterResponse,
};

use super::cluster_view::ClusterView;
use crate::apis::{Api, cluster_operations};
use crate::broker::call::{Call, Reply, Serve};

/// The kinds of endpoints that a client can ask for (KIP-919).
const BROKERS: i8 = 1;
const CONTROLLERS: i8 = 2;

impl Serve for DescribeClusterRequest {
    async fn serve(self, call: Call) -> Reply<Self::Response> {
        if self.endpoint_type != BROKERS {
            let error = match self.endpoint_type {
                CONTROLLERS => ErrorCode::MISMATCHED_ENDPOINT_TYPE,
                _ => ErrorCode::UNSUPPORTED_ENDPOINT_TYPE,
            };
            let text = "the request was sent to a broker, and asks for controllers";
            return Reply::Answer(self.refused(call.version, error, Some(text)));
        }
        let published = call.broker.published();
        let view = ClusterView {
            image: &published.image,
            listener: &call.origin.listener,
        };
        let shown = view
            .all()
            .filter(|(broker, _)| !broker.fenced || self.include_fenced_brokers);
        let brokers = shown.map(|(broker, endpoint)| DescribeClusterBroker {
            broker_id: broker.id.0,
            host: (&*endpoint.host).into(),
            port: i32::from(endpoint.port),
            rack: broker.rack.as_deref().map(Into::into),
            is_fenced: broker.fenced,
            ..DescribeClusterBroker::default()
        });
        let wanted = self.include_cluster_authorized_operations;
        Reply::Answer(DescribeClusterResponse {
            endpoint_type: BROKERS,
            cluster_id: call.broker.cluster_id.as_str().into(),
            controller_id: view.controller(call.broker.id).0,
            brokers: brokers.collect(),
            cluster_authorized_operations: cluster_operations(wanted, |_| true),
            ..DescribeClusterResponse::default()
        })
    }
}
