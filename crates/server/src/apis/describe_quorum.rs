use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::describe_quorum::{DescribeQuorumRequest, DescribeQuorumResponse};
use klamm_raft::Response;

use super::exchange::Api;
use super::serve::Quorate;

impl Api for DescribeQuorumRequest {
    const NEEDS: Option<Operation> = Some(Operation::Describe);
    const FORWARDABLE: bool = true;

    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> DescribeQuorumResponse {
        DescribeQuorumResponse {
            error_code: error.0,
            ..DescribeQuorumResponse::default()
        }
    }
}

impl Quorate for DescribeQuorumRequest {
    fn into_quorum(self) -> klamm_raft::Request {
        klamm_raft::Request::DescribeQuorum(self)
    }

    fn from_quorum(response: Response) -> Option<DescribeQuorumResponse> {
        match response {
            Response::DescribeQuorum(response) => Some(response),
            _ => None,
        }
    }
}
