use klamm_controller::CreateAcls;
use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::create_acls::{
    AclCreation, AclCreationResult, CreateAclsRequest, CreateAclsResponse,
};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};
use crate::machine::random_id;

impl Api for CreateAclsRequest {
    const NEEDS: Option<Operation> = Some(Operation::Alter);
    const FORWARDABLE: bool = true;

    fn refused(&self, _: i16, error: ErrorCode, text: Option<&str>) -> CreateAclsResponse {
        let result = |_: &AclCreation| AclCreationResult {
            error_code: error.0,
            error_message: text.map(Into::into),
            ..AclCreationResult::default()
        };
        CreateAclsResponse {
            results: self.creations.iter().map(result).collect(),
            ..CreateAclsResponse::default()
        }
    }
}

impl Decide for CreateAclsRequest {
    fn decide(
        &self,
        _: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<CreateAclsResponse>, CommitError> {
        let create = CreateAcls {
            request: self,
            is_enabled: active.node.settings.authorizer.is_some(),
        };
        let decision = create.decide(&active.view()?, random_id);
        active.commit(decision)
    }
}
