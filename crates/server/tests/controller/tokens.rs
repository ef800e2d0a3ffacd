//! Delegation tokens, which brokers ask for on behalf of their clients.

use bytes::Bytes;
use klamm_metadata::Image;
use klamm_protocol::messages::create_delegation_token::{
    CreateDelegationTokenRequest, CreateDelegationTokenResponse,
};
use klamm_protocol::messages::expire_delegation_token::ExpireDelegationTokenRequest;
use klamm_protocol::messages::renew_delegation_token::RenewDelegationTokenRequest;
use klamm_protocol::{ErrorCode, Request, frame};

use crate::forwarding::envelope;
use crate::support::{Client, Follower, Home};

/// Asks as a client of a broker does.
async fn forwarded<R: Request>(client: &Client, user: &str, request: &R) -> R::Response {
    let response = client.ask(&envelope(user, request)).await;
    assert_eq!(ErrorCode(response.error_code), ErrorCode::NONE);
    let inner = response.response_data.expect("an answer");
    let decoded = frame::decode_response::<R>(&inner, R::STABLE.max);
    decoded.expect("an answer").1.value
}

async fn create(client: &Client, user: &str, lifetime_ms: i64) -> CreateDelegationTokenResponse {
    let request = CreateDelegationTokenRequest {
        max_lifetime_ms: lifetime_ms,
        ..Default::default()
    };
    forwarded(client, user, &request).await
}

fn renewal(hmac: &Bytes) -> RenewDelegationTokenRequest {
    RenewDelegationTokenRequest {
        hmac: hmac.clone(),
        renew_period_ms: -1,
        ..Default::default()
    }
}

fn has_tokens(image: &Image) -> bool {
    image.delegation_tokens().iter().next().is_some()
}

#[tokio::test]
async fn tokens_that_have_expired_are_removed() {
    let mut home = Home::new();
    home.set("delegation.token.secret.key", "secret");
    home.set("delegation.token.expiry.check.interval.ms", "20");
    let controller = home.start().await;
    let client = controller.connect().await;
    let mut observer = Follower::new(&controller, -1).await;
    let kept = create(&client, "alice", -1).await;
    let brief = create(&client, "alice", 1).await;
    assert_eq!(ErrorCode(brief.error_code), ErrorCode::NONE);
    assert_eq!(brief.max_timestamp_ms, brief.issue_timestamp_ms + 1);
    observer
        .until("the brief one is gone", |image| {
            let has = |id: &str| {
                image
                    .delegation_tokens()
                    .iter()
                    .any(|(known, _)| known == id)
            };
            has(&kept.token_id) && !has(&brief.token_id)
        })
        .await;
    let renewed = forwarded(&client, "alice", &renewal(&brief.hmac)).await;
    let code = ErrorCode(renewed.error_code);
    assert_eq!(code, ErrorCode::DELEGATION_TOKEN_NOT_FOUND);
    let renewed = forwarded(&client, "alice", &renewal(&kept.hmac)).await;
    assert_eq!(ErrorCode(renewed.error_code), ErrorCode::NONE);
    let request = ExpireDelegationTokenRequest {
        hmac: kept.hmac.clone(),
        expiry_time_period_ms: -1,
        ..Default::default()
    };
    let expired = forwarded(&client, "alice", &request).await;
    assert_eq!(ErrorCode(expired.error_code), ErrorCode::NONE);
    observer
        .until("the other is gone", |image| !has_tokens(image))
        .await;
}

#[tokio::test]
async fn there_are_none_without_a_secret_or_for_the_unknown() {
    let home = Home::new();
    let controller = home.start().await;
    let client = controller.connect().await;
    let created = create(&client, "alice", -1).await;
    let code = ErrorCode(created.error_code);
    assert_eq!(code, ErrorCode::DELEGATION_TOKEN_AUTH_DISABLED);
    // Who asks by itself has not shown who it is.
    let answer = client.ask(&renewal(&Bytes::from_static(b"any"))).await;
    let code = ErrorCode(answer.error_code);
    assert_eq!(code, ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED);
}

#[tokio::test]
async fn a_token_for_somebody_else_takes_a_right() {
    let mut home = Home::new();
    let authorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer";
    home.set("authorizer.class.name", authorizer);
    home.set("super.users", "User:ANONYMOUS;User:admin");
    home.set("delegation.token.secret.key", "secret");
    let controller = home.start().await;
    let client = controller.connect().await;
    let request = CreateDelegationTokenRequest {
        owner_principal_type: Some("User".into()),
        owner_principal_name: Some("bob".into()),
        max_lifetime_ms: -1,
        ..Default::default()
    };
    let by_admin = forwarded(&client, "admin", &request).await;
    assert_eq!(ErrorCode(by_admin.error_code), ErrorCode::NONE);
    let by_alice = forwarded(&client, "alice", &request).await;
    let code = ErrorCode(by_alice.error_code);
    assert_eq!(code, ErrorCode::DELEGATION_TOKEN_AUTHORIZATION_FAILED);
    let own = create(&client, "alice", -1).await;
    assert_eq!(ErrorCode(own.error_code), ErrorCode::NONE);
}
