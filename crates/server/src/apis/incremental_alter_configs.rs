use klamm_controller::IncrementalAlterConfigs;
use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterConfigsResourceResponse, IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for IncrementalAlterConfigsRequest {
    const FORWARDABLE: bool = true;

    fn refused(
        &self,
        _: i16,
        error: ErrorCode,
        text: Option<&str>,
    ) -> IncrementalAlterConfigsResponse {
        let result = |resource: &AlterConfigsResource| AlterConfigsResourceResponse {
            error_code: error.0,
            error_message: text.map(Into::into),
            resource_type: resource.resource_type,
            resource_name: resource.resource_name.clone(),
            ..AlterConfigsResourceResponse::default()
        };
        IncrementalAlterConfigsResponse {
            responses: self.resources.iter().map(result).collect(),
            ..IncrementalAlterConfigsResponse::default()
        }
    }
}

impl Decide for IncrementalAlterConfigsRequest {
    fn decide(
        &self,
        call: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<IncrementalAlterConfigsResponse>, CommitError> {
        let alter = IncrementalAlterConfigs {
            request: self,
            forwarded: call.is_forwarded,
            may_alter: &|kind, name| {
                active.allows(&call.client, Operation::AlterConfigs, kind, name)
            },
            may_act: active.allows_on_cluster(&call.client, Operation::ClusterAction),
        };
        let decision = alter.decide(&active.view()?);
        active.commit(decision)
    }
}
