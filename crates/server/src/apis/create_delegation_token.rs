use klamm_controller::{CreateDelegationToken, TokenRequester};
use klamm_metadata::{Operation, ResourceType};
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::create_delegation_token::{
    CreateDelegationTokenRequest, CreateDelegationTokenResponse,
};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};
use crate::machine::random_uuid;

impl Api for CreateDelegationTokenRequest {
    const FORWARDABLE: bool = true;

    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> CreateDelegationTokenResponse {
        CreateDelegationTokenResponse {
            error_code: error.0,
            ..CreateDelegationTokenResponse::default()
        }
    }
}

impl Decide for CreateDelegationTokenRequest {
    fn decide(
        &self,
        call: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<CreateDelegationTokenResponse>, CommitError> {
        let id = random_uuid().map_err(CommitError::Chance)?;
        let config = &active.node.settings.tokens.config;
        let may_create_for = |user: &str| {
            active.allows(
                &call.client,
                Operation::CreateTokens,
                ResourceType::User,
                user,
            )
        };
        let create = CreateDelegationToken {
            request: self,
            requester: requester(call, active),
            may_create_for: &may_create_for,
        };
        let decision = create.decide(&active.view()?, config, id);
        active.commit(decision)
    }
}

/// Who asks for something about tokens. Nobody has shown who it is on a listener of PLAINTEXT, so only
/// requests that a broker vouches for are allowed, and of those none that a token stands behind: it
/// would renew itself for ever.
pub(super) fn requester<'a>(call: &'a Call, active: &Active<'_>) -> TokenRequester<'a> {
    TokenRequester {
        principal: &call.client.principal,
        is_allowed: call.is_forwarded && !call.client.by_token,
        now_ms: active.now.timestamp_ms,
    }
}
