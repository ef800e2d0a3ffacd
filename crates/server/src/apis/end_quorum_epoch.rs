use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::end_quorum_epoch::{EndQuorumEpochRequest, EndQuorumEpochResponse};
use klamm_raft::Response;

use super::exchange::Api;
use super::serve::Quorate;

impl Api for EndQuorumEpochRequest {
    const NEEDS: Option<Operation> = Some(Operation::ClusterAction);

    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> EndQuorumEpochResponse {
        EndQuorumEpochResponse {
            error_code: error.0,
            ..EndQuorumEpochResponse::default()
        }
    }
}

impl Quorate for EndQuorumEpochRequest {
    fn into_quorum(self) -> klamm_raft::Request {
        klamm_raft::Request::EndQuorumEpoch(self)
    }

    fn from_quorum(response: Response) -> Option<EndQuorumEpochResponse> {
        match response {
            Response::EndQuorumEpoch(response) => Some(response),
            _ => None,
        }
    }
}
