use std::collections::BTreeMap;

use klamm_java_peer::{Value, json};
use klamm_protocol::{ApiKey, ErrorCode, Listener, VersionRange};

use crate::Context;

pub(crate) fn apis(context: &mut Context) {
    let apis = context.java.call("apis", json!({})).unwrap();
    let apis = apis.as_array().unwrap();
    assert_eq!(apis.len(), ApiKey::all().count());
    for api in apis {
        let key = ApiKey(int(&api["key"]));
        assert_eq!(key.name(), api["name"].as_str(), "{key}");
        let coded = VersionRange::new(int(&api["min"]), int(&api["max"]));
        assert_eq!(key.coded_versions(), coded, "{key}");
        if !coded.is_empty() {
            let stable = VersionRange::new(coded.min, int(&api["stable_max"]));
            assert_eq!(key.stable_versions(), stable, "{key}");
        }
        for (version, at) in coded.iter().zip(0..) {
            let request: i16 = int(&api["request_headers"][at]);
            let response: i16 = int(&api["response_headers"][at]);
            assert_eq!(
                key.request_header_version(version),
                request,
                "{key} {version}"
            );
            assert_eq!(
                key.response_header_version(version),
                response,
                "{key} {version}"
            );
        }
        let java = api["listeners"].as_array().unwrap();
        for (listener, name) in [
            (Listener::Broker, "broker"),
            (Listener::Controller, "controller"),
        ] {
            let ours = key.listeners().contains(&listener);
            assert_eq!(
                ours,
                java.contains(&name.into()),
                "{key} on the {name} listener"
            );
        }
    }
    println!("  {} API keys", apis.len());
}

pub(crate) fn errors(context: &mut Context) {
    let errors = context.java.call("errors", json!({})).unwrap();
    let errors = errors.as_array().unwrap();
    assert_eq!(errors.len(), ErrorCode::all().count());
    for error in errors {
        let code = ErrorCode(int(&error["code"]));
        assert_eq!(code.name(), error["name"].as_str());
        assert_eq!(code.is_retriable(), error["retriable"] == true, "{code}");
        assert_eq!(
            code.is_invalid_metadata(),
            error["invalid_metadata"] == true,
            "{code}"
        );
    }
    println!("  {} error codes", errors.len());
}

pub(crate) fn messages(context: &mut Context) {
    let java = context.java.call("messages", json!({})).unwrap();
    let java: BTreeMap<&str, VersionRange> = java
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let versions = VersionRange::new(int(&row["min"]), int(&row["max"]));
            (row["name"].as_str().unwrap(), versions)
        })
        .filter(|(_, versions)| !versions.is_empty())
        .collect();
    let ours: BTreeMap<&str, VersionRange> = context
        .subjects
        .iter()
        .map(|s| (s.codec.name, s.codec.versions))
        .collect();
    assert_eq!(ours, java);
    println!("  {} messages with a valid version", java.len());
}

fn int(value: &Value) -> i16 {
    value.as_i64().and_then(|n| i16::try_from(n).ok()).unwrap()
}
