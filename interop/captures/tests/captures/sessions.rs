use std::collections::BTreeSet;
use std::path::Path;

use klamm_java_peer::Value;

use crate::Context;
use crate::klamm::{Explained, explain, run};

pub(crate) fn java(context: &mut Context) {
    let explained = all_is_read(&context.java);
    has_apis(
        &explained,
        &[
            "ApiVersions",
            "CreateTopics",
            "DescribeConfigs",
            "DescribeTopicPartitions",
            "ElectLeaders",
            "Fetch",
            "FindCoordinator",
            "InitProducerId",
            "JoinGroup",
            "LeaveGroup",
            "Metadata",
            "OffsetCommit",
            "OffsetFetch",
            "Produce",
            "SyncGroup",
        ],
    );
    has_software(&explained, "java-admin", "apache-kafka-java");
    has_errors(&explained);
}

pub(crate) fn librdkafka(context: &mut Context) {
    let explained = all_is_read(&context.librdkafka);
    has_apis(
        &explained,
        &[
            "ApiVersions",
            "CreateTopics",
            "ElectLeaders",
            "Fetch",
            "FindCoordinator",
            "JoinGroup",
            "LeaveGroup",
            "Metadata",
            "OffsetCommit",
            "OffsetFetch",
            "Produce",
            "SyncGroup",
        ],
    );
    has_software(&explained, "rdkafka-consumer", "confluent-kafka-python");
}

/// Every byte of every message is known, and every response has its request.
fn all_is_read(file: &Path) -> Explained {
    let explained = explain(file);
    for message in &explained.messages {
        assert_eq!(message["problems"], Value::Array(Vec::new()), "{message}");
        assert_eq!(message["missing_bytes"], 0, "{message}");
        let text = message["tree"].to_string();
        assert!(!text.contains(r#""part":"unread""#), "{message}");
        let is_response = message["kind"] == "response";
        assert_eq!(message["answers"].is_u64(), is_response, "{message}");
        assert_eq!(message["latency"].is_f64(), is_response, "{message}");
    }
    assert_eq!(explained.sum("missing_bytes"), 0);
    assert_eq!(explained.sum("malformed"), 0);
    assert_eq!(explained.sum("unmatched"), 0);
    for finding in &explained.findings {
        // A client that ends does not wait for what it asked for last.
        assert_eq!(finding["finding"], "unanswered", "{finding}");
        let connection = &finding["connection"];
        let last =
            explained.messages.iter().rev().find(|message| {
                message["connection"] == *connection && message["kind"] == "response"
            });
        let answered = last.map_or(Some(0), |message| message["answers"].as_u64());
        let unanswered = explained.messages.iter().filter(|message| {
            message["connection"] == *connection
                && message["kind"] == "request"
                && message["number"].as_u64() > answered
        });
        assert!(unanswered.count() > 0, "{finding}");
    }
    assert_eq!(explained.status, 0);
    let requests = explained
        .messages
        .iter()
        .filter(|message| message["kind"] == "request");
    let unacknowledged = explained
        .messages
        .iter()
        .filter(|message| message["name"] == "Produce" && message["body"]["acks"] == 0);
    let responses = explained
        .messages
        .iter()
        .filter(|message| message["kind"] == "response");
    let unanswered = explained.sum("unanswered") as usize;
    assert!(unacknowledged.clone().count() > 0);
    assert_eq!(
        requests.count(),
        responses.count() + unacknowledged.count() + unanswered
    );
    explained
}

fn has_apis(explained: &Explained, expected: &[&str]) {
    let names: BTreeSet<&str> = explained
        .messages
        .iter()
        .filter_map(|message| message["name"].as_str())
        .collect();
    for name in expected {
        assert!(names.contains(name), "no {name} among {names:?}");
    }
}

fn has_software(explained: &Explained, client_id: &str, software: &str) {
    let is_there = explained.connections.iter().any(|connection| {
        connection["client_ids"][0] == client_id
            && connection["software_name"]
                .as_str()
                .is_some_and(|name| name.starts_with(software))
    });
    assert!(is_there, "{:?}", explained.connections);
}

/// The election of what needs none is an error, as the summary says.
fn has_errors(explained: &Explained) {
    const ELECTION_NOT_NEEDED: i64 = 84;
    let response = explained
        .messages
        .iter()
        .find(|message| message["name"] == "ElectLeaders" && message["kind"] == "response");
    assert_eq!(response.unwrap()["errors"][0], ELECTION_NOT_NEEDED);
}

pub(crate) fn lines(context: &mut Context) {
    let port = context.port.to_string();
    let all = explain(&context.java).messages.len();
    let (status, text) = run(&context.java, &["--messages", "--port", &port]);
    assert_eq!(status, 0);
    assert!(text.contains(&format!("{all} of {all} messages")), "{text}");
    let (status, text) = run(&context.java, &["--errors-only", "--api", "ElectLeaders"]);
    assert_eq!(status, 0);
    assert!(text.contains("ELECTION_NOT_NEEDED (84)"), "{text}");
    let (_, text) = run(&context.java, &["--client-id", "java-admin", "--tree"]);
    assert!(text.contains("ElectLeadersRequest v2"), "{text}");
}
