use klamm_explain::{Node, Options, Role, Severity, Tree, Value, decode};
use klamm_protocol::records::{BatchBuilder, BatchOptions, Codec, Compression, NewRecord};
use klamm_protocol::{Bytes, Offset};

use crate::support::assert_tiles;

fn batch(compression: Compression, count: i64) -> Bytes {
    let mut builder = BatchBuilder::new(BatchOptions {
        base_offset: Offset(100),
        codec: Codec::new(compression),
        ..BatchOptions::default()
    });
    for index in 0..count {
        builder
            .append(&NewRecord {
                key: Some(b"key"),
                value: (index != 1).then_some(b"value".as_slice()),
                headers: &[klamm_protocol::records::Header::new("h", b"1")],
                timestamp: 1_700_000_000_000 + index,
            })
            .unwrap();
    }
    builder.finish().unwrap().into_bytes()
}

fn explain(bytes: impl Into<Bytes>) -> Tree {
    let tree = decode::records(
        bytes.into(),
        klamm_explain::Contents::Opaque,
        &Options::default(),
    );
    assert_tiles(&tree, "records");
    tree
}

fn nodes<'a>(tree: &'a Tree, name: &str) -> Vec<&'a Node> {
    let mut found = Vec::new();
    tree.root.visit(0, &mut |_, node| {
        if node.name == name {
            found.push(node);
        }
    });
    found
}

#[test]
fn batches_are_opened_with_every_compression() {
    for compression in Compression::ALL {
        let tree = explain([batch(compression, 3), batch(compression, 1)].concat());
        assert!(
            tree.problems.is_empty(),
            "{compression}: {:?}",
            tree.problems
        );
        let values: Vec<_> = nodes(&tree, "Value")
            .iter()
            .filter(|node| node.len > 2)
            .map(|node| node.value.clone())
            .collect();
        assert_eq!(
            values,
            vec![Value::Bytes(Bytes::from_static(b"value")); 3],
            "{compression}"
        );
        assert_eq!(nodes(&tree, "Crc").len(), 2);
        let mut records = Vec::new();
        tree.root.visit(0, &mut |_, node| {
            if node.ty == "Record" {
                assert_eq!(node.role, Role::Element);
                records.push(node.note.clone().unwrap().into_owned());
            }
        });
        assert_eq!(
            records,
            [
                "offset 100, 2023-11-14T22:13:20.000Z",
                "offset 101, 2023-11-14T22:13:20.001Z",
                "offset 102, 2023-11-14T22:13:20.002Z",
                "offset 100, 2023-11-14T22:13:20.000Z",
            ],
            "{compression}"
        );
        let inside = nodes(&tree, "records")
            .into_iter()
            .filter(|node| node.inside.is_some())
            .count();
        assert_eq!(
            inside,
            if compression == Compression::None {
                0
            } else {
                2
            }
        );
    }
}

#[test]
fn a_batch_cut_off_is_a_notice_and_shows_what_is_there() {
    for compression in [Compression::None, Compression::Zstd] {
        let whole = batch(compression, 2);
        for len in 1..whole.len() {
            let tree = explain([&whole[..], &whole[..len]].concat());
            assert_eq!(tree.problems.len(), 1, "{len}: {:?}", tree.problems);
            assert_eq!(tree.problems[0].severity, Severity::Notice, "{len}");
            assert_eq!(tree.problems[0].offset, whole.len(), "{len}");
        }
    }
}

#[test]
fn every_changed_byte_is_a_problem() {
    for compression in [Compression::None, Compression::Gzip] {
        let whole = batch(compression, 2);
        // Offset and leader epoch are not covered by the checksum.
        for at in (8..12).chain(16..whole.len()) {
            let mut bytes = whole.to_vec();
            bytes[at] ^= 0x41;
            let tree = explain(bytes);
            assert!(!tree.problems.is_empty(), "byte {at}");
        }
    }
}

#[test]
fn decompression_has_a_limit() {
    let mut options = Options::default();
    options.limits.decompressed_bytes = 10;
    let tree = decode::records(
        batch(Compression::Gzip, 2),
        klamm_explain::Contents::Opaque,
        &options,
    );
    assert_tiles(&tree, "limit");
    assert!(
        tree.problems[0].what.contains("limit of 10 bytes"),
        "{}",
        tree.problems[0]
    );
}

#[test]
fn control_records_are_opened() {
    // The marker of a committed transaction: version 0, coordinator epoch 5.
    let record = [0, 0, 0, 8, 0, 0, 0, 1, 12, 0, 0, 0, 0, 0, 5, 0];
    let body = [&[(record.len() * 2) as u8][..], &record].concat();
    let mut header = klamm_protocol::records::BatchHeader::from_bytes(&klamm_explain::EMPTY_BATCH);
    header.batch_length = 49 + body.len() as i32;
    header.attributes = header
        .attributes
        .with_control(true)
        .with_transactional(true);
    header.record_count = 1;
    let mut bytes = [&header.to_bytes()[..], &body].concat();
    let crc = crc32c::crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    let tree = explain(bytes);
    assert!(tree.problems.is_empty(), "{:?}", tree.problems);
    assert_eq!(nodes(&tree, "Key")[0].note.as_deref(), Some("COMMIT"));
    assert_eq!(nodes(&tree, "CoordinatorEpoch")[0].value, Value::Int(5));
}

#[test]
fn messages_of_the_older_formats_are_shown() {
    let message = |magic: u8| {
        let mut rest = vec![magic, 0];
        if magic == 1 {
            rest.extend(1_700_000_000_000i64.to_be_bytes());
        }
        rest.extend((-1i32).to_be_bytes());
        rest.extend(5i32.to_be_bytes());
        rest.extend(b"value");
        let mut bytes = 7i64.to_be_bytes().to_vec();
        bytes.extend((rest.len() as i32 + 4).to_be_bytes());
        bytes.extend(crc32fast::hash(&rest).to_be_bytes());
        bytes.extend(rest);
        bytes
    };
    for magic in [0, 1] {
        let tree = explain(message(magic));
        assert!(tree.problems.is_empty(), "{:?}", tree.problems);
        assert_eq!(nodes(&tree, "Key")[0].value, Value::Null);
        assert_eq!(
            nodes(&tree, "Value")[0].value,
            Value::Bytes(Bytes::from_static(b"value"))
        );
    }
}

#[test]
fn records_of_the_metadata_log_are_opened() {
    // TopicRecord v0: "t", id 1.
    let mut value = vec![1, 2, 0, 2, b't'];
    value.extend(1u128.to_be_bytes());
    value.push(0);
    let mut builder = BatchBuilder::new(BatchOptions::default());
    builder
        .append(&NewRecord {
            value: Some(&value),
            ..NewRecord::default()
        })
        .unwrap();
    let bytes = builder.finish().unwrap().into_bytes();
    let tree = decode::records(
        bytes,
        klamm_explain::Contents::Metadata,
        &Options::default(),
    );
    assert_tiles(&tree, "metadata");
    assert!(tree.problems.is_empty(), "{:?}", tree.problems);
    assert_eq!(nodes(&tree, "Name")[0].value, Value::Text("t".into()));
}
