//! Captures with packets that are missing, repeated, out of order or cut, and with bytes that are
//! anything.

use klamm_explain::Direction;
use klamm_explain::capture::{FileError, What};
use klamm_protocol::{ApiKey, ApiVersion};

use super::build::{Connection, SYN, Segment, conversations, frame, latest, pcap};
use super::read;
use crate::support::{instances, seed};

/// Moves segments by at most a few places. A connection's first segments stay in front, so that
/// connections keep their numbers.
fn shuffled(segments: &[Segment], rng: &mut fastrand::Rng) -> Vec<Segment> {
    let mut segments = segments.to_vec();
    for index in 1..segments.len() {
        let is_opening = segments[index].flags & SYN != 0 || segments[index - 1].flags & SYN != 0;
        if !is_opening && rng.bool() {
            segments.swap(index, index - 1);
        }
    }
    segments
}

#[test]
fn order_and_repetition_do_not_matter() {
    let seed = seed();
    let mut rng = fastrand::Rng::with_seed(seed);
    for round in 0..10 * instances() {
        let place = format!("round {round}, KLAMM_SEED={seed}");
        let segments = conversations(3, 12, rng.usize(1..300));
        let original = read(&pcap(&segments));
        let mut changed = shuffled(&segments, &mut rng);
        // Repeated as it was, and as a sender does that cuts its data up anew.
        for index in (6..changed.len()).rev() {
            if rng.u8(..) < 40 {
                let mut again = changed[index].clone();
                let keep = rng.usize(..=again.data.len());
                if rng.bool() {
                    again.data.truncate(keep);
                } else {
                    again.data.drain(..keep);
                    again.sequence = again.sequence.wrapping_add(keep as u32);
                }
                changed.insert(index + rng.usize(..2), again);
            }
        }
        let changed = read(&pcap(&changed));
        assert_eq!(changed.lost(), 0, "{place}: {:?}", changed.findings);
        assert_eq!(changed.said(), original.said(), "{place}");
        assert_eq!(changed.findings, [], "{place}");
    }
}

/// What is taken out is missing, neither more nor less, and every message of which nothing was taken
/// is read.
#[test]
fn missing_packets_are_reported() {
    let seed = seed();
    let mut rng = fastrand::Rng::with_seed(seed);
    for round in 0..10 * instances() {
        let place = format!("round {round}, KLAMM_SEED={seed}");
        let most = rng.usize(20..300);
        let mut segments = conversations(3, 12, most);
        let original = read(&pcap(&segments));
        let mut gone = 0;
        let mut pieces = 0;
        for _ in 0..rng.usize(1..6) {
            let index = rng.usize(..segments.len());
            if !segments[index].data.is_empty() {
                gone += segments.remove(index).data.len() as u64;
                pieces += 1;
            }
        }
        let changed = read(&pcap(&shuffled(&segments, &mut rng)));
        assert_eq!(changed.lost(), gone, "{place}: {:#?}", changed.findings);
        let found: u64 = changed
            .findings
            .iter()
            .filter_map(|finding| match finding.what {
                What::Lost { bytes } => Some(bytes),
                _ => None,
            })
            .sum();
        assert_eq!(found, gone, "{place}");
        assert_eq!(changed.summary.is_sound(), gone == 0, "{place}");
        // Each piece breaks the messages that it has a part of; a message that then begins within a
        // segment that is still there may be passed over with it.
        let whole = changed
            .messages
            .iter()
            .filter(|message| message.missing == 0)
            .count();
        let small = original
            .messages
            .iter()
            .map(|message| message.size)
            .min()
            .unwrap();
        let broken_each = 2 + 2 * most / small as usize;
        assert!(
            whole + pieces * broken_each >= original.messages.len(),
            "{place}: {whole}"
        );
    }
}

/// After a hole, bytes within a response may look like the head of another one, of any size, to any
/// request that waits. Whatever they claim, the responses that are there are read.
#[test]
fn what_only_looks_like_a_response_swallows_none() {
    let metadata = latest(ApiKey::METADATA);
    let decoy = |size: u32, id: i32| {
        let mut bytes = vec![0; 60];
        bytes[..4].copy_from_slice(&size.to_be_bytes());
        bytes[4..8].copy_from_slice(&id.to_be_bytes());
        bytes
    };
    for decoys in [1, 2, 50] {
        for size in [4, 5, 55, 57, 200, 1 << 20, 1 << 30] {
            for id in 1..=3 {
                let mut connection = Connection::open(40_000, [7, 9]);
                for id in 1..=3 {
                    connection.send(true, &frame(metadata, Direction::Request, id), 1000);
                }
                // The response to the first request, whose beginning is lost.
                connection.send(false, &[0; 100], 1000);
                connection.segments.pop();
                for _ in 0..decoys {
                    connection.send(false, &decoy(size, id), 1000);
                }
                for id in 2..=3 {
                    connection.send(false, &frame(metadata, Direction::Response, id), 1000);
                }
                let read = read(&pcap(&connection.segments));
                let answers = read.messages.iter().filter_map(|message| message.answers);
                let place = format!("{decoys} of {size} bytes, id {id}: {:#?}", read.findings);
                assert_eq!(answers.collect::<Vec<_>>(), [2, 3], "{place}");
            }
        }
    }
}

