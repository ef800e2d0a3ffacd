use klamm_metadata::DelegationToken;
use klamm_protocol::messages::create_delegation_token::{
    CreateDelegationTokenRequest, CreateDelegationTokenResponse,
};
use klamm_protocol::{ErrorCode, Uuid};

use super::{
    DelegationTokenConfig, NO_TIMESTAMP, TokenRequester, USER, check_requests, parts, until_record,
    with_record,
};
use crate::{Decision, View};

/// A request for a new delegation token.
#[derive(Clone, Copy)]
pub struct CreateDelegationToken<'a> {
    /// The request.
    pub request: &'a CreateDelegationTokenRequest,
    /// Who asks.
    pub requester: TokenRequester<'a>,
    /// Whether the client may have tokens for the user with this principal.
    pub may_create_for: &'a dyn Fn(&str) -> bool,
}

impl CreateDelegationToken<'_> {
    /// Makes a token with this id, which nobody can guess.
    pub fn decide(
        &self,
        view: &View<'_>,
        config: &DelegationTokenConfig,
        id: Uuid,
    ) -> Decision<CreateDelegationTokenResponse> {
        let owner = self.owner();
        let (principal_type, principal_name) = parts(&owner);
        let (token_requester_principal_type, token_requester_principal_name) =
            parts(self.requester.principal);
        let response = CreateDelegationTokenResponse {
            principal_type,
            principal_name,
            token_requester_principal_type,
            token_requester_principal_name,
            ..Default::default()
        };
        match self.token(view, config, &owner) {
            Ok(token) => {
                let id = id.to_string();
                let response = CreateDelegationTokenResponse {
                    issue_timestamp_ms: token.issue_timestamp_ms,
                    expiry_timestamp_ms: token.expiration_timestamp_ms,
                    max_timestamp_ms: token.max_timestamp_ms,
                    hmac: config.hmac(&id).unwrap_or_default(),
                    token_id: (&*id).into(),
                    ..response
                };
                let record = until_record(&id, &token, token.expiration_timestamp_ms);
                with_record(response, record)
            }
            Err(code) => {
                let none = match code {
                    ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
                    | ErrorCode::DELEGATION_TOKEN_AUTHORIZATION_FAILED => NO_TIMESTAMP,
                    _ => 0,
                };
                Decision::answer(CreateDelegationTokenResponse {
                    error_code: code.0,
                    issue_timestamp_ms: none,
                    expiry_timestamp_ms: none,
                    max_timestamp_ms: none,
                    ..response
                })
            }
        }
    }

    /// Whom the token is to stand for: the client itself unless it says otherwise.
    fn owner(&self) -> String {
        let named = self.request.owner_principal_name.as_deref();
        match named.filter(|name| !name.is_empty()) {
            Some(name) => {
                let kind = self.request.owner_principal_type.as_deref();
                format!("{}:{name}", kind.unwrap_or_default())
            }
            None => self.requester.principal.to_owned(),
        }
    }

    fn token(
        &self,
        view: &View<'_>,
        config: &DelegationTokenConfig,
        owner: &str,
    ) -> Result<DelegationToken, ErrorCode> {
        let requester = &self.requester;
        if !requester.is_allowed {
            return Err(ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED);
        }
        if owner != requester.principal && !(self.may_create_for)(owner) {
            return Err(ErrorCode::DELEGATION_TOKEN_AUTHORIZATION_FAILED);
        }
        check_requests(view, requester, config)?;
        let renewers = &self.request.renewers;
        if renewers
            .iter()
            .any(|renewer| *renewer.principal_type != *USER)
        {
            return Err(ErrorCode::INVALID_PRINCIPAL_TYPE);
        }
        let renewers = renewers
            .iter()
            .map(|renewer| format!("{}:{}", renewer.principal_type, renewer.principal_name).into());
        let lifetime_ms = match self.request.max_lifetime_ms {
            asked @ 1.. => asked.min(config.max_lifetime_ms),
            _ => config.max_lifetime_ms,
        };
        let now_ms = requester.now_ms;
        let max_timestamp_ms = now_ms.saturating_add(lifetime_ms);
        let renewal_ms = now_ms.saturating_add(config.expiry_time_ms);
        Ok(DelegationToken {
            owner: owner.into(),
            requester: requester.principal.into(),
            renewers: renewers.collect(),
            issue_timestamp_ms: now_ms,
            max_timestamp_ms,
            expiration_timestamp_ms: renewal_ms.min(max_timestamp_ms),
        })
    }
}
