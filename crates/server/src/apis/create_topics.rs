use klamm_controller::CreateTopics;
use klamm_metadata::{Operation, ResourceType};
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::create_topics::{
    CreatableTopic, CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse,
};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};
use crate::machine::random_id;

impl Api for CreateTopicsRequest {
    const FORWARDABLE: bool = true;

    fn refused(&self, _: i16, error: ErrorCode, text: Option<&str>) -> CreateTopicsResponse {
        let result = |topic: &CreatableTopic| CreatableTopicResult {
            name: topic.name.clone(),
            error_code: error.0,
            error_message: text.map(Into::into),
            ..CreatableTopicResult::default()
        };
        CreateTopicsResponse {
            topics: self.topics.iter().map(result).collect(),
            ..CreateTopicsResponse::default()
        }
    }
}

impl Decide for CreateTopicsRequest {
    fn decide(
        &self,
        call: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<CreateTopicsResponse>, CommitError> {
        let creates_all = active.allows_on_cluster(&call.client, Operation::Create);
        let allows = |operation, name: &str| {
            active.allows(&call.client, operation, ResourceType::Topic, name)
        };
        let create = CreateTopics {
            request: self,
            may_create: &|name| creates_all || allows(Operation::Create, name),
            may_describe_configs: &|name| allows(Operation::DescribeConfigs, name),
        };
        let decision = create.decide(&active.view()?, random_id, |bound| fastrand::usize(..bound));
        active.commit(decision)
    }
}
