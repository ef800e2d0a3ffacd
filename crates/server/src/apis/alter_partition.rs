use klamm_controller::AlterPartition;
use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::alter_partition::{AlterPartitionRequest, AlterPartitionResponse};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for AlterPartitionRequest {
    const NEEDS: Option<Operation> = Some(Operation::ClusterAction);

    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> AlterPartitionResponse {
        AlterPartitionResponse {
            error_code: error.0,
            ..AlterPartitionResponse::default()
        }
    }
}

impl Decide for AlterPartitionRequest {
    fn decide(
        &self,
        call: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<AlterPartitionResponse>, CommitError> {
        let alter = AlterPartition {
            request: self,
            version: call.version,
        };
        let decision = alter.decide(&active.view()?);
        active.commit(decision)
    }
}
