use klamm_protocol::Uuid;
use klamm_protocol::messages::create_delegation_token::{
    CreatableRenewers, CreateDelegationTokenRequest, CreateDelegationTokenResponse,
};
use klamm_protocol::messages::describe_delegation_token::{
    DescribeDelegationTokenOwner, DescribeDelegationTokenRequest,
};

use super::*;
use crate::testing::Fixture;

const ALICE: &str = "User:alice";
const BOB: &str = "User:bob";
const CAROL: &str = "User:carol";
const NOW: i64 = 1_000_000;

fn config() -> DelegationTokenConfig {
    DelegationTokenConfig {
        secret_key: Some("secret".into()),
        max_lifetime_ms: 1000,
        expiry_time_ms: 100,
    }
}

fn asks(principal: &str, now_ms: i64) -> TokenRequester<'_> {
    TokenRequester {
        principal,
        is_allowed: true,
        now_ms,
    }
}

fn create_for(
    fixture: &Fixture,
    requester: TokenRequester<'_>,
    owner: Option<&str>,
    renewer_type: &str,
) -> Decision<CreateDelegationTokenResponse> {
    let request = CreateDelegationTokenRequest {
        owner_principal_type: owner.map(|_| "User".into()),
        owner_principal_name: owner.map(Into::into),
        renewers: vec![CreatableRenewers {
            principal_type: renewer_type.into(),
            principal_name: "bob".into(),
            ..Default::default()
        }],
        max_lifetime_ms: 5000,
        ..Default::default()
    };
    let asked = CreateDelegationToken {
        request: &request,
        requester,
        may_create_for: &|owner| owner == BOB,
    };
    asked.decide(&fixture.view(), &config(), Uuid::from_bytes([7; 16]))
}

/// A cluster with one token: alice's, which bob may renew.
fn cluster() -> (Fixture, Bytes) {
    let mut fixture = Fixture::new(0);
    let decision = create_for(&fixture, asks(ALICE, NOW), None, "User");
    fixture.carry_out(&decision);
    (fixture, decision.response.hmac)
}

fn renew(fixture: &Fixture, hmac: &Bytes, who: TokenRequester<'_>, period: i64) -> (i16, i64) {
    let request = RenewDelegationTokenRequest {
        hmac: hmac.clone(),
        renew_period_ms: period,
        ..Default::default()
    };
    let decision = renew_delegation_token(&fixture.view(), &request, &who, &config());
    let response = decision.response;
    assert_eq!(
        decision.records.len(),
        usize::from(response.error_code == 0)
    );
    (response.error_code, response.expiry_timestamp_ms)
}

fn expire(
    fixture: &Fixture,
    hmac: &Bytes,
    who: TokenRequester<'_>,
    period: i64,
) -> Decision<ExpireDelegationTokenResponse> {
    let request = ExpireDelegationTokenRequest {
        hmac: hmac.clone(),
        expiry_time_period_ms: period,
        ..Default::default()
    };
    expire_delegation_token(&fixture.view(), &request, &who, &config())
}

#[test]
fn a_token_stands_for_its_owner_and_ends() {
    let (fixture, hmac) = cluster();
    let (id, token) = fixture.image.delegation_tokens().iter().next().unwrap();
    assert_eq!(id, "BwcHBwcHBwcHBwcHBwcHBw");
    assert_eq!((&*token.owner, &*token.requester), (ALICE, ALICE));
    assert_eq!(token.renewers, [BOB.into()]);
    // The client asked for more than there is.
    assert_eq!(token.max_timestamp_ms, NOW + 1000);
    assert_eq!(token.expiration_timestamp_ms, NOW + 100);
    assert_eq!(hmac.len(), 64);
    assert_eq!(hmac[..4], [0x3b, 0x9a, 0x15, 0xf6]);
}

#[test]
fn who_may_have_a_token() {
    let fixture = Fixture::new(0);
    let code = |decision: Decision<CreateDelegationTokenResponse>| {
        let code = ErrorCode(decision.response.error_code);
        assert_eq!(decision.records.is_empty(), code != ErrorCode::NONE);
        code
    };
    let alice = asks(ALICE, NOW);
    let for_bob = create_for(&fixture, alice, Some("bob"), "User");
    assert_eq!(&*for_bob.response.principal_name, "bob");
    assert_eq!(&*for_bob.response.token_requester_principal_name, "alice");
    assert_eq!(code(for_bob), ErrorCode::NONE);
    let failed = ErrorCode::DELEGATION_TOKEN_AUTHORIZATION_FAILED;
    assert_eq!(
        code(create_for(&fixture, alice, Some("carol"), "User")),
        failed
    );
    let invalid = ErrorCode::INVALID_PRINCIPAL_TYPE;
    assert_eq!(code(create_for(&fixture, alice, None, "Group")), invalid);
    let by_token = TokenRequester {
        is_allowed: false,
        ..alice
    };
    let refused = create_for(&fixture, by_token, None, "User");
    assert_eq!(refused.response.max_timestamp_ms, -1);
    assert_eq!(
        code(refused),
        ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    );
    let mut old = Fixture::new(0);
    old.feature("metadata.version", 13);
    assert_eq!(
        code(create_for(&old, alice, None, "User")),
        ErrorCode::UNSUPPORTED_VERSION
    );
    let request = CreateDelegationTokenRequest::default();
    let asked = CreateDelegationToken {
        request: &request,
        requester: alice,
        may_create_for: &|_| true,
    };
    let off = asked.decide(&fixture.view(), &DelegationTokenConfig::new(), Uuid::ZERO);
    assert_eq!(code(off), ErrorCode::DELEGATION_TOKEN_AUTH_DISABLED);
}

