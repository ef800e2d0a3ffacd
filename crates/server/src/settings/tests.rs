use std::collections::BTreeSet;
use std::path::Path;

use expect_test::{Expect, expect};
use klamm_config::is_secret;
use klamm_protocol::BrokerId;

use super::*;

const CONTROLLER: &str = "\
node.id=1
process.roles=controller
controller.listener.names=CONTROLLER
listeners=CONTROLLER://localhost:9093
controller.quorum.bootstrap.servers=localhost:9093
log.dirs=/data
";

fn properties(text: &str) -> Properties {
    Properties::parse("server.properties", text).expect("readable")
}

fn read(more: &str) -> ControllerSettings {
    let read = ControllerSettings::read(&properties(&format!("{CONTROLLER}{more}")));
    read.expect("usable").0
}

/// What is said of a file that ends in these lines.
fn says(text: &str, expected: &Expect) {
    let said = match ControllerSettings::read(&properties(text)) {
        Ok((_, warnings)) => warnings
            .iter()
            .map(|warning| format!("warning: {warning}\n"))
            .collect(),
        Err(error) => format!("{error}\n"),
    };
    expected.assert_eq(&said);
}

fn says_of(more: &str, expected: &Expect) {
    says(&format!("{CONTROLLER}{more}"), expected);
}

