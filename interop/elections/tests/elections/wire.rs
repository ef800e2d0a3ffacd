//! Raw requests over a plain socket, so that nothing of klamm's client stands between a test and what
//! Apache Kafka answers.

use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use bytes::Bytes;
use klamm_protocol::messages::elect_leaders::{
    ElectLeadersRequest, ElectLeadersResponse, TopicPartitions,
};
use klamm_protocol::{ErrorCode, Request, frame};

/// Above the longest wait of any request here.
const READ_DEADLINE: Duration = Duration::from_secs(60);

/// The election types of the protocol.
pub(crate) const PREFERRED: i8 = 0;
pub(crate) const UNCLEAN: i8 = 1;

pub(crate) struct Wire {
    stream: TcpStream,
    correlation_id: i32,
}

impl Wire {
    pub(crate) fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap_or_else(|e| panic!("{address}: {e}"));
        stream.set_read_timeout(Some(READ_DEADLINE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            correlation_id: 0,
        }
    }

    /// Sends a request and reads its response, every byte of it.
    pub(crate) fn call<R: Request>(&mut self, version: i16, request: &R) -> R::Response {
        self.correlation_id += 1;
        let client = "raw".into();
        let id = self.correlation_id;
        let frame = frame::encode_request(id, Some(&client), version, request).unwrap();
        self.send(&frame.into_bytes());
        let answer = self.read().expect("the server closed the connection");
        let (header, body) = frame::decode_response::<R>(&answer, version).unwrap();
        assert_eq!(header.correlation_id, id);
        assert_eq!(body.left, 0, "{} bytes are left of {answer:?}", body.left);
        body.value
    }

    /// The bytes of a request with its length, to be spoilt and sent.
    pub(crate) fn frame<R: Request>(version: i16, request: &R) -> Vec<u8> {
        frame::encode_request(1, None, version, request)
            .unwrap()
            .into_bytes()
            .to_vec()
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next frame without its length, or none if the server closes the connection.
    pub(crate) fn read(&mut self) -> Option<Bytes> {
        let mut len = [0; 4];
        if let Err(e) = self.stream.read_exact(&mut len) {
            let closed = [ErrorKind::UnexpectedEof, ErrorKind::ConnectionReset];
            assert!(
                closed.contains(&e.kind()),
                "neither an answer nor an end: {e}"
            );
            return None;
        }
        let mut frame = vec![0; usize::try_from(i32::from_be_bytes(len)).unwrap()];
        self.stream.read_exact(&mut frame).unwrap();
        Some(frame.into())
    }
}

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
