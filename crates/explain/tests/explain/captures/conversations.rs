use klamm_explain::capture::{Carries, Filter, Kind, Options, What};
use klamm_explain::{Direction, apis, message_schema};
use klamm_protocol::{ApiKey, ApiVersion};

use super::build::{Connection, Segment, conversations, frame, latest, pcap};
use super::{Read, read, read_in_steps};
use crate::support::{instances, seed, subjects};

fn one(connection: Connection) -> Read {
    read(&pcap(&connection.close()))
}

#[test]
fn responses_are_paired_with_requests() {
    let shown = read(&pcap(&conversations(3, 20, 1448)));
    assert_eq!(shown.end, Ok(()));
    assert_eq!(shown.findings, []);
    assert_eq!(shown.messages.len(), 3 * 20 * 2);
    for message in &shown.messages {
        let tree = message.explain(&Default::default()).unwrap();
        assert!(tree.is_sound(), "{tree:?}");
        assert_eq!(message.client_id.as_deref(), Some("me"));
        if message.direction() == Direction::Response {
            let request = &shown.messages[message.answers.unwrap() as usize - 1];
            assert_eq!(request.api, message.api);
            assert_eq!(request.correlation_id, message.correlation_id);
            assert!(message.latency > Some(0));
        }
    }
    let connection = &shown.summary.connections[0];
    assert_eq!(connection.server.port(), super::build::SERVER_PORT);
    assert_eq!(connection.carries, Carries::Kafka);
    let (key, counts) = connection.counts.iter().next().unwrap();
    assert_eq!(
        (key, counts.requests, counts.responses),
        (ApiKey::FETCH, 3, 3)
    );
}

/// The pass that a summary makes goes over random instances of every message to their last byte.
#[test]
fn every_message_is_passed_over_to_its_end() {
    let seed = seed();
    let mut rng = fastrand::Rng::with_seed(seed);
    let all = subjects();
    for key in apis() {
        for direction in Direction::BOTH {
            let schema = message_schema(key, direction).unwrap();
            let subject = all
                .iter()
                .find(|subject| subject.schema.name == schema.name)
                .unwrap();
            for version in key.coded_versions().iter() {
                let api = ApiVersion { key, version };
                for _ in 0..instances() {
                    let place = format!("{api} {}, KLAMM_SEED={seed}", direction.name());
                    let (_, body) = subject.random(version, &mut rng);
                    let smallest = frame(api, direction, 1);
                    let body_len = klamm_explain::smallest_frame(api, direction).unwrap().len()
                        - header_len(api, direction);
                    let header = &smallest[4..smallest.len() - body_len];
                    let mut bytes = ((header.len() + body.len()) as u32).to_be_bytes().to_vec();
                    bytes.extend(header);
                    bytes.extend(&body);
                    let mut connection = Connection::open(40_000, [7, 8]);
                    if direction == Direction::Response {
                        connection.send(true, &frame(api, Direction::Request, 1), 1448);
                    }
                    let most = rng.usize(1..2000);
                    connection.send(direction == Direction::Request, &bytes, most);
                    let shown = one(connection);
                    let message = shown.messages.last().unwrap();
                    assert_eq!(message.fault, None, "{place}");
                    assert_eq!(message.bytes.as_deref(), Some(&bytes[..]), "{place}");
                }
            }
        }
    }
}

/// Bytes of size and header in a smallest frame.
fn header_len(api: ApiVersion, direction: Direction) -> usize {
    let version = direction.header_version(api.key, api.version);
    match (direction, version) {
        (Direction::Request, 2) => 4 + 11,
        (Direction::Request, _) => 4 + 10,
        (Direction::Response, 1) => 4 + 5,
        (Direction::Response, _) => 4 + 4,
    }
}

#[test]
fn the_size_of_the_pieces_does_not_matter() {
    let file = pcap(&conversations(2, 6, 100));
    let whole = read(&file);
    for step in [1, 2, 7, 100, 1000] {
        let options = Options {
            keeps_bytes: true,
            ..Options::default()
        };
        assert_eq!(
            read_in_steps(&file, step, options),
            whole,
            "steps of {step}"
        );
    }
}

#[test]
fn connections_that_are_under_way() {
    let mut connection = Connection::under_way(40_000, [77, 99]);
    let api = latest(ApiKey::METADATA);
    // The end of a response, whose request nobody saw.
    connection.send(false, &[0; 500], 200);
    for id in 5..15 {
        connection.exchange(api, id, 30);
    }
    let shown = one(connection);
    assert_eq!(shown.messages.len(), 20);
    assert_eq!(shown.summary.connections[0].totals.skipped_bytes, 500);
    assert!(shown.summary.is_sound());
}

#[test]
fn the_same_ports_again() {
    let mut segments = Vec::new();
    for start in [[10, 20], [1 << 30, 1 << 31], [11, 21]] {
        let mut connection = Connection::open(40_000, start);
        connection.exchange(latest(ApiKey::METADATA), 1, 50);
        segments.extend(connection.close());
    }
    let shown = read(&pcap(&segments));
    assert_eq!(shown.summary.connections.len(), 3);
    assert_eq!(shown.messages.len(), 6);
    assert_eq!(shown.findings, []);
}

#[test]
fn what_is_no_kafka() {
    for (client, carries) in [
        (
            &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
            Carries::Tls,
        ),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", Carries::Other),
        (b"", Carries::Unknown),
    ] {
        let mut connection = Connection::open(40_000, [1, 2]);
        connection.send(true, client, 1448);
        connection.send(false, b"whatever it says, it is no response", 1448);
        let shown = one(connection);
        assert_eq!(shown.summary.connections[0].carries, carries);
        assert_eq!(shown.messages, []);
        assert_eq!(shown.findings, []);
        assert!(shown.summary.is_sound());
    }
}

