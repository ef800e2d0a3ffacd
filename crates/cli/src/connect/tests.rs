use expect_test::{Expect, expect};

use super::*;

fn join(args: &ConnectionArgs, text: &str) -> Result<(Target, Vec<String>), Problem> {
    let properties = Properties::parse("client.properties", text).expect("readable");
    Target::join(args, &properties)
}

fn server(list: &str) -> ConnectionArgs {
    ConnectionArgs {
        bootstrap_server: Some(list.to_owned()),
        ..ConnectionArgs::default()
    }
}

#[track_caller]
fn refused(args: &ConnectionArgs, text: &str, expected: &Expect) {
    let problem = join(args, text).expect_err("refused");
    assert_eq!(problem.exit(), crate::exit::Exit::Misuse);
    expected.assert_eq(&problem.to_string());
}

#[test]
fn flags_win_over_the_file() {
    let text = "bootstrap.servers=file:1\ndefault.api.timeout.ms=45000\nclient.id=ops";
    let (target, warnings) = join(&server("flag:2"), text).expect("accepted");
    assert!(warnings.is_empty());
    let expected = Bootstrap::Brokers(vec![ServerAddress::new("flag", 2)]);
    assert_eq!(target.config.bootstrap, expected);
    assert_eq!(target.timeout(), Duration::from_secs(45));
    assert_eq!(target.config.client_id.as_deref(), Some("ops"));

    let args = ConnectionArgs {
        timeout: Some(Duration::from_secs(1)),
        ..ConnectionArgs::default()
    };
    let (target, _) = join(&args, text).expect("accepted");
    let expected = Bootstrap::Brokers(vec![ServerAddress::new("file", 1)]);
    assert_eq!(target.config.bootstrap, expected);
    assert_eq!(target.timeout(), Duration::from_secs(1));
}

#[test]
fn timeouts_are_apaches_where_nothing_is_said() {
    let (target, _) = join(&server("a:1"), "").expect("accepted");
    assert_eq!(target.timeout(), Duration::from_secs(30));
    assert_eq!(target.config.request_timeout, Duration::from_secs(15));
    let (target, _) = join(&server("a:1"), "request.timeout.ms=60000").expect("accepted");
    assert_eq!(target.timeout(), Duration::from_secs(60));
}

#[test]
fn controllers_come_from_flag_or_file() {
    let args = ConnectionArgs {
        bootstrap_controller: Some("c:1".to_owned()),
        ..ConnectionArgs::default()
    };
    assert!(
        join(&args, "bootstrap.servers=a:1")
            .expect("accepted")
            .0
            .is_controllers()
    );
    let file = join(&ConnectionArgs::default(), "bootstrap.controllers=c:1");
    assert!(file.expect("accepted").0.is_controllers());
}

#[test]
fn warnings_are_passed_on() {
    let (_, warnings) = join(&server("a:1"), "foo=1\nssl.key.password=hunter2").expect("accepted");
    expect![[r#"
        client.properties:1: foo is not a known key: ignored
        client.properties:2: ssl.key.password is ignored: connections are PLAINTEXT"#]]
    .assert_eq(&warnings.join("\n"));
}

#[test]
fn the_documentation_lists_every_key() {
    let text = include_str!("../../../../docs/elect.md");
    for key in klamm_config::client_keys().keys {
        assert!(text.contains(&format!("`{}`", key.name)), "{}", key.name);
    }
}

#[test]
fn refusals() {
    let none = ConnectionArgs::default();
    refused(
        &none,
        "",
        &expect![[r#"
        error: no server is named
          next step: name a broker with --bootstrap-server host:port, or in --command-config"#]],
    );
    refused(
        &server("kafka"),
        "",
        &expect![[
            r#"error: --bootstrap-server: "kafka" is not a server address: the port is missing; write host:port, such as localhost:9092 or [::1]:9092"#
        ]],
    );
    refused(
        &server(","),
        "",
        &expect![[
            r#"error: --bootstrap-server: "," is not a server address: it names no server; write host:port, such as localhost:9092 or [::1]:9092"#
        ]],
    );
    refused(
        &none,
        "\nbootstrap.servers=a:99999",
        &expect![[
            r#"error: client.properties:2: bootstrap.servers: "a:99999" is not a server address: the port is not a number from 1 to 65535; write host:port, such as localhost:9092 or [::1]:9092"#
        ]],
    );
    refused(
        &server("a:1"),
        "security.protocol=SSL",
        &expect![[r#"
        error: the client's properties file cannot be used
          cause: client.properties:1: security.protocol=SSL: this release of klamm speaks PLAINTEXT only, SSL and SASL come in a later one; until then use a PLAINTEXT listener of the cluster"#]],
    );
    refused(
        &server("a:1"),
        "retries=many\nrequest.timeout.ms=x",
        &expect![[r#"
            error: the client's properties file cannot be used
              cause: client.properties:1: retries=many: the value must be a whole number from 0 to 2147483647
                client.properties:2: request.timeout.ms=x: the value must be a whole number from 0 to 2147483647 (milliseconds)"#]],
    );
}
