use klamm_controller::register_controller;
use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::controller_registration::{
    ControllerRegistrationRequest, ControllerRegistrationResponse,
};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for ControllerRegistrationRequest {
    const NEEDS: Option<Operation> = Some(Operation::ClusterAction);

    fn refused(
        &self,
        _: i16,
        error: ErrorCode,
        text: Option<&str>,
    ) -> ControllerRegistrationResponse {
        ControllerRegistrationResponse {
            error_code: error.0,
            error_message: text.map(Into::into),
            ..ControllerRegistrationResponse::default()
        }
    }
}

impl Decide for ControllerRegistrationRequest {
    fn decide(
        &self,
        _: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<ControllerRegistrationResponse>, CommitError> {
        let decision = register_controller(&active.view()?, self);
        active.commit(decision)
    }
}
