use klamm_controller::alter_partition_reassignments;
use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse, ReassignablePartition,
    ReassignablePartitionResponse, ReassignableTopic, ReassignableTopicResponse,
};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for AlterPartitionReassignmentsRequest {
    const NEEDS: Option<Operation> = Some(Operation::Alter);
    const FORWARDABLE: bool = true;

    fn refused(
        &self,
        _: i16,
        error: ErrorCode,
        text: Option<&str>,
    ) -> AlterPartitionReassignmentsResponse {
        let partition = |partition: &ReassignablePartition| ReassignablePartitionResponse {
            partition_index: partition.partition_index,
            error_code: error.0,
            error_message: text.map(Into::into),
            ..ReassignablePartitionResponse::default()
        };
        let topic = |topic: &ReassignableTopic| ReassignableTopicResponse {
            name: topic.name.clone(),
            partitions: topic.partitions.iter().map(partition).collect(),
            ..ReassignableTopicResponse::default()
        };
        AlterPartitionReassignmentsResponse {
            error_code: error.0,
            error_message: text.map(Into::into),
            responses: self.topics.iter().map(topic).collect(),
            ..AlterPartitionReassignmentsResponse::default()
        }
    }
}

impl Decide for AlterPartitionReassignmentsRequest {
    fn decide(
        &self,
        _: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<AlterPartitionReassignmentsResponse>, CommitError> {
        let decision = alter_partition_reassignments(&active.view()?, self);
        active.commit(decision)
    }
}
