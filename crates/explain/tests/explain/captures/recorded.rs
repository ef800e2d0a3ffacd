//! Captures of real clients and a real broker, which `interop/captures/record` made.

use std::path::Path;

use expect_test::expect_file;
use klamm_explain::{Severity, text};

use super::{Read, read};

pub(super) fn recorded(name: &str) -> Read {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    read(&std::fs::read(folder.join(name)).unwrap())
}

fn assert_known(shown: &Read) {
    assert_eq!(shown.end, Ok(()));
    assert!(shown.summary.is_sound());
    assert_eq!(shown.lost(), 0);
    for message in &shown.messages {
        let tree = message.explain(&Default::default()).unwrap();
        let problems: Vec<_> = tree
            .problems
            .iter()
            .filter(|problem| problem.severity != Severity::Notice)
            .collect();
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(message.fault, None);
    }
}

#[test]
fn the_java_client() {
    let shown = recorded("java.pcap");
    assert_known(&shown);
    let summary = text::summary(&shown.summary, Default::default());
    expect_file!["../../snapshots/capture-java.txt"].assert_eq(&summary);
    let start = shown.summary.packets.first.unwrap();
    let mut lines = text::message_headings(Default::default());
    for message in shown.messages.iter().take(40) {
        lines.push_str(&text::message_line(message, start, Default::default()));
    }
    expect_file!["../../snapshots/capture-java-lines.txt"].assert_eq(&lines);
}

#[test]
fn librdkafka() {
    let shown = recorded("librdkafka.pcap");
    assert_known(&shown);
    let summary = text::summary(&shown.summary, Default::default());
    expect_file!["../../snapshots/capture-librdkafka.txt"].assert_eq(&summary);
}
