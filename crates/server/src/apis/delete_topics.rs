use klamm_controller::DeleteTopics;
use klamm_metadata::{Operation, ResourceType};
use klamm_protocol::messages::delete_topics::{
    DeletableTopicResult, DeleteTopicState, DeleteTopicsRequest, DeleteTopicsResponse,
};
use klamm_protocol::{ErrorCode, SmallString};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

/// From this version on an answer can say that topics are not deleted here at all.
const KNOWS_DELETION_DISABLED: i16 = 3;

impl Api for DeleteTopicsRequest {
    const FORWARDABLE: bool = true;

    fn refused(&self, _: i16, error: ErrorCode, text: Option<&str>) -> DeleteTopicsResponse {
        let result = |name: Option<&SmallString>, topic_id| DeletableTopicResult {
            name: name.cloned(),
            topic_id,
            error_code: error.0,
            error_message: text.map(Into::into),
            ..DeletableTopicResult::default()
        };
        let by_name = self.topic_names.iter();
        let by_name = by_name.map(|name| result(Some(name), klamm_protocol::Uuid::ZERO));
        let by_any = self.topics.iter();
        let by_any =
            by_any.map(|DeleteTopicState { name, topic_id, .. }| result(name.as_ref(), *topic_id));
        DeleteTopicsResponse {
            responses: by_name.chain(by_any).collect(),
            ..DeleteTopicsResponse::default()
        }
    }
}

impl Decide for DeleteTopicsRequest {
    fn decide(
        &self,
        call: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<DeleteTopicsResponse>, CommitError> {
        if !active.node.settings.delete_topics {
            let error = match call.version < KNOWS_DELETION_DISABLED {
                true => ErrorCode::INVALID_REQUEST,
                false => ErrorCode::TOPIC_DELETION_DISABLED,
            };
            return Ok(active.read(self.refused(call.version, error, None)));
        }
        let deletes_all = active.allows_on_cluster(&call.client, Operation::Delete);
        let allows = |operation, name: &str| {
            deletes_all || active.allows(&call.client, operation, ResourceType::Topic, name)
        };
        let delete = DeleteTopics {
            request: self,
            may_describe: &|name| allows(Operation::Describe, name),
            may_delete: &|name| allows(Operation::Delete, name),
        };
        let decision = delete.decide(&active.view()?);
        active.commit(decision)
    }
}
