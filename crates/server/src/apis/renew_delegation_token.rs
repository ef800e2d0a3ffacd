use klamm_controller::renew_delegation_token;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::renew_delegation_token::{
    RenewDelegationTokenRequest, RenewDelegationTokenResponse,
};

use super::create_delegation_token::requester;
use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for RenewDelegationTokenRequest {
    const FORWARDABLE: bool = true;

    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> RenewDelegationTokenResponse {
        RenewDelegationTokenResponse {
            error_code: error.0,
            ..RenewDelegationTokenResponse::default()
        }
    }
}

impl Decide for RenewDelegationTokenRequest {
    fn decide(
        &self,
        call: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<RenewDelegationTokenResponse>, CommitError> {
        let config = &active.node.settings.tokens.config;
        let requester = requester(call, active);
        let decision = renew_delegation_token(&active.view()?, self, &requester, config);
        active.commit(decision)
    }
}
