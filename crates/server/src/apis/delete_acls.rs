use klamm_controller::DeleteAcls;
use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::delete_acls::{
    DeleteAclsFilter, DeleteAclsFilterResult, DeleteAclsRequest, DeleteAclsResponse,
};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for DeleteAclsRequest {
    const NEEDS: Option<Operation> = Some(Operation::Alter);
    const FORWARDABLE: bool = true;

    fn refused(&self, _: i16, error: ErrorCode, text: Option<&str>) -> DeleteAclsResponse {
        let result = |_: &DeleteAclsFilter| DeleteAclsFilterResult {
            error_code: error.0,
            error_message: text.map(Into::into),
            ..DeleteAclsFilterResult::default()
        };
        DeleteAclsResponse {
            filter_results: self.filters.iter().map(result).collect(),
            ..DeleteAclsResponse::default()
        }
    }
}

impl Decide for DeleteAclsRequest {
    fn decide(
        &self,
        _: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<DeleteAclsResponse>, CommitError> {
        let delete = DeleteAcls {
            request: self,
            is_enabled: active.node.settings.authorizer.is_some(),
        };
        let decision = delete.decide(&active.view()?);
        active.commit(decision)
    }
}
