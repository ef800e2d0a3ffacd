//! Delegation tokens. Brokers pass requests on for clients that said who they are.

use bytes::Bytes;
use klamm_cluster::Spec;
use klamm_protocol::data::clients::DefaultPrincipalData;
use klamm_protocol::messages::create_delegation_token::{
    CreateDelegationTokenRequest, CreateDelegationTokenResponse,
};
use klamm_protocol::messages::envelope::EnvelopeRequest;
use klamm_protocol::messages::expire_delegation_token::ExpireDelegationTokenRequest;
use klamm_protocol::messages::renew_delegation_token::RenewDelegationTokenRequest;
use klamm_protocol::{ErrorCode, Request, encode, frame};
use klamm_suite::Wire;

use crate::{CONTROLLER, Context};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Who asks the controller itself has not shown who it is; whom a broker vouches for may have tokens,
/// but none by another token.
pub(crate) fn allowed(context: &mut Context) {
    let cluster = Spec::separate(1, 0)
        .controllers(context.program.clone())
        .property("delegation.token.secret.key", "a secret")
        .start();
    let mut wire = Wire::connect(&cluster.controller(CONTROLLER));
    let not_allowed = ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED;
    for owner in [None, Some("bob")] {
        let request = CreateDelegationTokenRequest {
            owner_principal_type: owner.map(|_| "User".into()),
            owner_principal_name: owner.map(Into::into),
            ..creation()
        };
        let created = wire.call(3, &request);
        assert_eq!(ErrorCode(created.error_code), not_allowed);
        let times = [created.issue_timestamp_ms, created.max_timestamp_ms];
        assert_eq!(times, [-1; 2]);
        assert_eq!(&*created.principal_name, owner.unwrap_or("ANONYMOUS"));
        assert_eq!(&*created.token_requester_principal_name, "ANONYMOUS");
    }
    let nothing = Bytes::from_static(b"nothing");
    let answer = wire.call(2, &renewal(&nothing));
    assert_eq!(ErrorCode(answer.error_code), not_allowed);
    assert_eq!(answer.expiry_timestamp_ms, -1);
    let answer = wire.call(2, &expiry(&nothing));
    assert_eq!(ErrorCode(answer.error_code), not_allowed);
    assert_eq!(answer.expiry_timestamp_ms, -1);

    let by_token = forwarded(&mut wire, "alice", true, 3, &creation());
    assert_eq!(ErrorCode(by_token.error_code), not_allowed);
    let created: CreateDelegationTokenResponse =
        forwarded(&mut wire, "alice", false, 3, &creation());
    assert_eq!(ErrorCode(created.error_code), ErrorCode::NONE);
    let (issued, hmac) = (created.issue_timestamp_ms, created.hmac);
    assert_eq!(created.expiry_timestamp_ms, issued + DAY_MS);
    assert_eq!(created.max_timestamp_ms, issued + 7 * DAY_MS);
    assert_eq!(hmac.len(), 64, "SHA-512");

    let mut renew = |user, hmac: &Bytes| {
        let answer = forwarded(&mut wire, user, false, 2, &renewal(hmac));
        (ErrorCode(answer.error_code), answer.expiry_timestamp_ms)
    };
    let mismatch = ErrorCode::DELEGATION_TOKEN_OWNER_MISMATCH;
    let not_found = ErrorCode::DELEGATION_TOKEN_NOT_FOUND;
    // Apache Kafka's controller knows a token by its HMAC some time after it has made it.
    cluster.wait("the token to be known", || {
        let (code, _) = renew("mallory", &hmac);
        assert!([not_found, mismatch].contains(&code), "{code}");
        code == mismatch
    });
    assert_eq!(renew("alice", &nothing), (not_found, 0));
    let (code, until) = renew("alice", &hmac);
    assert_eq!(code, ErrorCode::NONE);
    assert!(until >= created.expiry_timestamp_ms, "{until}");
    let answer = forwarded(&mut wire, "mallory", false, 2, &expiry(&hmac));
    assert_eq!(ErrorCode(answer.error_code), mismatch);
    let answer = forwarded(&mut wire, "alice", false, 2, &expiry(&hmac));
    assert_eq!(ErrorCode(answer.error_code), ErrorCode::NONE);
    cluster.wait("the token to be forgotten", || {
        let answer = forwarded(&mut wire, "alice", false, 2, &expiry(&hmac));
        ErrorCode(answer.error_code) == not_found
    });
}

fn creation() -> CreateDelegationTokenRequest {
    CreateDelegationTokenRequest {
        max_lifetime_ms: -1,
        ..Default::default()
    }
}

fn renewal(hmac: &Bytes) -> RenewDelegationTokenRequest {
    RenewDelegationTokenRequest {
        hmac: hmac.clone(),
        renew_period_ms: -1,
        ..Default::default()
    }
}

fn expiry(hmac: &Bytes) -> ExpireDelegationTokenRequest {
    ExpireDelegationTokenRequest {
        hmac: hmac.clone(),
        expiry_time_period_ms: -1,
        ..Default::default()
    }
}

/// Asks as a broker does for its client.
fn forwarded<R: Request>(
    wire: &mut Wire,
    user: &str,
    token_authenticated: bool,
    version: i16,
    request: &R,
) -> R::Response {
    let inner = frame::encode_request(7, None, version, request).unwrap();
    let principal = DefaultPrincipalData {
        r#type: "User".into(),
        name: user.into(),
        token_authenticated,
        ..DefaultPrincipalData::default()
    };
    // The version of the principal comes first.
    let mut bytes = vec![0, 0];
    bytes.extend_from_slice(&encode(&principal, 0).unwrap());
    let envelope = EnvelopeRequest {
        request_data: inner.into_bytes().slice(4..),
        request_principal: Some(bytes.into()),
        client_host_address: Bytes::from_static(&[10, 0, 0, 1]),
        ..EnvelopeRequest::default()
    };
    let answer = wire.call(0, &envelope);
    assert_eq!(ErrorCode(answer.error_code), ErrorCode::NONE);
    let inner = answer.response_data.unwrap();
    let (_, body) = frame::decode_response::<R>(&inner, version).unwrap();
    body.value
}
