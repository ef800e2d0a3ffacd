use bytes::Bytes;
use klamm_metadata::Operation;
use klamm_protocol::messages::fetch::{FetchRequest, FetchResponse};
use klamm_protocol::{BrokerId, ErrorCode};
use klamm_raft::Response;

use super::exchange::Api;
use super::serve::Quorate;

impl Api for FetchRequest {
    const NEEDS: Option<Operation> = Some(Operation::ClusterAction);

    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> FetchResponse {
        FetchResponse {
            error_code: error.0,
            ..FetchResponse::default()
        }
    }
}

impl Quorate for FetchRequest {
    fn into_quorum(self) -> klamm_raft::Request {
        klamm_raft::Request::Fetch(self)
    }

    fn from_quorum(response: Response) -> Option<FetchResponse> {
        match response {
            Response::Fetch(response) => Some(response),
            _ => None,
        }
    }

    fn put_records(response: &mut FetchResponse, records: Bytes) {
        let topic = response.responses.first_mut();
        if let Some(partition) = topic.and_then(|topic| topic.partitions.first_mut()) {
            partition.records = Some(records);
        }
    }

    fn broker(&self) -> Option<BrokerId> {
        let moved = BrokerId(self.replica_state.replica_id).known();
        moved.or(BrokerId(self.replica_id).known())
    }
}
