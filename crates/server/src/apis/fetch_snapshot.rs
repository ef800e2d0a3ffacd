use bytes::Bytes;
use klamm_metadata::Operation;
use klamm_protocol::messages::fetch_snapshot::{FetchSnapshotRequest, FetchSnapshotResponse};
use klamm_protocol::{BrokerId, ErrorCode};
use klamm_raft::Response;

use super::exchange::Api;
use super::serve::Quorate;

impl Api for FetchSnapshotRequest {
    const NEEDS: Option<Operation> = Some(Operation::ClusterAction);

    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> FetchSnapshotResponse {
        FetchSnapshotResponse {
            error_code: error.0,
            ..FetchSnapshotResponse::default()
        }
    }
}

impl Quorate for FetchSnapshotRequest {
    fn into_quorum(self) -> klamm_raft::Request {
        klamm_raft::Request::FetchSnapshot(self)
    }

    fn from_quorum(response: Response) -> Option<FetchSnapshotResponse> {
        match response {
            Response::FetchSnapshot(response) => Some(response),
            _ => None,
        }
    }

    fn put_records(response: &mut FetchSnapshotResponse, records: Bytes) {
        let topic = response.topics.first_mut();
        if let Some(partition) = topic.and_then(|topic| topic.partitions.first_mut()) {
            partition.unaligned_records = records;
        }
    }

    fn broker(&self) -> Option<BrokerId> {
        BrokerId(self.replica_id).known()
    }
}
