use klamm_controller::DescribeConfigs;
use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::describe_configs::{
    DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResponse, DescribeConfigsResult,
};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for DescribeConfigsRequest {
    fn refused(&self, _: i16, error: ErrorCode, text: Option<&str>) -> DescribeConfigsResponse {
        let result = |resource: &DescribeConfigsResource| DescribeConfigsResult {
            error_code: error.0,
            error_message: text.map(Into::into),
            resource_type: resource.resource_type,
            resource_name: resource.resource_name.clone(),
            ..DescribeConfigsResult::default()
        };
        DescribeConfigsResponse {
            results: self.resources.iter().map(result).collect(),
            ..DescribeConfigsResponse::default()
        }
    }
}

impl Decide for DescribeConfigsRequest {
    fn decide(
        &self,
        call: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<DescribeConfigsResponse>, CommitError> {
        let describe = DescribeConfigs {
            request: self,
            may_describe: &|kind, name| {
                active.allows(&call.client, Operation::DescribeConfigs, kind, name)
            },
        };
        let response = describe.answer(&active.view()?);
        Ok(active.read(response))
    }
}
