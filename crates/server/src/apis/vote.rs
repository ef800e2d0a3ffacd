use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::vote::{VoteRequest, VoteResponse};
use klamm_raft::Response;

use super::exchange::Api;
use super::serve::Quorate;

impl Api for VoteRequest {
    const NEEDS: Option<Operation> = Some(Operation::ClusterAction);

    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> VoteResponse {
        VoteResponse {
            error_code: error.0,
            ..VoteResponse::default()
        }
    }
}

impl Quorate for VoteRequest {
    fn into_quorum(self) -> klamm_raft::Request {
        klamm_raft::Request::Vote(self)
    }

    fn from_quorum(response: Response) -> Option<VoteResponse> {
        match response {
            Response::Vote(response) => Some(response),
            _ => None,
        }
    }
}
