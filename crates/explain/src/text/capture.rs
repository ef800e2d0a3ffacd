//! Captures for people: a summary, and a line for each message.

use core::net::SocketAddr;

use klamm_protocol::{ApiKey, ErrorCode};

use super::table::Table;
use super::{Look, printable};
use crate::capture::{
    ApiCounts, Carries, ConnectionSummary, Finding, Kind, Message, Packets, Summary, Time,
};
use crate::time::utc;
use crate::words::{self, bytes};

/// The headings of [`message_line`].
pub fn message_headings(look: Look) -> String {
    let line = line_of(
        ["NUMBER", "SECONDS", "CONN", "KIND", "API", "VERSION"],
        ["CORRELATION", "BYTES", "LATENCY", "ERRORS"],
    );
    format!("{}\n", look.bold(line.trim_end()))
}

/// A message of a capture that starts at `start`, on a line.
pub fn message_line(message: &Message, start: Time, look: Look) -> String {
    let kind = match message.kind {
        Kind::Message(direction) => direction.name().to_owned(),
        Kind::Token(_) => "SASL token".to_owned(),
    };
    let (name, version) = message.api.map_or_else(Default::default, |api| {
        (name_of(api.key), api.version.to_string())
    });
    let id = message.correlation_id.map(|id| id.to_string());
    let line = line_of(
        [
            &message.number.to_string(),
            &seconds(message.time.since(start)),
            &message.connection.to_string(),
            &kind,
            &name,
            &version,
        ],
        [
            &id.unwrap_or_default(),
            &message.size.to_string(),
            &message.latency.map(duration).unwrap_or_default(),
            "",
        ],
    );
    let mut notes = Vec::new();
    for (code, count) in &message.errors {
        notes.push(error(*code, u64::from(*count)));
    }
    if message.missing > 0 {
        notes.push(format!("{} missing", bytes(message.missing)));
    }
    if let Some(fault) = message.fault {
        notes.push(fault.to_string());
    }
    let line = format!("{line}{}", look.bad(&notes.join(", ")));
    format!("{}\n", line.trim_end())
}

/// The columns of a message; nothing is cut off.
fn line_of(
    [number, time, connection, kind, api, version]: [&str; 6],
    [id, size, latency, errors]: [&str; 4],
) -> String {
    format!(
        "{number:>7}  {time:>11}  {connection:>4}  {kind:<10}  {api:<26}  {version:>7}  {id:>11}  \
         {size:>9}  {latency:>9}  {errors}"
    )
}

/// A finding in a capture that starts at `start`, on a line.
pub fn finding_line(finding: &Finding, start: Time, look: Look) -> String {
    let text = finding.to_string();
    format!(
        "{:>7}  {:>11}  {:>4}  {}\n",
        "",
        seconds(finding.time.since(start)),
        finding.connection,
        if finding.is_bad() {
            look.bad(&text)
        } else {
            look.dim(&text)
        }
    )
}

/// What a capture has: its packets, then each connection with what is said in it.
pub fn summary(summary: &Summary, look: Look) -> String {
    let mut out = packets(summary, look);
    let start = summary.packets.first.unwrap_or_default();
    let is_kafka = |connection: &&ConnectionSummary| connection.carries == Carries::Kafka;
    for connection in summary.connections.iter().filter(is_kafka) {
        out.push('\n');
        out.push_str(&kafka(connection, start, look));
    }
    let others: Vec<_> = summary
        .connections
        .iter()
        .filter(|connection| !is_kafka(connection))
        .collect();
    if !others.is_empty() {
        out.push_str(&format!("\n{}\n", look.bold("Without Kafka's protocol")));
        out.push_str(&without_kafka(&others, look));
    }
    out
}

fn packets(summary: &Summary, look: Look) -> String {
    let Packets {
        all,
        tcp,
        fragments,
        cut,
        unknown_link,
        filtered,
        too_many,
        dropped,
        first,
        last,
        ..
    } = summary.packets;
    let mut out = format!("{}, {tcp} of TCP", words::count(all, "packet"));
    if let Some((first, last)) = first.zip(last) {
        let nanos = last.since(first);
        out.push_str(&format!(", in {} s", seconds(nanos)));
        if let Some(start) = utc((first.0 / 1_000_000).cast_signed()) {
            out.push_str(&format!(" from {start}"));
        }
    }
    let connections = words::count(summary.connections.len(), "connection");
    let messages = words::count(summary.messages, "message");
    out.push_str(&format!("\n{connections}, {messages}\n"));
    let mut note = |count: u64, what: &str| {
        if count > 0 {
            out.push_str(&format!(
                "{}\n",
                look.bad(&format!("{}{what}", words::count(count, "packet")))
            ));
        }
    };
    note(dropped, " dropped by the program that captured");
    note(fragments, " in fragments, which are not put together");
    note(cut, " cut off within the headers");
    note(
        too_many,
        " of more connections than the 50000 that are told apart",
    );
    if let Some(link) = unknown_link {
        let text = format!(
            "packets of link type {link}, which is not known: Ethernet, Linux cooked, loopback and \
             raw IP are"
        );
        out.push_str(&format!("{}\n", look.bad(&text)));
    }
    if filtered > 0 {
        out.push_str(&format!(
            "{} of other ports\n",
            words::count(filtered, "packet")
        ));
    }
    out
}