#[test]
fn a_token_is_renewed_up_to_its_end() {
    let (fixture, hmac) = cluster();
    assert_eq!(
        renew(&fixture, &hmac, asks(ALICE, NOW + 50), 0),
        (0, NOW + 150)
    );
    assert_eq!(
        renew(&fixture, &hmac, asks(BOB, NOW + 50), 10),
        (0, NOW + 60)
    );
    assert_eq!(
        renew(&fixture, &hmac, asks(BOB, NOW + 50), i64::MAX),
        (0, NOW + 150)
    );
    let code = |hmac: &Bytes, who, now| renew(&fixture, hmac, asks(who, now), 0).0;
    let mismatch = ErrorCode::DELEGATION_TOKEN_OWNER_MISMATCH.0;
    assert_eq!(code(&hmac, CAROL, NOW), mismatch);
    let expired = ErrorCode::DELEGATION_TOKEN_EXPIRED.0;
    assert_eq!(code(&hmac, CAROL, NOW + 101), expired);
    let unknown = Bytes::from_static(b"another");
    let not_found = ErrorCode::DELEGATION_TOKEN_NOT_FOUND.0;
    assert_eq!(code(&unknown, ALICE, NOW), not_found);
}

#[test]
fn a_token_is_ended_at_once_or_later() {
    let (mut fixture, hmac) = cluster();
    let later = expire(&fixture, &hmac, asks(BOB, NOW), 5000);
    assert_eq!(later.response.expiry_timestamp_ms, NOW + 1000);
    let other = expire(&fixture, &hmac, asks(CAROL, NOW), -1);
    let mismatch = ErrorCode::DELEGATION_TOKEN_OWNER_MISMATCH.0;
    assert_eq!(
        (other.response.error_code, other.records.len()),
        (mismatch, 0)
    );
    let late = expire(&fixture, &hmac, asks(ALICE, NOW + 101), 5);
    assert_eq!(
        late.response.error_code,
        ErrorCode::DELEGATION_TOKEN_EXPIRED.0
    );
    // One that has expired can still be removed.
    let removed = expire(&fixture, &hmac, asks(ALICE, NOW + 101), -1);
    assert_eq!(removed.response.expiry_timestamp_ms, NOW + 101);
    fixture.carry_out(&removed);
    assert_eq!(fixture.image.delegation_tokens().iter().count(), 0);
}

#[test]
fn tokens_that_have_expired_are_removed() {
    let mut fixture = Fixture::new(0);
    for number in 0..1500i64 {
        fixture.apply(DelegationTokenRecord {
            token_id: (&*number.to_string()).into(),
            expiration_timestamp: number,
            max_timestamp: i64::MAX,
            ..Default::default()
        });
    }
    for (removed, more) in [(1000, true), (400, false), (0, false)] {
        let decision = remove_expired_tokens(&fixture.view(), 1400);
        assert_eq!((decision.records.len(), decision.response), (removed, more));
        fixture.carry_out(&decision);
    }
    assert_eq!(fixture.image.delegation_tokens().iter().count(), 100);
}

#[test]
fn tokens_are_told_to_those_whom_they_concern() {
    let (fixture, hmac) = cluster();
    let seen = |owners: Option<&[&str]>, who, of_owner: bool| {
        let owners = owners.map(|owners| {
            let owners = owners.iter().map(|name| DescribeDelegationTokenOwner {
                principal_type: "User".into(),
                principal_name: (*name).into(),
                ..Default::default()
            });
            owners.collect()
        });
        let request = DescribeDelegationTokenRequest {
            owners,
            ..Default::default()
        };
        let asked = DescribeDelegationToken {
            request: &request,
            requester: asks(who, NOW),
            may_describe: &|_| false,
            may_describe_of: &|_| of_owner,
        };
        asked.answer(&fixture.view(), &config()).tokens
    };
    assert_eq!(seen(None, ALICE, false)[0].hmac, hmac);
    assert_eq!(seen(None, BOB, false).len(), 1);
    assert_eq!(seen(None, CAROL, false).len(), 0);
    assert_eq!(seen(None, CAROL, true).len(), 1);
    assert_eq!(seen(Some(&[]), ALICE, true).len(), 0);
    assert_eq!(seen(Some(&["carol"]), ALICE, true).len(), 0);
    assert_eq!(seen(Some(&["carol", "alice"]), CAROL, true).len(), 1);
}

#[test]
fn the_secret_key_is_not_printed() {
    assert!(!format!("{:?}", config()).contains("secret\""));
}
