use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::ConfigResourceKind;

fn node_of<'a>(file: &'a BTreeMap<&'static str, &'static str>) -> impl Fn(&str) -> Option<&'a str> {
    |key| file.get(key).copied()
}

fn topic(new: &[(&str, &str)]) -> Result<(), String> {
    topic_on(new, &[], &BTreeMap::new())
}

fn topic_on(
    new: &[(&str, &str)],
    old: &[(&str, &'static str)],
    file: &BTreeMap<&'static str, &'static str>,
) -> Result<(), String> {
    let old: BTreeMap<&str, &str> = old.iter().copied().collect();
    let checked = validate_topic(
        &new.iter().copied().collect(),
        |key| old.get(key).copied(),
        &node_of(file),
    );
    checked.map_err(|error| error.to_string())
}

fn refused(checked: Result<(), String>, part: &str) {
    let text = checked.expect_err(part);
    assert!(text.contains(part), "{text} does not say {part}");
}

#[test]
fn every_default_is_a_value_of_its_key_and_names_are_there_once() {
    for table in [TOPIC_KEYS, GROUP_KEYS, CLIENT_METRICS_KEYS] {
        let names: BTreeSet<&str> = table.iter().map(|key| key.name).collect();
        assert_eq!(names.len(), table.len());
        for key in table {
            let default = key.default.map(|value| key.parse(value));
            assert!(default.is_none_or(|value| value.is_ok()), "{}", key.name);
            for synonym in key.synonyms {
                let of_node = broker_key(synonym.name).expect(synonym.name);
                assert!(
                    of_node.kind == key.kind || synonym.factor > 1,
                    "{}",
                    key.name
                );
            }
        }
    }
    assert_eq!(TOPIC_KEYS.len(), 38);
    assert_eq!(GROUP_KEYS.len(), 27);
    assert!(config_key(ConfigResourceKind::TOPIC, "flush.ms").is_some());
    assert!(config_key(ConfigResourceKind::GROUP, "flush.ms").is_none());
    assert!(config_key(ConfigResourceKind::BROKER, "log.dirs").is_none());
}

#[test]
fn every_line_of_the_table_of_nodes_is_read() {
    let lines = include_str!("../../facts/broker-configs.tsv")
        .lines()
        .count();
    assert_eq!(broker_keys().count(), lines - 1);
    let key = broker_key("log.retention.hours").unwrap();
    assert_eq!((key.kind, key.default), (ConfigType::Int, Some("168")));
    assert!(!key.dynamic);
    assert!(broker_key("log.retention.ms").unwrap().dynamic);
    assert_eq!(broker_key("log.retention.ms").unwrap().default, None);
    assert!(
        broker_key("unclean.leader.election.interval.ms")
            .unwrap()
            .internal
    );
    assert_eq!(broker_key("no.such.key"), None);
    let names = |name| broker_key(name).map(|key| key.name);
    assert_eq!(
        names("listener.name.a.ssl.keystore.type"),
        Some("ssl.keystore.type")
    );
    assert_eq!(
        names("listener.name.a.plain.sasl.jaas.config"),
        Some("sasl.jaas.config")
    );
    assert_eq!(names("listener.name..ssl.keystore.type"), None);
    assert_eq!(
        BrokerKey::synonyms("log.retention.hours"),
        [
            "log.retention.ms",
            "log.retention.minutes",
            "log.retention.hours"
        ]
    );
    assert_eq!(BrokerKey::synonyms("log.dirs"), ["log.dirs"]);
}

#[test]
fn values_are_read_as_java_reads_them() {
    let key = |name| config_key(ConfigResourceKind::TOPIC, name).unwrap();
    let ratio = key("min.cleanable.dirty.ratio");
    for (text, expected) in [
        ("0.5d", Some(0.5)),
        (" .25 ", Some(0.25)),
        ("1e-1", Some(0.1)),
    ] {
        assert_eq!(ratio.parse(text).ok(), expected.map(ConfigValue::Double));
    }
    assert!(ratio.parse("NaN").is_ok());
    for wrong in ["nan", "inf", "", "d", "1.5", "-0.1", "0.5x", "Infinity"] {
        assert!(ratio.parse(wrong).is_err(), "{wrong}");
    }
    let policy = key("cleanup.policy");
    let list = |items: &[&str]| {
        let items = items.iter().map(|item| (*item).to_owned());
        Ok(ConfigValue::List(items.collect()))
    };
    assert_eq!(
        policy.parse(" delete , compact"),
        list(&["delete", "compact"])
    );
    assert_eq!(policy.parse(" "), list(&[]));
    assert!(policy.parse("delete,").is_err());
    assert_eq!(key("retention.ms").parse("+7"), Ok(ConfigValue::Number(7)));
    let large = ratio.parse("20000000").unwrap_err().to_string();
    assert!(large.contains("2.0E7"), "{large}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    assert_eq!(
        topic(&[("flush.ms", "7"), ("internal.segment.bytes", "7")]),
        Ok(())
    );
    refused(
        topic(&[("no.such.key", "7")]),
        "Unknown topic config name: no.such.key",
    );
    // The first in the order of the table is named.
    let wrong = [("retention.ms", "x"), ("segment.ms", "x")];
    refused(topic(&wrong), "segment.ms");
    let lag = [
        ("min.compaction.lag.ms", "10"),
        ("max.compaction.lag.ms", "5"),
    ];
    refused(
        topic(&lag),
        "min.compaction.lag.ms (10) > max.compaction.lag.ms (5)",
    );
    // What the node has counts where the topic has nothing, unless it cannot be read.
    let file = |value| BTreeMap::from([("log.cleaner.min.compaction.lag.ms", value)]);
    let max = [("max.compaction.lag.ms", "5")];
    refused(topic_on(&max, &[], &file("6")), "(6)");
    assert_eq!(topic_on(&max, &[], &file("six")), Ok(()));
}

#[test]
fn remote_storage_needs_what_it_needs() {
    const ON: (&str, &str) = ("remote.storage.enable", "true");
    refused(topic(&[ON]), "Tiered Storage functionality is disabled");
    let file = BTreeMap::from([("remote.log.storage.system.enable", "true")]);
    let on = |new: &[(&str, &str)]| topic_on(&[&[ON], new].concat(), &[], &file);
    assert_eq!(on(&[]), Ok(()));
    assert_eq!(on(&[("cleanup.policy", "")]), Ok(()));
    refused(
        on(&[("cleanup.policy", "compact,delete")]),
        "cleanup.policy",
    );
    let local = [("retention.ms", "5"), ("local.retention.ms", "6")];
    refused(on(&local), "must not be more than retention.ms");
    let forever = [("retention.bytes", "5"), ("local.retention.bytes", "-1")];
    refused(on(&forever), "must not be -1");
    let copied = [
        ("remote.log.copy.disable", "true"),
        ("retention.ms", "5"),
        ("local.retention.ms", "4"),
    ];
    refused(on(&copied), "identical value");
    let late = [("retention.ms", "5"), ("remote.copy.lag.ms", "6")];
    refused(on(&late), "must not exceed local.retention.ms");
    let off = |new: &[(&str, &str)]| topic_on(new, &[ON], &file);
    refused(off(&[]), "without deleting remote data");
    assert_eq!(off(&[("remote.log.delete.on.disable", "true")]), Ok(()));
}

#[test]
fn groups_keep_to_what_the_node_allows() {
    let group = |new: &[(&str, &str)], file: &BTreeMap<&'static str, &'static str>| {
        let checked = validate_group(&new.iter().copied().collect(), &node_of(file));
        checked.map_err(|error| error.to_string())
    };
    let default = BTreeMap::new();
    let session = [("consumer.session.timeout.ms", "70000")];
    refused(group(&session, &default), "in the range 45000 to 60000");
    let file = BTreeMap::from([("group.consumer.max.session.timeout.ms", "70000")]);
    assert_eq!(group(&session, &file), Ok(()));
    refused(
        group(&[("flush.ms", "7")], &default),
        "Unknown group config name",
    );
    refused(
        group(&[("streams.num.standby.replicas", "3")], &default),
        "or equal to 2",
    );
    refused(
        group(&[("streams.task.offset.interval.ms", "7")], &default),
        "15000",
    );
    refused(
        group(&[("streams.assignor.name", "x")], &default),
        "[sticky]",
    );
    refused(
        group(&[("errors.deadletterqueue.topic.name", "__x")], &default),
        "DLQ",
    );
    refused(
        group(&[("streams.rack.aware.assignment.tags", "a,a")], &default),
        "duplicate",
    );
    let short = BTreeMap::from([
        ("group.share.min.session.timeout.ms", "1"),
        ("group.share.heartbeat.interval.ms", "5000"),
    ]);
    let session = [("share.session.timeout.ms", "5000")];
    refused(
        group(&session, &short),
        "greater than share.heartbeat.interval.ms",
    );
    for (value, is_right) in [
        ("latest", true),
        ("by_duration:P1D", true),
        ("by_duration:pt1h2m3.5s", true),
        ("by_duration:P", false),
        ("by_duration:PT", false),
        ("by_duration:P1DT", false),
        ("by_duration:PT1M1H", false),
        ("by_duration:-PT1H", false),
        ("by_duration:é", false),
        ("Latest", false),
    ] {
        let checked = group(&[("share.auto.offset.reset", value)], &default);
        assert_eq!(checked.is_ok(), is_right, "{value}");
    }
}

#[test]
fn subscriptions_choose_clients_by_expressions_that_can_be_read() {
    let matches = |value: &str| {
        let new = BTreeMap::from([("match", value)]);
        validate_client_metrics("m", &new).is_ok()
    };
    for right in [
        "",
        "client_id=a",
        " client_id = a.*b+?c*+ ",
        "client_id=[a-z]{2}(x|y){3}?z",
        "client_id=[]a](?:b)\\(,client_source_port=1",
        "client_id=é|[^]]",
    ] {
        assert!(matches(right), "{right}");
    }
    for wrong in [
        "client_id",
        "id=a",
        "client_id=",
        "client_id=a=b",
        ",",
        "client_id=[a",
        "client_id=(a",
        "client_id=a)",
        "client_id=*a",
        "client_id=a**",
        "client_id=a{2",
        "client_id=a{x}",
        "client_id={2}",
        "client_id=a{3,2}",
        "client_id=\\",
        "client_id=a|*",
    ] {
        assert!(!matches(wrong), "{wrong}");
    }
    let interval = |value| validate_client_metrics("m", &BTreeMap::from([("interval.ms", value)]));
    assert_eq!(interval("99"), Err(ConfigError::Interval(99)));
    assert_eq!(interval("3600000"), Ok(()));
    let unnamed = validate_client_metrics("", &BTreeMap::new());
    assert_eq!(unnamed, Err(ConfigError::NoSubscription));
}

/// Whatever a client sends is read or refused: texts of characters that mean something somewhere.
#[test]
fn no_text_is_too_strange_to_be_judged() {
    const PIECES: &[&str] = &[
        "é",
        "\u{1f600}",
        "P",
        "p",
        "T",
        "1",
        ".",
        "5",
        "D",
        "H",
        "M",
        "S",
        "by_duration:",
        "-",
        "+",
        "d",
        "e",
        "0x",
        "NaN",
        ",",
        ":",
        "*",
        "=",
        "client_id=",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "?",
        "|",
        "\\",
        "^",
        " ",
        "\t",
        "\u{a0}",
        "__",
        "true",
        "delete",
        "",
    ];
    let mut rng = fastrand::Rng::with_seed(5);
    let mut read = 0;
    for _ in 0..20_000 {
        let pieces = (0..rng.usize(..6)).map(|_| PIECES[rng.usize(..PIECES.len())]);
        let text: String = pieces.collect();
        for table in [TOPIC_KEYS, GROUP_KEYS, CLIENT_METRICS_KEYS] {
            let key = &table[rng.usize(..table.len())];
            let new = BTreeMap::from([(key.name, &*text)]);
            read += usize::from(key.parse(&text).is_ok());
            let file = BTreeMap::new();
            // What is refused one by one is refused as a whole.
            let checked = match table[0].name {
                "metrics" => validate_client_metrics("m", &new),
                "segment.bytes" => validate_topic(&new, |_| None, &node_of(&file)),
                _ => validate_group(&new, &node_of(&file)),
            };
            assert!(
                key.parse(&text).is_ok() || checked.is_err(),
                "{}={text}",
                key.name
            );
        }
    }
    assert!(read > 1_000);
}
