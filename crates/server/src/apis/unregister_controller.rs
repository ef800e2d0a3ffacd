use klamm_controller::unregister_controller;
use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::unregister_controller::{
    UnregisterControllerRequest, UnregisterControllerResponse,
};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for UnregisterControllerRequest {
    const NEEDS: Option<Operation> = Some(Operation::Alter);
    const FORWARDABLE: bool = true;

    fn refused(
        &self,
        _: i16,
        error: ErrorCode,
        text: Option<&str>,
    ) -> UnregisterControllerResponse {
        UnregisterControllerResponse {
            error_code: error.0,
            error_message: text.map(Into::into),
            ..UnregisterControllerResponse::default()
        }
    }
}

impl Decide for UnregisterControllerRequest {
    fn decide(
        &self,
        _: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<UnregisterControllerResponse>, CommitError> {
        let decision = unregister_controller(&active.view()?, self);
        active.commit(decision)
    }
}
