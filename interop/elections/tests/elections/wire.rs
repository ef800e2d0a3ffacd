//! ElectLeaders on the wire: requests, and answers as text.

use std::fmt::Write as _;

use klamm_protocol::ErrorCode;
use klamm_protocol::messages::elect_leaders::{
    ElectLeadersRequest, ElectLeadersResponse, TopicPartitions,
};
pub(crate) use klamm_suite::Wire;

/// The election types of the protocol.
pub(crate) const PREFERRED: i8 = 0;
pub(crate) const UNCLEAN: i8 = 1;

/// An ElectLeaders request; `topics` none is the null list.
pub(crate) fn elect(election_type: i8, topics: Option<&[(&str, &[i32])]>) -> ElectLeadersRequest {
    let topics = topics.map(|topics| topics.iter().map(topic).collect());
    ElectLeadersRequest {
        election_type,
        topic_partitions: topics,
        timeout_ms: 30_000,
        ..Default::default()
    }
}

fn topic((name, partitions): &(&str, &[i32])) -> TopicPartitions {
    TopicPartitions {
        topic: (*name).into(),
        partitions: partitions.iter().copied().collect(),
        ..Default::default()
    }
}

/// A response as text: the top-level error, which version 0 has not, then a line a partition.
pub(crate) fn show(version: i16, response: &ElectLeadersResponse) -> String {
    let mut text = match version {
        0 => "no top-level error\n".to_owned(),
        _ => format!("{}\n", ErrorCode(response.error_code)),
    };
    for topic in &response.replica_election_results {
        if topic.partition_result.is_empty() {
            writeln!(text, "{}: no partitions", topic.topic).unwrap();
        }
        for partition in &topic.partition_result {
            let code = ErrorCode(partition.error_code);
            write!(text, "{}-{}: {code}", topic.topic, partition.partition_id).unwrap();
            match partition.error_message.as_deref() {
                // It prints objects of the server, with their addresses in memory.
                Some(message) if message.starts_with("Request Request(") => {
                    let (_, reason) = message.rsplit_once(") ").unwrap();
                    write!(text, " \"Request ... {reason}\"").unwrap();
                }
                Some(message) => write!(text, " {message:?}").unwrap(),
                None => {}
            }
            text.push('\n');
        }
    }
    text
}

/// The same for a null list, where topics come in the order of their random ids.
pub(crate) fn show_sorted(version: i16, response: &ElectLeadersResponse) -> String {
    let text = show(version, response);
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].sort_unstable();
    lines.join("\n") + "\n"
}

/// What all of some answers say.
pub(crate) fn same(answers: impl IntoIterator<Item = String>) -> String {
    let mut answers = answers.into_iter();
    let first = answers.next().unwrap();
    answers.for_each(|answer| assert_eq!(answer, first));
    first
}
