use klamm_controller::allocate_producer_ids;
use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::allocate_producer_ids::{
    AllocateProducerIdsRequest, AllocateProducerIdsResponse,
};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for AllocateProducerIdsRequest {
    const NEEDS: Option<Operation> = Some(Operation::ClusterAction);
    const FORWARDABLE: bool = true;

    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> AllocateProducerIdsResponse {
        AllocateProducerIdsResponse {
            error_code: error.0,
            ..AllocateProducerIdsResponse::default()
        }
    }
}

impl Decide for AllocateProducerIdsRequest {
    fn decide(
        &self,
        _: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<AllocateProducerIdsResponse>, CommitError> {
        let decision = allocate_producer_ids(&active.view()?, self);
        active.commit(decision)
    }
}
