use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::begin_quorum_epoch::{
    BeginQuorumEpochRequest, BeginQuorumEpochResponse,
};
use klamm_raft::Response;

use super::exchange::Api;
use super::serve::Quorate;

impl Api for BeginQuorumEpochRequest {
    const NEEDS: Option<Operation> = Some(Operation::ClusterAction);

    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> BeginQuorumEpochResponse {
        BeginQuorumEpochResponse {
            error_code: error.0,
            ..BeginQuorumEpochResponse::default()
        }
    }
}

impl Quorate for BeginQuorumEpochRequest {
    fn into_quorum(self) -> klamm_raft::Request {
        klamm_raft::Request::BeginQuorumEpoch(self)
    }

    fn from_quorum(response: Response) -> Option<BeginQuorumEpochResponse> {
        match response {
            Response::BeginQuorumEpoch(response) => Some(response),
            _ => None,
        }
    }
}
