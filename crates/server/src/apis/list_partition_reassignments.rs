use klamm_controller::list_partition_reassignments;
use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::list_partition_reassignments::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics, OngoingPartitionReassignment, OngoingTopicReassignment,
};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for ListPartitionReassignmentsRequest {
    const NEEDS: Option<Operation> = Some(Operation::Describe);
    const FORWARDABLE: bool = true;

    fn refused(
        &self,
        _: i16,
        error: ErrorCode,
        text: Option<&str>,
    ) -> ListPartitionReassignmentsResponse {
        // What was asked for comes back, as if nothing moved.
        let topic = |topic: &ListPartitionReassignmentsTopics| OngoingTopicReassignment {
            name: topic.name.clone(),
            partitions: topic
                .partition_indexes
                .iter()
                .map(|&partition_index| OngoingPartitionReassignment {
                    partition_index,
                    ..OngoingPartitionReassignment::default()
                })
                .collect(),
            ..OngoingTopicReassignment::default()
        };
        ListPartitionReassignmentsResponse {
            error_code: error.0,
            error_message: text.map(Into::into),
            topics: self.topics.iter().flatten().map(topic).collect(),
            ..ListPartitionReassignmentsResponse::default()
        }
    }
}

impl Decide for ListPartitionReassignmentsRequest {
    fn decide(
        &self,
        _: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<ListPartitionReassignmentsResponse>, CommitError> {
        let response = list_partition_reassignments(&active.view()?, self);
        Ok(active.read(response))
    }
}
