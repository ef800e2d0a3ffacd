use klamm_controller::AlterConfigs;
use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::alter_configs::{
    AlterConfigsRequest, AlterConfigsResource, AlterConfigsResourceResponse, AlterConfigsResponse,
};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for AlterConfigsRequest {
    const FORWARDABLE: bool = true;

    fn refused(&self, _: i16, error: ErrorCode, text: Option<&str>) -> AlterConfigsResponse {
        let result = |resource: &AlterConfigsResource| AlterConfigsResourceResponse {
            error_code: error.0,
            error_message: text.map(Into::into),
            resource_type: resource.resource_type,
            resource_name: resource.resource_name.clone(),
            ..AlterConfigsResourceResponse::default()
        };
        AlterConfigsResponse {
            responses: self.resources.iter().map(result).collect(),
            ..AlterConfigsResponse::default()
        }
    }
}

impl Decide for AlterConfigsRequest {
    fn decide(
        &self,
        call: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<AlterConfigsResponse>, CommitError> {
        let alter = AlterConfigs {
            request: self,
            forwarded: call.is_forwarded,
            may_alter: &|kind, name| {
                active.allows(&call.client, Operation::AlterConfigs, kind, name)
            },
        };
        let decision = alter.decide(&active.view()?);
        active.commit(decision)
    }
}
