use super::*;
use expect_test::{Expect, expect};

const BROKER: &str = "node.id=1\nprocess.roles=broker\nlisteners=PLAINTEXT://localhost:9092\n\
     controller.listener.names=CONTROLLER\ncontroller.quorum.bootstrap.servers=localhost:9093\n\
     log.dirs=/a,/b\n";

fn read(text: &str) -> Result<(BrokerSettings, Vec<Warning>), ConfigError> {
    BrokerSettings::read(&Properties::parse("server.properties", text).expect("readable"))
}

fn says(text: &str, expected: &Expect) {
    let error = read(text).expect_err("it is refused");
    expected.assert_eq(&error.to_string());
}

#[test]
fn defaults_are_kafkas() {
    let (settings, warnings) = read(BROKER).expect("usable");
    assert_eq!(warnings, []);
    assert_eq!(settings.inter_broker_listener, "PLAINTEXT");
    assert_eq!(settings.heartbeat_interval, Duration::from_secs(2));
    assert_eq!(settings.registration_timeout, Duration::from_secs(60));
    assert_eq!(settings.controlled_shutdown, Some(Duration::from_secs(30)));
    assert_eq!(settings.rack, None);
    let replicas = &settings.replicas;
    assert_eq!(replicas.dirs.len(), 2);
    assert_eq!(replicas.lag_time_max, Duration::from_secs(30));
    assert_eq!(replicas.fetch.response_max_bytes, 10 << 20);
    assert_eq!(replicas.fetch_max_bytes, 55 << 20);
    let off = format!("{BROKER}controlled.shutdown.enable=false\nbroker.rack=r1\n");
    let (settings, _) = read(&off).expect("usable");
    assert_eq!(settings.controlled_shutdown, None);
    assert_eq!(settings.rack.as_deref(), Some("r1"));
}

#[test]
fn what_a_broker_cannot_do_is_refused() {
    says(
        &format!(
            "{BROKER}authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\n"
        ),
        &expect![
            "server.properties:7: authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer: this release of klamm's brokers does not check who may read and write; remove the key if everybody may"
        ],
    );
    says(
        &BROKER.replace("roles=broker", "roles=broker,controller"),
        &expect![
            "server.properties:2: process.roles=broker,controller: must be broker: klamm runs one role a process, so give the controller a file of its own (klamm controller)"
        ],
    );
    says(
        &format!("{BROKER}inter.broker.listener.name=INTERNAL\n"),
        &expect![
            "server.properties:7: inter.broker.listener.name=INTERNAL: brokers are to reach each other by INTERNAL, which is not in listeners"
        ],
    );
    says(
        &BROKER.replace("listeners=PLAINTEXT", "listeners=CONTROLLER"),
        &expect![[r#"
            server.properties:4: controller.listener.names=CONTROLLER: CONTROLLER is a listener of this node, which is no controller
            server.properties: inter.broker.listener.name: brokers are to reach each other by PLAINTEXT, which is not in listeners"#]],
    );
}

#[test]
fn threads_are_passed_over_and_the_rest_is_warned_of() {
    let text = format!("{BROKER}num.io.threads=8\nlog.cleaner.threads=2\nlog.retention.hour=1\n");
    let (_, warnings) = read(&text).expect("usable");
    let texts: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    expect![[r#"
        server.properties:8: log.cleaner.threads has no effect here: ignored
        server.properties:9: log.retention.hour is not a known key: ignored (did you mean log.retention.hours?)"#]].assert_eq(&texts.join("\n"));
}

#[test]
fn nobody_is_told_of_what_is_not_done() {
    for text in ["", "auto.create.topics.enable=true\n"] {
        let (settings, _) = read(&format!("{BROKER}{text}")).expect("usable");
        let told = settings.configs.properties.get("auto.create.topics.enable");
        assert_eq!(told.map(String::as_str), Some("false"), "{text}");
    }
}

#[test]
fn what_topics_inherit_is_checked() {
    let text = format!("{BROKER}log.retention.bytes=lots\nlog.segment.bytes=1\n");
    let error = read(&text).expect_err("it is refused").to_string();
    assert!(error.contains("log.retention.bytes=lots"), "{error}");
    assert!(error.contains("log.segment.bytes=1"), "{error}");
}