/// After a hole, a response that takes many segments is read, whatever they begin with.
#[test]
fn what_looks_like_a_response_ends_no_other() {
    let metadata = latest(ApiKey::METADATA);
    let response = frame(metadata, Direction::Response, 2);
    for most in 8..=response.len() {
        let mut connection = Connection::open(40_000, [7, 9]);
        // Small ids, as the numbers in a response are; none of them is answered but one.
        for id in 0..=9 {
            connection.send(true, &frame(metadata, Direction::Request, id), 1000);
        }
        connection.send(false, &[0; 100], 1000);
        connection.segments.pop();
        connection.send(false, &response, most);
        let read = read(&pcap(&connection.segments));
        let last = read.messages.last().expect("messages");
        assert_eq!(last.answers, Some(3), "{most}: {:#?}", read.findings);
        assert_eq!(last.bytes.as_ref(), Some(&response), "{most}");
    }
}

/// The last bytes before a capture ends are missing: whoever acknowledges something later shows that
/// they were there, the side that got them as well as the one that sent them.
#[test]
fn what_is_missing_at_the_end_is_told_by_acknowledgements() {
    let api = ApiVersion {
        key: ApiKey::METADATA,
        version: 12,
    };
    let request = frame(api, Direction::Request, 7);
    for is_from_client in [true, false] {
        let mut connection = Connection::open(40_000, [7, u32::MAX - 20]);
        connection.exchange(api, 6, 1000);
        connection.send(true, &request, 1000);
        let gone = connection.segments.pop().expect("the request").data.len();
        assert_eq!(read(&pcap(&connection.segments)).lost(), 0);
        connection.acknowledge(is_from_client);
        let read = read(&pcap(&connection.segments));
        assert_eq!(read.lost(), gone as u64, "{is_from_client}");
    }
}

/// The last bytes of the last request are missing, and the server answers after the client's FIN: the
/// number that the FIN takes is no byte, and a single byte is no FIN.
#[test]
fn an_acknowledged_fin_is_not_a_byte() {
    let api = ApiVersion {
        key: ApiKey::METADATA,
        version: 12,
    };
    let request = frame(api, Direction::Request, 7);
    for gone in 1..=request.len() {
        let mut connection = Connection::open(40_000, [u32::MAX - 100, 7]);
        connection.exchange(api, 6, 1000);
        let (there, missing) = request.split_at(request.len() - gone);
        connection.send(true, there, 1000);
        connection.send(true, missing, 1000);
        connection.segments.pop();
        connection.finish(true);
        connection.send(false, &frame(api, Direction::Response, 7), 1000);
        connection.finish(false);
        let read = read(&pcap(&connection.segments));
        assert_eq!(read.lost(), gone as u64, "{:#?}", read.findings);
    }
}

#[test]
fn every_truncation_is_told() {
    let segments = conversations(2, 3, 120);
    let file = pcap(&segments);
    let whole = read(&file);
    let mut boundary = 24;
    let mut boundaries = vec![boundary];
    for segment in &segments {
        boundary += 16 + segment.ethernet().len();
        boundaries.push(boundary);
    }
    for len in 0..file.len() {
        let cut = read(&file[..len]);
        if boundaries.contains(&len) {
            assert_eq!(cut.end, Ok(()), "{len}");
        } else {
            assert!(
                matches!(cut.end, Err(FileError::Cut { .. })),
                "{len}: {:?}",
                cut.end
            );
        }
        let complete = whole.messages.iter().take(cut.messages.len());
        for (message, expected) in cut.messages.iter().zip(complete) {
            assert_eq!(message.bytes, expected.bytes, "{len}");
        }
    }
}

#[test]
fn flipped_bits_break_nothing_else() {
    let seed = seed();
    let mut rng = fastrand::Rng::with_seed(seed);
    let file = pcap(&conversations(3, 8, 200));
    for _ in 0..200 * instances() {
        let mut file = file.clone();
        for _ in 0..rng.usize(1..20) {
            let at = rng.usize(..file.len());
            file[at] ^= 1 << rng.u8(..8);
        }
        // It ends, and what it shows can be explained.
        for message in read(&file).messages {
            message.explain(&Default::default()).unwrap();
        }
    }
}

/// A connection may make others wait for bytes that never come; what waits is limited.
#[test]
fn what_waits_is_limited() {
    let mut segments = conversations(1, 1, 1448);
    let gap = segments[0].clone();
    for index in 0..10_000u32 {
        segments.push(Segment {
            sequence: gap.sequence.wrapping_add(1_000_000 + index * 1000),
            flags: 0x10,
            data: vec![0; 1000],
            ..gap.clone()
        });
    }
    let file = pcap(&segments);
    let shown = read(&file);
    // The first hole is given up long before the end.
    let last = shown.summary.packets.last.unwrap();
    let lost = shown
        .findings
        .iter()
        .find(|finding| matches!(finding.what, What::Lost { .. }));
    assert!(last.since(lost.unwrap().time) > 4_000_000_000);
}
