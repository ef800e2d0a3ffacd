use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::remove_raft_voter::{
    RemoveRaftVoterRequest, RemoveRaftVoterResponse,
};
use klamm_raft::Response;

use super::exchange::Api;
use super::serve::Quorate;

impl Api for RemoveRaftVoterRequest {
    const NEEDS: Option<Operation> = Some(Operation::Alter);
    const FORWARDABLE: bool = true;

    fn refused(&self, _: i16, error: ErrorCode, text: Option<&str>) -> RemoveRaftVoterResponse {
        RemoveRaftVoterResponse {
            error_code: error.0,
            error_message: text.map(Into::into),
            ..RemoveRaftVoterResponse::default()
        }
    }
}

impl Quorate for RemoveRaftVoterRequest {
    fn into_quorum(self) -> klamm_raft::Request {
        klamm_raft::Request::RemoveRaftVoter(self)
    }

    fn from_quorum(response: Response) -> Option<RemoveRaftVoterResponse> {
        match response {
            Response::RemoveRaftVoter(response) => Some(response),
            _ => None,
        }
    }
}