#[test]
fn tokens_without_headers() {
    let handshake = ApiVersion {
        key: ApiKey::SASL_HANDSHAKE,
        version: 0,
    };
    let mut connection = Connection::open(40_000, [1, 2]);
    connection.exchange(latest(ApiKey::API_VERSIONS), 0, 1448);
    connection.exchange(handshake, 1, 1448);
    for (token, answer) in [
        (&b"n,,n=me,r=abcdef"[..], &b"r=abcdefgh"[..]),
        (b"c=biws", b"v=xyz"),
    ] {
        for (is_from_client, token) in [(true, token), (false, answer)] {
            let mut frame = (token.len() as u32).to_be_bytes().to_vec();
            frame.extend(token);
            connection.send(is_from_client, &frame, 3);
        }
    }
    // PLAIN is answered with nothing.
    connection.send(true, b"\0\0\0\x08\0me\0pass", 1448);
    connection.send(false, &[0; 4], 1448);
    connection.exchange(latest(ApiKey::METADATA), 2, 1448);
    let shown = one(connection);
    assert_eq!(shown.findings, []);
    let kinds: Vec<_> = shown.messages.iter().map(|message| message.kind).collect();
    let pair = |kind: fn(Direction) -> Kind| Direction::BOTH.map(kind);
    let expected = [
        pair(Kind::Message),
        pair(Kind::Message),
        pair(Kind::Token),
        pair(Kind::Token),
        pair(Kind::Token),
        pair(Kind::Message),
    ];
    assert_eq!(kinds, expected.concat());
    let token = shown.messages[8].explain(&Default::default()).unwrap();
    assert!(token.is_sound());
    let text = klamm_explain::text::decoded(&token, Default::default());
    assert!(
        text.contains("(hidden, 8 bytes)") && !text.contains("pass"),
        "{text}"
    );
}

#[test]
fn requests_that_nobody_answers() {
    let mut connection = Connection::open(40_000, [1, 2]);
    // The smallest Produce request has acks=0.
    connection.send(
        true,
        &frame(latest(ApiKey::PRODUCE), Direction::Request, 1),
        1448,
    );
    connection.exchange(latest(ApiKey::METADATA), 2, 1448);
    connection.send(
        true,
        &frame(latest(ApiKey::FETCH), Direction::Request, 3),
        1448,
    );
    let shown = one(connection);
    let whats: Vec<_> = shown.findings.iter().map(|finding| finding.what).collect();
    let unanswered = What::Unanswered {
        api: latest(ApiKey::FETCH),
        correlation_id: 3,
    };
    assert_eq!(whats, [unanswered]);
    assert!(shown.summary.is_sound());
}

/// FIN takes a sequence number, which the answers after it acknowledge.
#[test]
fn answers_after_the_end_of_the_requests() {
    let api = latest(ApiKey::METADATA);
    let mut connection = Connection::open(40_000, [1, 2]);
    connection.send(true, &frame(api, Direction::Request, 1), 1448);
    connection.finish(true);
    connection.send(false, &frame(api, Direction::Response, 1), 10);
    connection.finish(false);
    let segments = connection.segments;
    let is_fin = |segment: &Segment| segment.flags & super::build::FIN != 0;
    let without: Vec<_> = segments
        .iter()
        .filter(|one| !is_fin(one))
        .cloned()
        .collect();
    for segments in [segments, without] {
        let shown = read(&pcap(&segments));
        assert_eq!(shown.messages.len(), 2);
        assert_eq!(shown.findings, []);
        assert_eq!(shown.lost(), 0);
    }
}

#[test]
fn filters_choose_messages() {
    let file = pcap(&conversations(2, 12, 1448));
    let count = |filter: Filter| {
        let options = Options {
            filter,
            ..Options::default()
        };
        read_in_steps(&file, 4096, options).messages.len()
    };
    let all = Filter::default;
    assert_eq!(count(all()), 48);
    assert_eq!(
        count(Filter {
            apis: vec![ApiKey::FETCH],
            ..all()
        }),
        8
    );
    assert_eq!(
        count(Filter {
            direction: Some(Direction::Request),
            ..all()
        }),
        24
    );
    assert_eq!(
        count(Filter {
            connection: Some(2),
            ..all()
        }),
        24
    );
    assert_eq!(
        count(Filter {
            client_id: Some("me".into()),
            ..all()
        }),
        48
    );
    assert_eq!(
        count(Filter {
            client_id: Some("you".into()),
            ..all()
        }),
        0
    );
    assert_eq!(
        count(Filter {
            correlation_id: Some(3),
            ..all()
        }),
        4
    );
    assert_eq!(
        count(Filter {
            errors_only: true,
            ..all()
        }),
        0
    );
    assert_eq!(
        count(Filter {
            numbers: Some(5..=9),
            ..all()
        }),
        5
    );
    // The first six packets open the connections, a millisecond each.
    assert_eq!(
        count(Filter {
            nanos: Some(0..=7_000_000),
            ..all()
        }),
        4
    );
    let options = Options {
        port: Some(1),
        ..Options::default()
    };
    assert_eq!(read_in_steps(&file, 4096, options).summary.connections, []);
}

/// Segments that are of no use to anybody.
#[test]
fn a_reset_ends_nothing_that_is_not_there() {
    let segment = Segment {
        flags: 0x04,
        ..conversations(1, 0, 1)[0].clone()
    };
    assert_eq!(read(&pcap(&[segment])).summary.connections, []);
}
