use expect_test::{Expect, expect};

use super::*;

fn read(text: &str) -> Result<(ClientSettings, Values), ConfigError> {
    let properties = Properties::parse("client.properties", text).expect("readable");
    ClientSettings::read(&properties)
}

#[track_caller]
fn error(text: &str, expected: &Expect) {
    let error = read(text).expect_err("refused");
    expected.assert_eq(&error.to_string());
}

#[track_caller]
fn warnings(text: &str, expected: &Expect) {
    let (_, values) = read(text).expect("accepted");
    let lines: Vec<_> = values.warnings().iter().map(ToString::to_string).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn defaults_are_kafkas() {
    let (settings, values) = read("").expect("accepted");
    assert!(values.warnings().is_empty());
    expect![[r#"
        ClientSettings {
            bootstrap_servers: [],
            bootstrap_controllers: [],
            client_id: None,
            request_timeout: 30s,
            default_api_timeout: 60s,
            api_timeout_is_given: false,
            request_timeout_is_given: false,
            retries: 2147483647,
            retry_backoff: 100ms,
            retry_backoff_max: 1s,
            reconnect_backoff: 50ms,
            reconnect_backoff_max: 1s,
            connection_setup_timeout: 10s,
            security_protocol: Plaintext,
        }
    "#]]
    .assert_debug_eq(&settings);
}

#[test]
fn given_values_win() {
    let text = "bootstrap.servers = a:1 , b:2\nclient.id=ops\nrequest.timeout.ms=1000\n\
        default.api.timeout.ms=2000 \nretries=3\nretry.backoff.ms=1\nretry.backoff.max.ms=2\n\
        reconnect.backoff.ms=3\nreconnect.backoff.max.ms=4\nsecurity.protocol=plaintext";
    let (settings, values) = read(text).expect("accepted");
    assert!(values.warnings().is_empty());
    assert!(settings.api_timeout_is_given && settings.request_timeout_is_given);
    assert_eq!(settings.bootstrap_servers.len(), 2);
    assert_eq!(settings.client_id.as_deref(), Some("ops"));
    assert_eq!(settings.request_timeout, Duration::from_secs(1));
    assert_eq!(settings.default_api_timeout, Duration::from_secs(2));
    assert_eq!(settings.retries, 3);
    assert_eq!(settings.reconnect_backoff_max, Duration::from_millis(4));
}

#[test]
fn a_long_request_timeout_lengthens_the_default_of_a_call() {
    let (settings, _) = read("request.timeout.ms=90000").expect("accepted");
    assert_eq!(settings.default_api_timeout, Duration::from_secs(90));
}

#[test]
fn a_short_time_for_calls_is_not_measured_by_the_default_of_requests() {
    let (settings, _) = read("default.api.timeout.ms=20000").expect("accepted");
    assert_eq!(settings.default_api_timeout, Duration::from_secs(20));
}

#[test]
fn wrong_values_are_all_named_with_file_and_line() {
    error(
        "request.timeout.ms=30s\n\nretries=-1\nretry.backoff.ms=2147483648",
        &expect![[r#"
            client.properties:1: request.timeout.ms=30s: the value must be a whole number from 0 to 2147483647 (milliseconds)
            client.properties:3: retries=-1: the value must be a whole number from 0 to 2147483647
            client.properties:4: retry.backoff.ms=2147483648: the value must be a whole number from 0 to 2147483647 (milliseconds)"#]],
    );
    error(
        "default.api.timeout.ms=10000\nrequest.timeout.ms=10001",
        &expect![
            "client.properties:1: default.api.timeout.ms=10000: the value must be at least request.timeout.ms"
        ],
    );
    error(
        "retry.backoff.ms=10\nretry.backoff.max.ms=5",
        &expect![
            "client.properties:2: retry.backoff.max.ms=5: the value must be at least retry.backoff.ms"
        ],
    );
    error(
        "bootstrap.servers=a:1\nbootstrap.controllers=b:2",
        &expect![
            "client.properties:2: bootstrap.controllers=b:2: bootstrap.servers is given too: keep one of them"
        ],
    );
}

#[test]
fn protocols_of_a_later_release() {
    error(
        "client.id=x\nsecurity.protocol=SASL_SSL",
        &expect![
            "client.properties:2: security.protocol=SASL_SSL: this release of klamm speaks PLAINTEXT only, SSL and SASL come in a later one; until then use a PLAINTEXT listener of the cluster"
        ],
    );
    error(
        "security.protocol=TLS",
        &expect![
            "client.properties:1: security.protocol=TLS: the value must be one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"
        ],
    );
}

#[test]
fn unknown_and_unused_keys_warn_once() {
    warnings(
        "reqeust.timeout.ms=1\nreqeust.timeout.ms=2\nfoo=bar\nmetadata.max.age.ms=5\nmetrics.num.samples=2",
        &expect![[r#"
            client.properties:2: reqeust.timeout.ms is not a known key: ignored (did you mean request.timeout.ms?)
            client.properties:3: foo is not a known key: ignored
            client.properties:4: metadata.max.age.ms has no effect here: ignored
            client.properties:5: metrics.num.samples has no effect here: ignored"#]],
    );
}

#[test]
fn security_keys_are_ignored_with_a_warning_and_never_shown() {
    let text = "ssl.truststore.password=hunter2\nsasl.jaas.config=hunter2\nsasl.mechanism=PLAIN";
    warnings(
        text,
        &expect![[r#"
        client.properties:1: ssl.truststore.password is ignored: connections are PLAINTEXT
        client.properties:2: sasl.jaas.config is ignored: connections are PLAINTEXT
        client.properties:3: sasl.mechanism is ignored: connections are PLAINTEXT"#]],
    );
    let debug = format!("{:?}", read(text).expect("accepted"));
    assert!(!debug.contains("hunter2"), "{debug}");
}
