//! The frames of real clients, cut and changed.

use std::collections::HashSet;

use klamm_explain::capture::{Kind, Message};
use klamm_explain::{Direction, Options, Tree, decode};
use klamm_protocol::Bytes;

use super::recorded::recorded;
use crate::support::{assert_tiles, seed};

/// A message of each API and version, in each direction.
fn messages() -> Vec<(Message, Bytes)> {
    let mut seen = HashSet::new();
    let mut messages = recorded("java.pcap").messages;
    messages.extend(recorded("librdkafka.pcap").messages);
    messages.retain(|message| seen.insert((message.api, message.kind)));
    assert!(messages.len() > 40, "{} messages", messages.len());
    let bytes = |message: Message| (message.bytes.clone()).map(|bytes| (message, bytes));
    messages.into_iter().filter_map(bytes).collect()
}

fn explain(message: &Message, bytes: Bytes) -> Tree {
    match (message.kind, message.api) {
        (Kind::Message(Direction::Request), _) => decode::request(bytes, &Options::default()),
        (Kind::Message(Direction::Response), Some(api)) => {
            decode::response(bytes, api, &Options::default())
        }
        (Kind::Message(Direction::Response), None) => {
            decode::unmatched_response(bytes, &Options::default())
        }
        (Kind::Token(direction), _) => decode::token(bytes, direction, &Options::default()),
    }
}

#[test]
fn frames_cut_at_every_byte_show_what_is_there() {
    for (message, bytes) in messages() {
        for len in 0..bytes.len() {
            let place = format!("{:?} {:?} cut at {len}", message.api, message.kind);
            let tree = explain(&message, bytes.slice(..len));
            assert_tiles(&tree, &place);
            assert!(!tree.is_sound(), "{place}");
        }
    }
}

#[test]
fn changed_frames_never_panic() {
    let seed = seed();
    let mut rng = fastrand::Rng::with_seed(seed);
    for (message, bytes) in messages() {
        for _ in 0..100 {
            let mut bytes = bytes.to_vec();
            for _ in 0..=rng.usize(..3) {
                let at = rng.usize(..bytes.len());
                bytes[at] ^= 1 << rng.u8(..8);
            }
            let tree = explain(&message, bytes.into());
            let place = format!("{:?} {:?}, KLAMM_SEED={seed}", message.api, message.kind);
            assert_tiles(&tree, &place);
        }
    }
}