#[test]
fn defaults_are_kafkas() {
    let settings = read("");
    assert_eq!(settings.node.id, BrokerId(1));
    assert_eq!(settings.node.metadata_log_dir, Path::new("/data"));
    assert_eq!(settings.broker_session_timeout, Duration::from_secs(9));
    assert_eq!(
        settings.connection_loss_grace,
        Some(Duration::from_millis(300))
    );
    assert_eq!(
        settings.leader_rebalance_interval,
        Some(Duration::from_secs(300))
    );
    let properties = settings.controller.properties.clone();
    assert_eq!(
        properties.get("log.dirs").map(String::as_str),
        Some("/data")
    );
    let defaults = ControllerConfig {
        properties,
        ..ControllerConfig::new(BrokerId(1))
    };
    assert_eq!(settings.controller, defaults);
    assert_eq!(
        settings.metadata_log.options,
        klamm_log::LogOptions::METADATA
    );
    assert_eq!(settings.authorizer, None);
    assert_eq!(settings.tokens.config.secret_key, None);
    assert!(settings.delete_topics);
    expect![[r#"
        [
            Listener {
                name: "CONTROLLER",
                host: Some(
                    "localhost",
                ),
                port: 9093,
                advertised_host: Some(
                    "localhost",
                ),
                advertised_port: 9093,
                security_protocol: "PLAINTEXT",
            },
        ]
    "#]]
    .assert_debug_eq(&settings.node.controller_listeners);
}

#[test]
fn zero_and_minus_one_turn_things_off() {
    let settings = read(
        "klamm.broker.connection.loss.grace.ms=0\nconnections.max.idle.ms=-1\n\
         auto.leader.rebalance.enable=false\nmetadata.max.idle.interval.ms=0\n\
         metadata.log.max.snapshot.interval.ms=0\nmetadata.max.retention.bytes=-1\n\
         metadata.max.retention.ms=-1\n",
    );
    assert_eq!(settings.connection_loss_grace, None);
    assert_eq!(settings.connections.max_idle, None);
    assert_eq!(settings.leader_rebalance_interval, None);
    assert_eq!(settings.metadata_log.max_idle_interval, None);
    assert_eq!(settings.metadata_log.max_snapshot_interval, None);
    assert_eq!(settings.metadata_log.max_retention_bytes, None);
    assert_eq!(settings.metadata_log.max_retention, None);
}

#[test]
fn an_empty_file_says_everything_that_it_lacks() {
    says(
        "",
        &expect![[r#"
        server.properties: node.id: is missing: give the node a number that no other node of the cluster has
        server.properties: process.roles: must be controller, broker, or broker,controller
        server.properties: controller.quorum.bootstrap.servers: must name the controllers as host:port,host:port (or controller.quorum.voters, where they never change)
        server.properties: controller.listener.names: must name the listeners of controllers, such as CONTROLLER
    "#]],
    );
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    says_of(
        "num.partitions=0\nmin.insync.replicas=two\nbroker.id=2\nlog.dirs=\n\
         controller.quorum.voters=2@localhost:9093,x@y:1,2@b:1\nsuper.users=admin\n\
         create.topic.policy.class.name=com.example.Policy\nsocket.request.max.bytes=1.5\n\
         authorizer.class.name=com.example.Authorizer\nmax.connections.per.ip=0\n\
         delegation.token.max.lifetime.ms=hunter2\n",
        &expect![[r#"
            server.properties:7: num.partitions=0: the value must be a whole number from 1 to 2147483647
            server.properties:8: min.insync.replicas=two: the value must be a whole number from 1 to 2147483647
            server.properties:14: socket.request.max.bytes=1.5: the value must be a whole number from 1 to 2147483647
            server.properties:17: delegation.token.max.lifetime.ms: the value must be a whole number from 1 to 9223372036854775807
            server.properties:9: broker.id=2: node.id is 1: keep that one and remove this
            server.properties:10: log.dirs=: must name a directory
            server.properties:11: controller.quorum.voters=2@localhost:9093,x@y:1,2@b:1: "x@y:1" must be ID@HOST:PORT, such as 1@localhost:9093
            server.properties:11: controller.quorum.voters=2@localhost:9093,x@y:1,2@b:1: the voter 2 is there twice
            server.properties:11: controller.quorum.voters=2@localhost:9093,x@y:1,2@b:1: node.id 1 is a controller by process.roles, but not among the voters
            server.properties:16: max.connections.per.ip=0: 0 allows no connection at all; it needs max.connections.per.ip.overrides
            server.properties:12: super.users=admin: "admin" must be a principal such as User:admin; ';' separates several
            server.properties:15: authorizer.class.name=com.example.Authorizer: klamm loads no authorizer written in Java, but has the rules of org.apache.kafka.metadata.authorizer.StandardAuthorizer: name that one, or none
            server.properties:13: create.topic.policy.class.name=com.example.Policy: klamm cannot load a policy written in Java, and would let every topic pass; remove the key if that is meant
        "#]],
    );
}

#[test]
fn listeners_that_cannot_be() {
    for listeners in [
        "CONTROLLER://localhost",
        "CONTROLLER:localhost:9093",
        "://localhost:9093",
        "CONTROLLER://localhost:65536",
        "CONTROLLER://[::1:9093",
        "CONTROLLER://a b:9093",
        "CONTROLLER://a:1,CONTROLLER://a:2",
        "CONTROLLER://a:1,OTHER://a:2",
        "CONTROLLER://a:1,PLAINTEXT://b:1",
        "PLAINTEXT://a:1",
        "",
    ] {
        let text = format!("{CONTROLLER}listeners={listeners}\n");
        let error = ControllerSettings::read(&properties(&text));
        let error = error.expect_err(listeners).to_string();
        assert!(error.contains("listeners"), "{listeners}: {error}");
    }
    says_of(
        "listeners=CONTROLLER://a:1,PLAINTEXT://b:1\n\
         advertised.listeners=CONTROLLER://0.0.0.0:1\n",
        &expect![[r#"
            server.properties:7: listeners=CONTROLLER://a:1,PLAINTEXT://b:1: CONTROLLER and PLAINTEXT have the same port
            server.properties:8: advertised.listeners=CONTROLLER://0.0.0.0:1: CONTROLLER must have an address that others reach it by
        "#]],
    );
    says_of(
        "listener.security.protocol.map=CONTROLLER:SSL,X:Y\n",
        &expect![[r#"
            server.properties:7: listener.security.protocol.map=CONTROLLER:SSL,X:Y: "X:Y" must be NAME:PROTOCOL, with one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL
            server.properties:7: listener.security.protocol.map=CONTROLLER:SSL,X:Y: CONTROLLER is SSL, and this release of klamm listens as PLAINTEXT only
        "#]],
    );
}

#[test]
fn what_others_reach_listeners_by() {
    let listeners = |more: &str| read(more).node.controller_listeners;
    let only = |more: &str| listeners(more).remove(0);

    let everywhere = only("listeners=controller://0.0.0.0:0\n");
    assert_eq!(everywhere.name, "CONTROLLER");
    assert_eq!((everywhere.host, everywhere.port), (None, 0));
    assert_eq!(everywhere.advertised_host, None);

    let elsewhere = only("listeners=CONTROLLER://:9093\nadvertised.listeners=CONTROLLER://k:1\n");
    assert_eq!(elsewhere.host, None);
    assert_eq!(elsewhere.advertised_host.as_deref(), Some("k"));
    assert_eq!(elsewhere.advertised_port, 1);

    // The order of the names counts; two listeners share a port where their addresses differ in kind.
    let two = listeners(
        "controller.listener.names=B,A\nlisteners=A://127.0.0.1:1,B://[::1]:1\n\
         listener.security.protocol.map=A:PLAINTEXT,b:plaintext\n",
    );
    let names: Vec<&str> = two.iter().map(|listener| &*listener.name).collect();
    assert_eq!(names, ["B", "A"]);
    assert_eq!(two[0].host.as_deref(), Some("::1"));
}

#[test]
fn directories_are_there_once() {
    let node = |more: &str| read(more).node;
    let of = |more: &str| {
        let node = node(more);
        let dirs: Vec<String> = node
            .directories()
            .map(|dir| dir.display().to_string())
            .collect();
        (node.metadata_log_dir.display().to_string(), dirs.join(" "))
    };
    let two = |dir: &str, dirs: &str| (dir.to_owned(), dirs.to_owned());
    assert_eq!(of("log.dirs=/a,/b,/a\n"), two("/a", "/a /b"));
    assert_eq!(of("metadata.log.dir=/m\n"), two("/m", "/data /m"));
    assert_eq!(of("metadata.log.dir=/data\n"), two("/data", "/data"));
    assert_eq!(of("metadata.log.dir=\n"), two("/data", "/data"));
    assert_eq!(of("log.dir=/x\n"), two("/data", "/data"));
    let without = CONTROLLER.replace("log.dirs=/data\n", "log.dir=/x,/y\n");
    let (settings, _) = ControllerSettings::read(&properties(&without)).expect("usable");
    assert_eq!(settings.node.metadata_log_dir, Path::new("/x"));
}

#[test]
fn keys_of_brokers_are_passed_over_and_others_are_warned_of() {
    says_of(
        "num.io.threads=8\nlog.retention.hours=168\nssl.key.password=hunter2\n\
         num.partition=3\nlog.retention.hour=1\nklamm.broker.conection.loss.grace.ms=1\n\
         foo=bar\nmetric.reporters=com.example.Reporter\n",
        &expect![[r#"
            warning: server.properties:9: ssl.key.password has no effect here: ignored
            warning: server.properties:10: num.partition is not a known key: ignored (did you mean num.partitions?)
            warning: server.properties:11: log.retention.hour is not a known key: ignored (did you mean log.retention.hours?)
            warning: server.properties:12: klamm.broker.conection.loss.grace.ms is not a known key: ignored (did you mean klamm.broker.connection.loss.grace.ms?)
            warning: server.properties:13: foo is not a known key: ignored
            warning: server.properties:14: metric.reporters has no effect here: ignored
        "#]],
    );
}

#[test]
fn the_endpoint_is_nowhere_or_at_an_address() {
    let address = |value: &str| read(&format!("klamm.http.listener={value}\n")).http_listener;
    assert_eq!(read("").http_listener, None);
    assert_eq!(address(""), None);
    assert_eq!(
        address("127.0.0.1:0"),
        Some(ServerAddress::new("127.0.0.1", 0))
    );
    assert_eq!(address("[::1]:9101"), Some(ServerAddress::new("::1", 9101)));
    let text = format!("{CONTROLLER}klamm.http.listener=9101\n");
    let error = ControllerSettings::read(&properties(&text)).expect_err("no port");
    let error = error.to_string();
    assert!(error.contains("klamm.http.listener"), "{error}");
    assert!(
        error.contains("give HOST:PORT, such as 127.0.0.1:9101"),
        "{error}"
    );
}

#[test]
fn how_records_are_written_is_not_waited_for() {
    let text = format!("{CONTROLLER}controller.quorum.append.linger.ms=25\n");
    let (_, warnings) = ControllerSettings::read(&properties(&text)).expect("usable");
    let [warning] = &warnings[..] else {
        panic!("{warnings:?}");
    };
    let warning = warning.to_string();
    assert!(
        warning.contains("controller.quorum.append.linger.ms"),
        "{warning}"
    );
}

#[test]
fn brokers_that_would_be_fenced_though_well() {
    says_of(
        "broker.session.timeout.ms=3000\n",
        &expect![[r#"
            warning: server.properties:7: broker.session.timeout.ms lets brokers be fenced that are well: broker.session.timeout.ms should be at least twice broker.heartbeat.interval.ms
        "#]],
    );
    says_of("broker.session.timeout.ms=4000\n", &expect![[""]]);
}

#[test]
fn a_broker_is_no_controller_but_has_directories() {
    let broker = CONTROLLER
        .replace("roles=controller", "roles=broker")
        .replace("listeners=CONTROLLER", "listeners=PLAINTEXT");
    says(
        &broker,
        &expect![[r#"
            server.properties:2: process.roles=broker: must be controller: klamm runs one role a process, so give the broker a file of its own (klamm broker)
        "#]],
    );
    let (node, warnings) = NodeSettings::read(&properties(&broker)).expect("usable");
    assert_eq!(warnings, []);
    assert_eq!(node.controller_listeners, []);
    assert!(!node.is_controller());
    let both = CONTROLLER
        .replace("roles=controller", "roles=controller,broker")
        .replace("listeners=", "listeners=PLAINTEXT://:9092,");
    let (node, _) = NodeSettings::read(&properties(&both)).expect("usable");
    assert!(node.is_controller());
    assert_eq!(node.controller_listeners.len(), 1);
}

#[test]
fn who_may_do_everything() {
    let settings = read(&format!(
        "authorizer.class.name={}\nsuper.users= User:a;User:CN=b,OU=c ;;Group:d\n",
        keys::STANDARD_AUTHORIZER
    ));
    let authorizer = settings.authorizer.expect("named");
    let users: Vec<&str> = authorizer.super_users.iter().map(|user| &**user).collect();
    assert_eq!(users, ["Group:d", "User:CN=b,OU=c", "User:a"]);
    assert!(!authorizer.allow_everyone_if_no_acl_found);
    let everyone = "authorizer.class.name=\nallow.everyone.if.no.acl.found=true\n";
    assert_eq!(read(everyone).authorizer, None);
}

#[test]
fn secrets_are_shown_nowhere() {
    let settings = read("delegation.token.secret.key=hunter2\nssl.key.password=hunter2\n");
    let secret = settings.tokens.config.secret_key.as_deref();
    assert_eq!(secret, Some("hunter2"));
    assert!(!format!("{settings:?}").contains("hunter2"));
}

#[test]
fn addresses_may_have_limits_of_their_own() {
    let settings =
        read("max.connections.per.ip=0\nmax.connections.per.ip.overrides=::1:5, kafka-1:2\n");
    let overrides = settings.connections.max_per_ip_overrides;
    assert_eq!(overrides["::1"], 5);
    assert_eq!(overrides["kafka-1"], 2);
}

#[test]
fn no_key_is_there_twice() {
    let table = server_keys();
    let lists = [table.unused, table.silent].concat();
    let names: Vec<&str> = table.keys.iter().map(|key| key.name).chain(lists).collect();
    let distinct: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(distinct.len(), names.len());
    assert!(table.silent.is_sorted() && table.unused.is_sorted());
    for key in table.keys {
        assert!(
            !is_secret(key.name) || key.kind == klamm_config::Kind::Password || {
                // Its value is a number.
                key.name.starts_with("delegation.token.")
            },
            "{}",
            key.name
        );
    }
}
