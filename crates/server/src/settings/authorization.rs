use std::time::Duration;

use klamm_config::{Reading, Values};
use klamm_metadata::AuthorizerConfig;

use super::keys::STANDARD_AUTHORIZER;
use super::{flag, long_millis};

/// How delegation tokens are made (KIP-48).
#[derive(Clone, PartialEq, Eq)]
pub struct TokenSettings {
    /// `delegation.token.secret.key`: what they are signed with.
    pub secret: String,
    /// `delegation.token.max.lifetime.ms`: the longest that a token lives.
    pub max_lifetime: Duration,
    /// `delegation.token.expiry.time.ms`: how long it lives unless it is renewed.
    pub expiry_time: Duration,
    /// `delegation.token.expiry.check.interval.ms`: how often expired ones are removed.
    pub expiry_check_interval: Duration,
}

impl std::fmt::Debug for TokenSettings {
    /// The secret is left out.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenSettings")
            .field("max_lifetime", &self.max_lifetime)
            .field("expiry_time", &self.expiry_time)
            .field("expiry_check_interval", &self.expiry_check_interval)
            .finish_non_exhaustive()
    }
}

impl TokenSettings {
    pub(super) fn new(values: &Values) -> Option<Self> {
        let secret = values.string("delegation.token.secret.key")?;
        if secret.is_empty() {
            return None;
        }
        Some(Self {
            secret: secret.to_owned(),
            max_lifetime: long_millis(values, "delegation.token.max.lifetime.ms"),
            expiry_time: long_millis(values, "delegation.token.expiry.time.ms"),
            expiry_check_interval: long_millis(values, "delegation.token.expiry.check.interval.ms"),
        })
    }
}

/// What allows and denies; nothing does where no authorizer is named.
pub(super) fn authorizer(reading: &mut Reading<'_>) -> Option<AuthorizerConfig> {
    let mut config = AuthorizerConfig {
        allow_everyone_if_no_acl_found: flag(reading.values(), "allow.everyone.if.no.acl.found"),
        ..AuthorizerConfig::default()
    };
    let users = reading.values().string("super.users").unwrap_or_default();
    let users: Vec<String> = users
        .split(';')
        .map(|user| user.trim().to_owned())
        .collect();
    for user in users {
        match user.split_once(':') {
            _ if user.is_empty() => {}
            Some((kind, name)) if !kind.is_empty() && !name.is_empty() => {
                config.super_users.insert(user);
            }
            _ => reading.wrong(
                "super.users",
                format!("{user:?} must be a principal such as User:admin; ';' separates several"),
            ),
        }
    }
    let class = reading.values().string("authorizer.class.name");
    match class.unwrap_or_default() {
        "" => None,
        STANDARD_AUTHORIZER => Some(config),
        _ => {
            let what = format!(
                "klamm loads no authorizer written in Java, but has the rules of \
                 {STANDARD_AUTHORIZER}: name that one, or none"
            );
            reading.wrong("authorizer.class.name", what);
            None
        }
    }
}
