//! Which fields hold passwords, tokens and keys.

use klamm_schema::{Field, Struct};

/// Fields that are secrets, as message, struct and field.
const SECRETS: &[(&str, &str, &str)] = &[
    (
        "AlterUserScramCredentialsRequest",
        "ScramCredentialUpsertion",
        "Salt",
    ),
    (
        "AlterUserScramCredentialsRequest",
        "ScramCredentialUpsertion",
        "SaltedPassword",
    ),
    (
        "CreateDelegationTokenResponse",
        "CreateDelegationTokenResponse",
        "Hmac",
    ),
    (
        "DescribeDelegationTokenResponse",
        "DescribedDelegationToken",
        "Hmac",
    ),
    // Which response is inside is known only from its request.
    ("EnvelopeResponse", "EnvelopeResponse", "ResponseData"),
    (
        "ExpireDelegationTokenRequest",
        "ExpireDelegationTokenRequest",
        "Hmac",
    ),
    (
        "RenewDelegationTokenRequest",
        "RenewDelegationTokenRequest",
        "Hmac",
    ),
    (
        "SaslAuthenticateRequest",
        "SaslAuthenticateRequest",
        "AuthBytes",
    ),
    (
        "SaslAuthenticateResponse",
        "SaslAuthenticateResponse",
        "AuthBytes",
    ),
    (
        "UserScramCredentialRecord",
        "UserScramCredentialRecord",
        "Salt",
    ),
    (
        "UserScramCredentialRecord",
        "UserScramCredentialRecord",
        "ServerKey",
    ),
    (
        "UserScramCredentialRecord",
        "UserScramCredentialRecord",
        "StoredKey",
    ),
];

/// Messages with values of configs, some of which are passwords.
const CONFIGS: &[&str] = &[
    "AlterConfigsRequest",
    "ConfigRecord",
    "CreateTopicsRequest",
    "CreateTopicsResponse",
    "DescribeConfigsResponse",
    "IncrementalAlterConfigsRequest",
];

/// Whether a message has a field that may be a secret, so that bytes of it that cannot be read may be
/// one too.
pub(crate) fn has_any(message: &str) -> bool {
    SECRETS.iter().any(|(known, ..)| *known == message)
        || CONFIGS.contains(&message)
        || message == "EnvelopeRequest"
}

/// Whether a field is a secret. `name` is the last config's name.
pub(crate) fn is_secret(message: &str, owner: &Struct, field: &Field, name: Option<&str>) -> bool {
    let is_config = field.name == "Value" && CONFIGS.contains(&message);
    (is_config && name.is_some_and(is_secret_config))
        || SECRETS.contains(&(message, owner.name.as_str(), field.name.as_str()))
}

/// Whether a field is the name of a config.
pub(crate) fn names_config(field: &Field) -> bool {
    field.name == "Name"
}

/// Whether a config of this name is of Kafka's type `password`, or one that a plugin made up.
fn is_secret_config(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [
        "password",
        "passphrase",
        "secret",
        "jaas.config",
        "keystore.key",
        "keystore.certificate.chain",
        "truststore.certificates",
        "credential",
    ]
    .iter()
    .any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_secret_is_a_field_of_a_schema() {
        for (message, owner, field) in SECRETS {
            let schema = crate::schema(message).unwrap();
            let found = [&schema.root]
                .into_iter()
                .chain(&schema.structs)
                .find(|candidate| candidate.name == *owner)
                .unwrap_or_else(|| panic!("{message}.{owner}"));
            assert!(
                found.fields.iter().any(|f| f.name == *field),
                "{message}.{owner}.{field}"
            );
        }
        for message in CONFIGS {
            assert!(crate::schema(message).is_some(), "{message}");
        }
    }

    #[test]
    fn passwords_are_told_from_other_configs() {
        // Every one of type `password` in Apache Kafka 4.4.0.
        for name in [
            "delegation.token.secret.key",
            "listener.name.x.plain.sasl.jaas.config",
            "sasl.jaas.config",
            "sasl.oauthbearer.assertion.private.key.passphrase",
            "sasl.oauthbearer.client.credentials.client.secret",
            "ssl.key.password",
            "ssl.keystore.certificate.chain",
            "ssl.keystore.key",
            "ssl.keystore.password",
            "ssl.truststore.certificates",
            "ssl.truststore.password",
        ] {
            assert!(is_secret_config(name), "{name}");
        }
        for name in [
            "cleanup.policy",
            "sasl.oauthbearer.token.endpoint.url",
            "ssl.truststore.location",
        ] {
            assert!(!is_secret_config(name), "{name}");
        }
    }
}
