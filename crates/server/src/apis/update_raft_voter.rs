use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::update_raft_voter::{
    UpdateRaftVoterRequest, UpdateRaftVoterResponse,
};
use klamm_raft::Response;

use super::exchange::Api;
use super::serve::Quorate;

impl Api for UpdateRaftVoterRequest {
    const NEEDS: Option<Operation> = Some(Operation::ClusterAction);

    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> UpdateRaftVoterResponse {
        UpdateRaftVoterResponse {
            error_code: error.0,
            ..UpdateRaftVoterResponse::default()
        }
    }
}

impl Quorate for UpdateRaftVoterRequest {
    fn into_quorum(self) -> klamm_raft::Request {
        klamm_raft::Request::UpdateRaftVoter(self)
    }

    fn from_quorum(response: Response) -> Option<UpdateRaftVoterResponse> {
        match response {
            Response::UpdateRaftVoter(response) => Some(response),
            _ => None,
        }
    }
}
