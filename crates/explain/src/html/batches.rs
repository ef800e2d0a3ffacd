use bytes::Bytes;
use klamm_protocol::records::{
    BatchBuilder, BatchOptions, BuildError, Codec, Compression, ControlType, Header, NewRecord,
};
use klamm_protocol::{LeaderEpoch, Offset};

use super::element::Html;
use super::message::whole;
use super::shell::{Section, Shell};
use crate::decode::records;
use crate::{Contents, EMPTY_BATCH, Options};

pub(super) const PATH: &str = "batches.html";

/// 2026-11-29T20:15:00Z.
const TIMESTAMP: i64 = 1_796_069_700_000;

/// The formats of record batches, each with an example.
pub(super) fn page(shell: Shell) -> String {
    let mut content = Html::new();
    let html = &mut content;
    html.leaf("h1", &[], "Record batches");
    html.element("p", &[("class", "lead")], |html| {
        html.prose(
            "What is in a `records` field and in a log segment. Produce and Fetch carry magic 2 \
             only; the older formats are still in logs that were written before.",
        );
    });
    for (id, title, text, bytes) in examples() {
        html.leaf("h2", &[("id", id)], title);
        html.element("p", &[], |html| html.prose(text));
        let tree = records(bytes, Contents::Opaque, &Options::default());
        whole(&tree, title, true, html);
    }
    shell.page(
        Section::Batches,
        "Record batches — Kafka protocol",
        &content,
    )
}

fn examples() -> [(&'static str, &'static str, &'static str, Bytes); 6] {
    [
        (
            "magic-2",
            "Magic 2",
            "A batch with one record, as a log has it. Everything in a record is a varint, or has \
             one as its length.",
            batch(Compression::None),
        ),
        (
            "empty",
            "Without records",
            "61 bytes: what is left of a batch whose records compaction removed, if it has to \
             remember a producer's sequence numbers.",
            Bytes::from_static(&EMPTY_BATCH),
        ),
        (
            "compressed",
            "Compressed",
            "The records are compressed as one, with gzip, snappy, lz4 or zstd; what is before \
             them is not.",
            batch(Compression::Gzip),
        ),
        (
            "control",
            "Control batch",
            "The end of a transaction. Its one record is not for consumers: the key says what it \
             is, here a commit, the value is an EndTxnMarker.",
            control(),
        ),
        (
            "magic-1",
            "Magic 1",
            "A message with a timestamp (KIP-32). There are no batches: messages stand one after \
             the other, or are compressed as the value of another.",
            legacy(1),
        ),
        (
            "magic-0",
            "Magic 0",
            "A message without a timestamp.",
            legacy(0),
        ),
    ]
}

fn batch(compression: Compression) -> Bytes {
    let options = BatchOptions {
        base_offset: Offset(42),
        partition_leader_epoch: LeaderEpoch(3),
        codec: Codec::new(compression),
        ..BatchOptions::default()
    };
    let headers = [Header {
        key: b"trace",
        value: Some(b"7f"),
    }];
    let record = NewRecord {
        timestamp: TIMESTAMP,
        key: Some(b"order-1"),
        value: Some(b"paid"),
        headers: &headers,
    };
    built(options, |builder| builder.append(&record))
}

/// A commit, whose value is an EndTxnMarker of version 0 with coordinator epoch 5.
fn control() -> Bytes {
    let options = BatchOptions {
        base_offset: Offset(43),
        partition_leader_epoch: LeaderEpoch(3),
        producer_id: 1000,
        producer_epoch: 0,
        transactional: true,
        control: true,
        ..BatchOptions::default()
    };
    let value = [0, 0, 0, 0, 0, 5];
    built(options, |builder| {
        builder.append_control(ControlType::Commit, TIMESTAMP, &value)
    })
}

fn built(
    options: BatchOptions,
    append: impl FnOnce(&mut BatchBuilder) -> Result<(), BuildError>,
) -> Bytes {
    let mut builder = BatchBuilder::new(options);
    let batch = append(&mut builder).and_then(|()| builder.finish());
    batch.expect("a small record fits").into_bytes()
}

fn legacy(magic: u8) -> Bytes {
    let mut content = vec![magic, 0];
    if magic == 1 {
        content.extend(TIMESTAMP.to_be_bytes());
    }
    for text in [&b"order-1"[..], b"paid"] {
        content.extend((text.len() as i32).to_be_bytes());
        content.extend(text);
    }
    let crc = crc32fast::hash(&content);
    let size = (content.len() + 4) as i32;
    let mut message = 42i64.to_be_bytes().to_vec();
    message.extend(size.to_be_bytes());
    message.extend(crc.to_be_bytes());
    message.extend(content);
    message.into()
}
