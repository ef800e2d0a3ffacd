use klamm_protocol::{ApiKey, ErrorCode, Listener, MessageKind, VersionRange};

use crate::support::{facts, subjects};

#[test]
fn api_keys_versions_and_listeners_are_those_of_the_table() {
    let rows = facts("apis.tsv");
    assert_eq!(rows.len(), 95);
    assert_eq!(ApiKey::all().count(), 95);
    for row in rows {
        let key = ApiKey(row[0].parse().unwrap());
        assert_eq!(key.name(), Some(row[1].as_str()));
        assert_eq!(ApiKey::from_name(&row[1].to_lowercase()), Some(key));
        let (min, max) = row[2].split_once('-').unwrap();
        let coded = VersionRange::new(min.parse().unwrap(), max.parse().unwrap());
        assert_eq!(key.coded_versions(), coded, "{key}");
        let unstable = i16::from(row[3] == "true");
        if !coded.is_empty() {
            assert_eq!(
                key.stable_versions(),
                VersionRange::new(coded.min, coded.max - unstable)
            );
        }
        let headers = |text: &str| -> Vec<i16> {
            text.split_whitespace()
                .map(|version| version.parse().unwrap())
                .collect()
        };
        let ours = |header: fn(ApiKey, i16) -> i16| -> Vec<i16> {
            coded.iter().map(|version| header(key, version)).collect()
        };
        assert_eq!(
            ours(ApiKey::request_header_version),
            headers(&row[4]),
            "{key}"
        );
        assert_eq!(
            ours(ApiKey::response_header_version),
            headers(&row[5]),
            "{key}"
        );
        let listeners = key.listeners();
        assert_eq!(
            listeners.contains(&Listener::Broker),
            row[6].contains("BROKER"),
            "{key}"
        );
        let controller = listeners.contains(&Listener::Controller);
        assert_eq!(controller, row[6].contains("CONTROLLER"), "{key}");
    }
}

#[test]
fn an_unstable_version_is_coded_and_not_offered() {
    assert_eq!(ApiKey::INIT_PRODUCER_ID.coded_versions().max, 6);
    assert_eq!(ApiKey::INIT_PRODUCER_ID.stable_versions().max, 5);
}

#[test]
fn every_message_version_is_there() {
    let versions = |kind| -> usize {
        let subjects = subjects();
        let subjects = subjects.iter().filter(|subject| subject.codec.kind == kind);
        subjects
            .map(|subject| subject.codec.versions.iter().count())
            .sum()
    };
    let requests = versions(MessageKind::Request);
    assert_eq!(requests + versions(MessageKind::Response), 618);
    assert_eq!(requests, versions(MessageKind::Response));
}

#[test]
fn error_codes_are_those_of_the_table() {
    let rows = facts("errors.tsv");
    assert_eq!(rows.len(), ErrorCode::all().count());
    for row in rows {
        let code = ErrorCode(row[0].parse().unwrap());
        assert_eq!(code.name(), Some(row[1].as_str()));
        assert_eq!(code.is_retriable(), row[3] == "true", "{code}");
        assert_eq!(code.is_invalid_metadata(), row[4] == "true", "{code}");
    }
}
