use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use fastrand::Rng;
use klamm_suite::is_full;

use crate::Context;
use crate::klamm::{Explained, explain};
use crate::pcap::{Packet, Pcap};

fn rounds() -> u64 {
    if is_full() { 50 } else { 3 }
}

/// Writes a changed capture beside the one it was made of.
fn changed(file: &Path, change: impl FnOnce(&mut Vec<Packet>)) -> PathBuf {
    let mut capture = Pcap::parse(&std::fs::read(file).unwrap());
    change(&mut capture.packets);
    let path = file.with_extension("changed.pcap");
    std::fs::write(&path, capture.bytes()).unwrap();
    path
}

/// How much of a packet that was taken out the others show to have been there: what came after it, or
/// what the other side acknowledges. Nobody can tell that the last bytes of a connection are missing.
fn is_known(gone: &Packet, there: &[Packet]) -> usize {
    let (from, to, start) = gone.key();
    let reaches = there.iter().filter_map(|other| {
        let (other_from, other_to, sequence) = other.key();
        let end = match () {
            () if (other_from, other_to) == (from, to) => {
                sequence.wrapping_add(other.payload().len() as u32)
            }
            () if (other_from, other_to) == (to, from) => other.acknowledges()?,
            () => return None,
        };
        usize::try_from(end.wrapping_sub(start).cast_signed()).ok()
    });
    reaches.max().unwrap_or(0).min(gone.payload().len())
}

/// Packets are taken out; so many bytes are said to be missing.
pub(crate) fn packets_missing(context: &mut Context) {
    for (name, file) in context.captures() {
        for seed in 0..rounds() {
            let mut rng = Rng::with_seed(seed);
            let mut gone = Vec::new();
            let path = changed(&file, |packets| {
                // What is before the first packet of a connection under way is not missing.
                let opened: HashSet<_> = packets
                    .iter()
                    .filter(|packet| packet.is_first())
                    .map(Packet::ports)
                    .collect();
                let may_go = |packet: &Packet| {
                    let has_data = !packet.payload().is_empty() && !packet.is_last();
                    has_data && opened.contains(&packet.ports())
                };
                for _ in 0..1 + seed {
                    let with_data: Vec<usize> = (0..packets.len())
                        .filter(|index| may_go(&packets[*index]))
                        .collect();
                    gone.push(packets.remove(with_data[rng.usize(..with_data.len())]));
                }
            });
            let there = Pcap::parse(&std::fs::read(&path).unwrap()).packets;
            let known = gone
                .iter()
                .flat_map(|packet| packet.numbers().take(is_known(packet, &there)));
            let mut missing: HashSet<_> = known.collect();
            // What was sent again is not missing, if one of them is there.
            for number in there.iter().flat_map(Packet::numbers) {
                missing.remove(&number);
            }
            let bytes = missing.len();
            let explained = explain(&path);
            assert_eq!(
                explained.sum("missing_bytes"),
                bytes as u64,
                "{name}, seed {seed}"
            );
            let lost: u64 = explained
                .findings
                .iter()
                .filter(|finding| finding["finding"] == "lost")
                .map(|finding| finding["bytes"].as_u64().unwrap())
                .sum();
            assert_eq!(lost, bytes as u64, "{name}, seed {seed}");
            assert_eq!(
                explained.status,
                i32::from(bytes > 0),
                "{name}, seed {seed}"
            );
        }
    }
}

/// The same messages are read, whatever the order of packets that are near each other.
pub(crate) fn out_of_order(context: &mut Context) {
    for (name, file) in context.captures() {
        let original = explain(&file);
        for seed in 0..rounds() {
            let mut rng = Rng::with_seed(seed);
            let path = changed(&file, |packets| {
                // Connections begin in order, so that they keep their numbers.
                let mut openings = BTreeMap::new();
                for (index, packet) in packets.iter().enumerate() {
                    let (from, to, _) = packet.key();
                    let ends = (from.min(to), from.max(to));
                    openings.entry(ends).or_insert(index);
                }
                for index in 1..packets.len() {
                    let is_opening = |at: usize| openings.values().any(|opening| *opening == at);
                    if !is_opening(index) && !is_opening(index - 1) && rng.bool() {
                        packets.swap(index, index - 1);
                    }
                }
            });
            same(&original, &explain(&path), &format!("{name}, seed {seed}"));
        }
    }
}

/// As captures of all interfaces have it.
pub(crate) fn twice(context: &mut Context) {
    for (name, file) in context.captures() {
        let path = changed(&file, |packets| {
            *packets = packets
                .iter()
                .flat_map(|packet| [packet.clone(), packet.clone()])
                .collect();
        });
        same(&explain(&file), &explain(&path), name);
    }
}

fn same(original: &Explained, changed: &Explained, what: &str) {
    assert_eq!(
        changed.sum("missing_bytes"),
        0,
        "{what}: {:?}",
        changed.findings
    );
    assert!(original.said() == changed.said(), "{what}: other messages");
    assert_eq!(changed.status, 0, "{what}");
}

/// With the headers and the first bytes alone, every message is still told.
pub(crate) fn snap_length(context: &mut Context) {
    for (name, file) in context.captures() {
        let original = explain(&file);
        let path = changed(&file, |packets| {
            for packet in packets {
                *packet = packet.cut(160);
            }
        });
        let explained = explain(&path);
        assert!(explained.sum("cut_bytes") > 0, "{name}");
        assert_eq!(explained.sum("missing_bytes"), 0, "{name}");
        assert_eq!(explained.capture["is_sound"], true, "{name}");
        assert!(
            explained.messages.len() <= original.messages.len(),
            "{name}"
        );
        assert!(
            explained.messages.len() * 10 >= original.messages.len() * 9,
            "{name}"
        );
    }
}
