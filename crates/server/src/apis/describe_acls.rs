use klamm_controller::DescribeAcls;
use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::describe_acls::{DescribeAclsRequest, DescribeAclsResponse};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for DescribeAclsRequest {
    const NEEDS: Option<Operation> = Some(Operation::Describe);

    fn refused(&self, _: i16, error: ErrorCode, text: Option<&str>) -> DescribeAclsResponse {
        DescribeAclsResponse {
            error_code: error.0,
            error_message: text.map(Into::into),
            ..DescribeAclsResponse::default()
        }
    }
}

impl Decide for DescribeAclsRequest {
    fn decide(
        &self,
        _: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<DescribeAclsResponse>, CommitError> {
        let describe = DescribeAcls {
            request: self,
            is_enabled: active.node.settings.authorizer.is_some(),
        };
        let response = describe.answer(&active.view()?);
        Ok(active.read(response))
    }
}