fn kafka(connection: &ConnectionSummary, start: Time, look: Look) -> String {
    let ConnectionSummary {
        number,
        client,
        server,
        client_ids,
        software,
        totals,
        ..
    } = connection;
    let mut out = look.bold(&format!("Connection {number}: {client} to {server}"));
    let ids: Vec<_> = client_ids.iter().map(|id| printable(id)).collect();
    match ids.as_slice() {
        [] => {}
        [id] => out.push_str(&format!(", client id {id}")),
        ids => out.push_str(&format!(", client ids {}", ids.join(", "))),
    }
    if let Some((name, version)) = software {
        out.push_str(&format!(", {} {}", printable(name), printable(version)));
    }
    out.push('\n');
    let headings = [
        "API",
        "VERSION",
        "REQUESTS",
        "BYTES",
        "RESPONSES",
        "BYTES",
        "LATENCY",
        "MEDIAN",
        "MAX",
        "ERRORS",
    ];
    let mut table = Table::new(&headings, &[1, 2, 3, 4, 5, 6, 7, 8]);
    for (key, counts) in connection.counts.iter() {
        table.row(api_row(key, counts));
    }
    out.push_str(&table.render(look));
    let mut missing = Vec::new();
    for (count, what) in [
        (totals.lost_bytes, "missing"),
        (totals.cut_bytes, "cut off by the snap length"),
        (totals.skipped_bytes, "passed over"),
    ] {
        if count > 0 {
            missing.push(format!("{} {what}", bytes(count)));
        }
    }
    for (count, what) in [
        (totals.unanswered, "without a response"),
        (totals.unmatched, "without a request"),
        (totals.malformed, "not as their schema says"),
    ] {
        if count > 0 {
            missing.push(format!("{} {what}", words::count(count, "message")));
        }
    }
    if !missing.is_empty() {
        out.push_str(&format!("{}\n", missing.join(", ")));
    }
    for finding in &connection.findings {
        let time = seconds(finding.time.since(start));
        let line = format!("  at {time} s: {finding}");
        let line = if finding.is_bad() {
            look.bad(&line)
        } else {
            line
        };
        out.push_str(&format!("{line}\n"));
    }
    if connection.more_findings > 0 {
        out.push_str(&format!(
            "  and {} more like these\n",
            connection.more_findings
        ));
    }
    out
}

fn api_row(key: ApiKey, counts: &ApiCounts) -> Vec<(String, &'static str)> {
    let versions = match counts.versions {
        Some((min, max)) if min == max => min.to_string(),
        Some((min, max)) => format!("{min}-{max}"),
        None => String::new(),
    };
    let latency = &counts.latency;
    let errors: Vec<String> = counts
        .errors
        .iter()
        .map(|(code, count)| error(*code, *count))
        .collect();
    let time = |nanos: Option<u64>| (nanos.map(duration).unwrap_or_default(), "");
    vec![
        (name_of(key), ""),
        (versions, "2"),
        (counts.requests.to_string(), ""),
        (counts.request_bytes.to_string(), "2"),
        (counts.responses.to_string(), ""),
        (counts.response_bytes.to_string(), "2"),
        time(latency.min()),
        time(latency.median()),
        time(latency.max()),
        (errors.join(", "), "31"),
    ]
}

fn without_kafka(connections: &[&ConnectionSummary], look: Look) -> String {
    let mut table = Table::new(
        &["CONN", "FROM", "TO", "BYTES", "BYTES BACK", "WHAT"],
        &[0, 3, 4],
    );
    for connection in connections {
        let what = match connection.carries {
            Carries::Tls => "TLS: what is inside cannot be read",
            Carries::Other => "not Kafka's protocol",
            _ if connection.client_bytes + connection.server_bytes == 0 => "nothing was sent",
            _ => "no request was recognised",
        };
        let address = |address: SocketAddr| (address.to_string(), "");
        table.row(vec![
            (connection.number.to_string(), ""),
            address(connection.client),
            address(connection.server),
            (connection.client_bytes.to_string(), ""),
            (connection.server_bytes.to_string(), ""),
            (what.to_owned(), ""),
        ]);
    }
    table.render(look)
}

fn name_of(key: ApiKey) -> String {
    key.name()
        .map_or_else(|| format!("API {}", key.0), str::to_owned)
}

/// An error code, and how often it occurs.
fn error(code: i16, count: u64) -> String {
    let name = ErrorCode(code).name().unwrap_or("unknown error");
    match count {
        1 => format!("{name} ({code})"),
        count => format!("{count} {name} ({code})"),
    }
}

/// Nanoseconds as seconds, to the microsecond.
fn seconds(nanos: u64) -> String {
    format!("{}.{:06}", nanos / 1_000_000_000, nanos / 1_000 % 1_000_000)
}

/// Nanoseconds with three digits.
pub(crate) fn duration(nanos: u64) -> String {
    let (unit, name) = match nanos {
        0..1_000 => return format!("{nanos} ns"),
        1_000..1_000_000 => (1e3, "µs"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let value = nanos as f64 / unit;
    let digits = match value {
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits() {
        for (nanos, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 µs"),
            (12_345, "12.3 µs"),
            (123_456_789, "123 ms"),
            (61_000_000_000, "61.0 s"),
        ] {
            assert_eq!(duration(nanos), text);
        }
        assert_eq!(seconds(1_002_003_004), "1.002003");
    }
}
