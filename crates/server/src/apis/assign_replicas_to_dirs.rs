use klamm_controller::assign_replicas_to_dirs;
use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::assign_replicas_to_dirs::{
    AssignReplicasToDirsRequest, AssignReplicasToDirsResponse,
};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for AssignReplicasToDirsRequest {
    const NEEDS: Option<Operation> = Some(Operation::ClusterAction);

    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> AssignReplicasToDirsResponse {
        AssignReplicasToDirsResponse {
            error_code: error.0,
            ..AssignReplicasToDirsResponse::default()
        }
    }
}

impl Decide for AssignReplicasToDirsRequest {
    fn decide(
        &self,
        _: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<AssignReplicasToDirsResponse>, CommitError> {
        let decision = assign_replicas_to_dirs(&active.view()?, self);
        active.commit(decision)
    }
}
