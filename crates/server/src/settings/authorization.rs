use std::time::Duration;

use klamm_config::{Reading, Values};
use klamm_controller::DelegationTokenConfig;
use klamm_metadata::AuthorizerConfig;

use super::keys::STANDARD_AUTHORIZER;
use super::{flag, long, long_millis};

/// How delegation tokens are made (KIP-48), and when expired ones go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenSettings {
    /// `delegation.token.secret.key`, without which there are no tokens,
    /// `delegation.token.max.lifetime.ms` and `delegation.token.expiry.time.ms`.
    pub config: DelegationTokenConfig,
    /// `delegation.token.expiry.check.interval.ms`: how often expired ones are removed.
    pub expiry_check_interval: Duration,
}

impl TokenSettings {
    pub(super) fn new(values: &Values) -> Self {
        let secret = values.string("delegation.token.secret.key");
        Self {
            config: DelegationTokenConfig {
                secret_key: secret.filter(|secret| !secret.is_empty()).map(Into::into),
                max_lifetime_ms: long(values, "delegation.token.max.lifetime.ms"),
                expiry_time_ms: long(values, "delegation.token.expiry.time.ms"),
            },
            expiry_check_interval: long_millis(values, "delegation.token.expiry.check.interval.ms"),
        }
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
