use klamm_metadata::DelegationToken;
use klamm_protocol::messages::describe_delegation_token::{
    DescribeDelegationTokenRequest, DescribeDelegationTokenResponse, DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
};

use super::{DelegationTokenConfig, TokenRequester, check_requests, parts};
use crate::View;

/// A request to see delegation tokens.
#[derive(Clone, Copy)]
pub struct DescribeDelegationToken<'a> {
    /// The request.
    pub request: &'a DescribeDelegationTokenRequest,
    /// Who asks.
    pub requester: TokenRequester<'a>,
    /// Whether the client may see the token with an id, which is another's.
    pub may_describe: &'a dyn Fn(&str) -> bool,
    /// Whether the client may see the tokens of the user with a principal.
    pub may_describe_of: &'a dyn Fn(&str) -> bool,
}

impl DescribeDelegationToken<'_> {
    /// The tokens that the client asks for and may see. Its own it always may.
    pub fn answer(
        &self,
        view: &View<'_>,
        config: &DelegationTokenConfig,
    ) -> DescribeDelegationTokenResponse {
        if let Err(code) = check_requests(view, &self.requester, config) {
            return DescribeDelegationTokenResponse {
                error_code: code.0,
                ..Default::default()
            };
        }
        let owners = self.request.owners.as_ref().map(|owners| {
            let owners = owners.iter();
            let owners = owners.map(|o| format!("{}:{}", o.principal_type, o.principal_name));
            owners.collect::<Vec<_>>()
        });
        let is_asked = |token: &DelegationToken| {
            let owners = owners.as_ref();
            owners.is_none_or(|owners| owners.iter().any(|owner| concerns(token, owner)))
        };
        let tokens = view.image().delegation_tokens().iter();
        let seen = tokens.filter(|(id, token)| {
            let is_own = || concerns(token, self.requester.principal);
            is_asked(token)
                && (is_own() || (self.may_describe)(id) || (self.may_describe_of)(&token.owner))
        });
        DescribeDelegationTokenResponse {
            tokens: seen
                .map(|(id, token)| described(id, token, config))
                .collect(),
            ..Default::default()
        }
    }
}

/// Whether a token is a user's: as its owner, who asked for it, or one of its renewers.
fn concerns(token: &DelegationToken, principal: &str) -> bool {
    let own = [&token.owner, &token.requester];
    let mut users = own.into_iter().chain(&token.renewers);
    users.any(|user| **user == *principal)
}

fn described(
    id: &str,
    token: &DelegationToken,
    config: &DelegationTokenConfig,
) -> DescribedDelegationToken {
    let (principal_type, principal_name) = parts(&token.owner);
    let (token_requester_principal_type, token_requester_principal_name) = parts(&token.requester);
    let renewers = token.renewers.iter().map(|renewer| {
        let (principal_type, principal_name) = parts(renewer);
        DescribedDelegationTokenRenewer {
            principal_type,
            principal_name,
            ..Default::default()
        }
    });
    DescribedDelegationToken {
        principal_type,
        principal_name,
        token_requester_principal_type,
        token_requester_principal_name,
        issue_timestamp: token.issue_timestamp_ms,
        expiry_timestamp: token.expiration_timestamp_ms,
        max_timestamp: token.max_timestamp_ms,
        token_id: id.into(),
        hmac: config.hmac(id).unwrap_or_default(),
        renewers: renewers.collect(),
        ..Default::default()
    }
}
