//! Delegation tokens (KIP-48): what a client proves who it is with in another's name. A token's HMAC is
//! made of its id and the cluster's secret key, and is not stored.

mod create;
mod describe;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use klamm_metadata::{DelegationToken, Record};
use klamm_protocol::data::metadata::{DelegationTokenRecord, RemoveDelegationTokenRecord};
use klamm_protocol::messages::expire_delegation_token::{
    ExpireDelegationTokenRequest, ExpireDelegationTokenResponse,
};
use klamm_protocol::messages::renew_delegation_token::{
    RenewDelegationTokenRequest, RenewDelegationTokenResponse,
};
use klamm_protocol::{ErrorCode, SmallString};
use sha2::Sha512;

use crate::{Decision, View};

pub use create::CreateDelegationToken;
pub use describe::DescribeDelegationToken;

/// The type of principals that may renew tokens.
const USER: &str = "User";
/// What stands for no time.
const NO_TIMESTAMP: i64 = -1;
/// How many tokens are removed at a time once they have expired.
const MAX_REMOVED_AT_A_TIME: usize = 1000;

/// What the node's configuration says of delegation tokens.
#[derive(Clone, PartialEq, Eq)]
pub struct DelegationTokenConfig {
    /// `delegation.token.secret.key`; there are no tokens without one.
    pub secret_key: Option<Box<str>>,
    /// `delegation.token.max.lifetime.ms`: how long a token may live at most.
    pub max_lifetime_ms: i64,
    /// `delegation.token.expiry.time.ms`: how long it lives until it is renewed.
    pub expiry_time_ms: i64,
}

impl DelegationTokenConfig {
    /// Kafka's defaults: no tokens; a week, and a day until a token is to be renewed.
    pub fn new() -> Self {
        const DAY_MS: i64 = 24 * 60 * 60 * 1000;
        Self {
            secret_key: None,
            max_lifetime_ms: 7 * DAY_MS,
            expiry_time_ms: DAY_MS,
        }
    }

    fn hmac(&self, token_id: &str) -> Option<Bytes> {
        let mac = self.mac(token_id)?.finalize();
        Some(Bytes::copy_from_slice(&mac.into_bytes()))
    }

    /// Whether this is the HMAC of a token; how long that takes tells nothing of it.
    fn is_hmac_of(&self, token_id: &str, hmac: &[u8]) -> bool {
        self.mac(token_id)
            .is_some_and(|mac| mac.verify_slice(hmac).is_ok())
    }

    fn mac(&self, token_id: &str) -> Option<Hmac<Sha512>> {
        let key = self.secret_key.as_ref()?;
        let mac = Hmac::<Sha512>::new_from_slice(key.as_bytes());
        let mac = mac.expect("a key may have any length");
        Some(mac.chain_update(token_id.as_bytes()))
    }
}

impl Default for DelegationTokenConfig {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for DelegationTokenConfig {
    /// Leaves the key out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("DelegationTokenConfig");
        debug
            .field("max_lifetime_ms", &self.max_lifetime_ms)
            .field("expiry_time_ms", &self.expiry_time_ms)
            .finish_non_exhaustive()
    }
}

/// Who asks, when, and whether it may ask at all.
#[derive(Clone, Copy, Debug)]
pub struct TokenRequester<'a> {
    /// The client's principal, such as `User:alice`.
    pub principal: &'a str,
    /// Whether it has proved who it is by more than a token.
    pub is_allowed: bool,
    /// Now, in milliseconds since 1970.
    pub now_ms: i64,
}

/// Renews a token, for its owner or one of its renewers.
pub fn renew_delegation_token(
    view: &View<'_>,
    request: &RenewDelegationTokenRequest,
    requester: &TokenRequester<'_>,
    config: &DelegationTokenConfig,
) -> Decision<RenewDelegationTokenResponse> {
    let renewed = || {
        let (id, token) = find(view, &request.hmac, requester, config)?;
        if has_expired(token, requester.now_ms) {
            return Err(ErrorCode::DELEGATION_TOKEN_EXPIRED);
        }
        check_renewer(token, requester)?;
        let period = match request.renew_period_ms {
            asked @ 1.. => asked.min(config.expiry_time_ms),
            _ => config.expiry_time_ms,
        };
        let until = requester.now_ms.saturating_add(period);
        let until = until.min(token.max_timestamp_ms);
        Ok((until, until_record(id, token, until)))
    };
    let answer = |error_code: i16, expiry_timestamp_ms| RenewDelegationTokenResponse {
        error_code,
        expiry_timestamp_ms,
        ..Default::default()
    };
    match renewed() {
        Ok((until, record)) => with_record(answer(0, until), record),
        Err(code) => Decision::answer(answer(code.0, timestamp_of(code))),
    }
}

