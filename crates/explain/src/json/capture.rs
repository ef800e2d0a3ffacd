//! Captures as JSON.

use std::fmt;

use klamm_protocol::ApiKey;
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::{Line, Message as Decoded, line};
use crate::Tree;
use crate::capture::{
    ApiCounts, Carries, ConnectionSummary, Finding, Kind, Message, Summary, Time, What,
};
use crate::time::utc;

/// A message of a capture, as one JSON object on one line; `tree` is what [`Message::explain`] says.
/// What is written has several times as many bytes as the message.
pub fn captured<'a>(message: &'a Message, tree: &'a Tree) -> impl fmt::Display + 'a {
    Line(Captured {
        number: message.number,
        connection: message.connection,
        time: time(message.time),
        client_id: message.client_id.as_deref(),
        answers: message.answers,
        latency: message.latency.map(seconds),
        is_token: matches!(message.kind, Kind::Token(_)),
        errors: message.errors.iter().map(|(code, _)| *code).collect(),
        missing_bytes: message.missing,
        decoded: Decoded {
            tree,
            values: true,
            place: None,
        },
    })
}

#[derive(Serialize)]
struct Captured<'a> {
    number: u64,
    connection: usize,
    time: String,
    client_id: Option<&'a str>,
    answers: Option<u64>,
    latency: Option<f64>,
    is_token: bool,
    errors: Vec<i16>,
    missing_bytes: u64,
    #[serde(flatten)]
    decoded: Decoded<'a>,
}

/// A finding, as one JSON object on one line.
pub fn finding(finding: &Finding) -> String {
    let kind = match finding.what {
        What::Lost { .. } => "lost",
        What::Skipped { .. } => "skipped",
        What::Ends { .. } => "ends",
        What::Unmatched { .. } => "unmatched",
        What::Unanswered { .. } => "unanswered",
        What::Malformed { .. } => "malformed",
    };
    let bytes = match finding.what {
        What::Lost { bytes } | What::Skipped { bytes } | What::Ends { bytes } => Some(bytes),
        _ => None,
    };
    line(&json!({
        "kind": "finding",
        "finding": kind,
        "connection": finding.connection,
        "from": match finding.is_from_client {
            Some(true) => Some("client"),
            Some(false) => Some("server"),
            None => None,
        },
        "time": time(finding.time),
        "bytes": bytes,
        "what": finding.to_string(),
        "is_bad": finding.is_bad(),
    }))
}

/// What a capture has: a JSON object on a line for each connection, then one for all of it.
pub fn summary(summary: &Summary) -> String {
    let mut out = String::new();
    for one in &summary.connections {
        out.push_str(&line(&connection(one)));
        out.push('\n');
    }
    let packets = &summary.packets;
    out.push_str(&line(&json!({
        "kind": "capture",
        "packets": packets.all,
        "tcp_packets": packets.tcp,
        "fragments": packets.fragments,
        "cut_packets": packets.cut,
        "dropped_packets": packets.dropped,
        "first": packets.first.map(time),
        "last": packets.last.map(time),
        "connections": summary.connections.len(),
        "messages": summary.messages,
        "is_sound": summary.is_sound(),
    })));
    out.push('\n');
    out
}

fn connection(connection: &ConnectionSummary) -> Json {
    let totals = &connection.totals;
    json!({
        "kind": "connection",
        "connection": connection.number,
        "client": connection.client.to_string(),
        "server": connection.server.to_string(),
        "carries": match connection.carries {
            Carries::Unknown => None,
            Carries::Kafka => Some("kafka"),
            Carries::Tls => Some("tls"),
            Carries::Other => Some("other"),
        },
        "client_ids": connection.client_ids.iter().map(|id| &**id).collect::<Vec<_>>(),
        "software_name": connection.software.as_ref().map(|(name, _)| &**name),
        "software_version": connection.software.as_ref().map(|(_, version)| &**version),
        "first": time(connection.first),
        "last": time(connection.last),
        "client_bytes": connection.client_bytes,
        "server_bytes": connection.server_bytes,
        "missing_bytes": totals.lost_bytes,
        "cut_bytes": totals.cut_bytes,
        "skipped_bytes": totals.skipped_bytes,
        "unanswered": totals.unanswered,
        "unmatched": totals.unmatched,
        "malformed": totals.malformed,
        "repeated_segments": connection.repeated_segments,
        "apis": connection.counts.iter().map(|(key, counts)| api(key, counts)).collect::<Vec<_>>(),
    })
}

fn api(key: ApiKey, counts: &ApiCounts) -> Json {
    let latency = &counts.latency;
    json!({
        "api_key": key.0,
        "name": key.name(),
        "min_version": counts.versions.map(|(min, _)| min),
        "max_version": counts.versions.map(|(_, max)| max),
        "requests": counts.requests,
        "request_bytes": counts.request_bytes,
        "responses": counts.responses,
        "response_bytes": counts.response_bytes,
        "latency_min": latency.min().map(seconds),
        "latency_median": latency.median().map(seconds),
        "latency_max": latency.max().map(seconds),
        "errors": counts.errors.iter().map(|(code, count)| json!({
            "code": code,
            "count": count,
        })).collect::<Vec<_>>(),
    })
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// A time in UTC with nanoseconds.
fn time(time: Time) -> String {
    let millis = utc((time.0 / 1_000_000).cast_signed()).unwrap_or_default();
    let nanos = time.0 % 1_000_000;
    format!("{}{nanos:06}Z", millis.trim_end_matches('Z'))
}
