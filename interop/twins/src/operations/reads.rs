//! What the cluster is.

use fastrand::Rng;
use klamm_protocol::messages::describe_cluster::DescribeClusterRequest;

use super::{How, Operation, once_in};
use crate::side::Side;
use crate::wire::Said;

#[derive(Debug)]
struct DescribeCluster {
    operations: bool,
    endpoints: i8,
    fenced: bool,
}

pub(super) fn cluster(rng: &mut Rng) -> Box<dyn Operation> {
    Box::new(DescribeCluster {
        operations: rng.bool(),
        endpoints: if once_in(rng, 4) { rng.i8(0..=3) } else { 2 },
        fenced: rng.bool(),
    })
}

impl Operation for DescribeCluster {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let request = DescribeClusterRequest {
            include_cluster_authorized_operations: self.operations,
            endpoint_type: self.endpoints,
            include_fenced_brokers: self.fenced,
            ..Default::default()
        };
        side.ask(how, &request)
    }
}