/// Ends a token, at once or earlier than it would, for its owner or one of its renewers.
pub fn expire_delegation_token(
    view: &View<'_>,
    request: &ExpireDelegationTokenRequest,
    requester: &TokenRequester<'_>,
    config: &DelegationTokenConfig,
) -> Decision<ExpireDelegationTokenResponse> {
    let expired = || {
        let (id, token) = find(view, &request.hmac, requester, config)?;
        check_renewer(token, requester)?;
        if request.expiry_time_period_ms < 0 {
            return Ok((requester.now_ms, removal(id)));
        }
        if has_expired(token, requester.now_ms) {
            return Err(ErrorCode::DELEGATION_TOKEN_EXPIRED);
        }
        let until = requester
            .now_ms
            .saturating_add(request.expiry_time_period_ms);
        let until = until.min(token.max_timestamp_ms);
        Ok((until, until_record(id, token, until)))
    };
    let answer = |error_code: i16, expiry_timestamp_ms| ExpireDelegationTokenResponse {
        error_code,
        expiry_timestamp_ms,
        ..Default::default()
    };
    match expired() {
        Ok((until, record)) => with_record(answer(0, until), record),
        Err(code) => Decision::answer(answer(code.0, timestamp_of(code))),
    }
}

/// Removes tokens that have expired, and says whether there are more of them.
pub fn remove_expired_tokens(view: &View<'_>, now_ms: i64) -> Decision<bool> {
    let tokens = view.image().delegation_tokens().iter();
    let mut expired = tokens.filter(|(_, token)| has_expired(token, now_ms));
    let records = expired.by_ref().take(MAX_REMOVED_AT_A_TIME);
    let records: Vec<Record> = records.map(|(id, _)| removal(id)).collect();
    let mut decision = Decision::answer(expired.next().is_some());
    decision.records = records;
    decision
}

/// The token with this HMAC.
fn find<'a>(
    view: &View<'a>,
    hmac: &[u8],
    requester: &TokenRequester<'_>,
    config: &DelegationTokenConfig,
) -> Result<(&'a str, &'a DelegationToken), ErrorCode> {
    check_requests(view, requester, config)?;
    let mut tokens = view.image().delegation_tokens().iter();
    let found = tokens.find(|(id, _)| config.is_hmac_of(id, hmac));
    found.ok_or(ErrorCode::DELEGATION_TOKEN_NOT_FOUND)
}

/// Whether there are tokens, and for this client.
fn check_requests(
    view: &View<'_>,
    requester: &TokenRequester<'_>,
    config: &DelegationTokenConfig,
) -> Result<(), ErrorCode> {
    if !requester.is_allowed {
        return Err(ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED);
    }
    if config.secret_key.is_none() {
        return Err(ErrorCode::DELEGATION_TOKEN_AUTH_DISABLED);
    }
    match view.metadata_version().allows_delegation_tokens() {
        true => Ok(()),
        false => Err(ErrorCode::UNSUPPORTED_VERSION),
    }
}

fn check_renewer(token: &DelegationToken, requester: &TokenRequester<'_>) -> Result<(), ErrorCode> {
    let mut renewers = token.renewers.iter().chain([&token.owner]);
    match renewers.any(|renewer| **renewer == *requester.principal) {
        true => Ok(()),
        false => Err(ErrorCode::DELEGATION_TOKEN_OWNER_MISMATCH),
    }
}

fn has_expired(token: &DelegationToken, now_ms: i64) -> bool {
    token.max_timestamp_ms < now_ms || token.expiration_timestamp_ms < now_ms
}

/// The time in the answer to a request that failed: Kafka tells those that it does not look at at all.
fn timestamp_of(code: ErrorCode) -> i64 {
    match code {
        ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED => NO_TIMESTAMP,
        _ => 0,
    }
}

fn until_record(id: &str, token: &DelegationToken, until_ms: i64) -> Record {
    DelegationTokenRecord {
        owner: (&*token.owner).into(),
        requester: (&*token.requester).into(),
        renewers: token
            .renewers
            .iter()
            .map(|renewer| (&**renewer).into())
            .collect(),
        issue_timestamp: token.issue_timestamp_ms,
        max_timestamp: token.max_timestamp_ms,
        expiration_timestamp: until_ms,
        token_id: id.into(),
        ..Default::default()
    }
    .into()
}

fn removal(id: &str) -> Record {
    RemoveDelegationTokenRecord {
        token_id: id.into(),
        ..Default::default()
    }
    .into()
}

fn with_record<R>(response: R, record: Record) -> Decision<R> {
    let mut decision = Decision::answer(response);
    decision.records.push(record);
    decision
}

/// The type and the name of a principal.
fn parts(principal: &str) -> (SmallString, SmallString) {
    let (kind, name) = principal.split_once(':').unwrap_or((USER, principal));
    (kind.into(), name.into())
}
