use klamm_controller::CreatePartitions;
use klamm_metadata::{Operation, ResourceType};
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::create_partitions::{
    CreatePartitionsRequest, CreatePartitionsResponse, CreatePartitionsTopic,
    CreatePartitionsTopicResult,
};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for CreatePartitionsRequest {
    const FORWARDABLE: bool = true;

    fn refused(&self, _: i16, error: ErrorCode, text: Option<&str>) -> CreatePartitionsResponse {
        let result = |topic: &CreatePartitionsTopic| CreatePartitionsTopicResult {
            name: topic.name.clone(),
            error_code: error.0,
            error_message: text.map(Into::into),
            ..CreatePartitionsTopicResult::default()
        };
        CreatePartitionsResponse {
            results: self.topics.iter().map(result).collect(),
            ..CreatePartitionsResponse::default()
        }
    }
}

impl Decide for CreatePartitionsRequest {
    fn decide(
        &self,
        call: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<CreatePartitionsResponse>, CommitError> {
        let create = CreatePartitions {
            request: self,
            may_alter: &|name| {
                active.allows(&call.client, Operation::Alter, ResourceType::Topic, name)
            },
        };
        let decision = create.decide(&active.view()?, |bound| fastrand::usize(..bound));
        active.commit(decision)
    }
}
