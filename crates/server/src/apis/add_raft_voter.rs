use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::add_raft_voter::{AddRaftVoterRequest, AddRaftVoterResponse};
use klamm_raft::Response;

use super::exchange::Api;
use super::serve::Quorate;

impl Api for AddRaftVoterRequest {
    const NEEDS: Option<Operation> = Some(Operation::Alter);
    const FORWARDABLE: bool = true;

    fn refused(&self, _: i16, error: ErrorCode, text: Option<&str>) -> AddRaftVoterResponse {
        AddRaftVoterResponse {
            error_code: error.0,
            error_message: text.map(Into::into),
            ..AddRaftVoterResponse::default()
        }
    }
}

impl Quorate for AddRaftVoterRequest {
    fn into_quorum(self) -> klamm_raft::Request {
        klamm_raft::Request::AddRaftVoter(self)
    }

    fn from_quorum(response: Response) -> Option<AddRaftVoterResponse> {
        match response {
            Response::AddRaftVoter(response) => Some(response),
            _ => None,
        }
    }
}
