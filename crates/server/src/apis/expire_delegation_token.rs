use klamm_controller::expire_delegation_token;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::expire_delegation_token::{
    ExpireDelegationTokenRequest, ExpireDelegationTokenResponse,
};

use super::create_delegation_token::requester;
use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for ExpireDelegationTokenRequest {
    const FORWARDABLE: bool = true;

    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> ExpireDelegationTokenResponse {
        ExpireDelegationTokenResponse {
            error_code: error.0,
            ..ExpireDelegationTokenResponse::default()
        }
    }
}

impl Decide for ExpireDelegationTokenRequest {
    fn decide(
        &self,
        call: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<ExpireDelegationTokenResponse>, CommitError> {
        let config = &active.node.settings.tokens.config;
        let requester = requester(call, active);
        let decision = expire_delegation_token(&active.view()?, self, &requester, config);
        active.commit(decision)
    }
}
