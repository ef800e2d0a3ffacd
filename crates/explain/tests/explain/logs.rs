mod recorded;

use expect_test::expect;
use klamm_explain::log::{Batch, Cutter, Entry, Tail};
use klamm_explain::text::{Look, log_entry, log_tail};
use klamm_explain::{Contents, Options, Value, decode, json, smallest_record};
use klamm_protocol::records::{BatchBuilder, BatchOptions, Codec, Compression, NewRecord};
use klamm_protocol::{ApiKey, ApiVersion, Bytes, Offset};

use crate::support::{assert_tiles, seed};

/// A segment with the smallest instance of every record that a topic may have, one a batch.
fn segment(contents: Contents, compression: Compression) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, kind) in contents.record_types().enumerate() {
        let version = kind.value.valid_versions.max;
        let record = smallest_record(kind, version).unwrap();
        let mut builder = BatchBuilder::new(BatchOptions {
            base_offset: Offset(index as i64),
            codec: Codec::new(compression),
            ..BatchOptions::default()
        });
        builder
            .append(&NewRecord {
                key: record.key.as_ref().map(|key| &key.bytes[..]),
                value: Some(&record.value.bytes),
                timestamp: 1_796_069_700_000,
                headers: &[],
            })
            .unwrap();
        bytes.extend_from_slice(builder.finish().unwrap().bytes());
    }
    bytes
}

fn entries(segment: &[u8], contents: Contents) -> (Vec<(Batch, Entry)>, Option<Tail>) {
    let mut cutter = Cutter::default();
    cutter.feed(segment);
    let mut found = Vec::new();
    while let Some(piece) = cutter.next_batch() {
        if let Ok(batch) = Batch::new(piece.bytes, contents, false) {
            let _ = batch.problem();
            let result = batch.entries(&Options::default(), &mut |entry| {
                found.push((batch.clone(), entry));
                Ok::<(), ()>(())
            });
            result.unwrap();
        }
    }
    (found, cutter.finish())
}

#[test]
fn every_record_of_every_topic_is_opened() {
    for compression in [Compression::None, Compression::Zstd] {
        for (contents, topic) in Contents::TOPICS {
            let (found, tail) = entries(&segment(contents, compression), contents);
            assert_eq!(tail, None, "{topic}");
            let kinds: Vec<_> = contents.record_types().map(|kind| kind.name).collect();
            let seen: Vec<_> = found.iter().map(|(_, entry)| entry.kind.as_str()).collect();
            assert_eq!(seen, kinds, "{topic}");
            for (batch, entry) in &found {
                assert!(
                    entry.problems().is_empty(),
                    "{topic}: {:?}",
                    entry.problems()
                );
                assert!(entry.version.is_some(), "{topic}: {}", entry.kind);
                let line: serde_json::Value =
                    serde_json::from_str(&json::log_entry(batch, entry, 0).to_string()).unwrap();
                assert!(line["value"]["fields"].is_object(), "{line}");
            }
        }
    }
}

#[test]
fn a_record_is_a_line() {
    let (found, _) = entries(
        &segment(Contents::Groups, Compression::None),
        Contents::Groups,
    );
    let lines: String = found
        .iter()
        .take(3)
        .map(|(batch, entry)| format!("|{}", log_entry(batch, entry, Look::default())))
        .collect();
    expect![[r#"
        |         0     -1  2026-11-30T20:15:00.000Z  LegacyOffsetCommit v0         group="" topic="" partition=0 offset=0 metadata="" commitTimestamp=0
        |         1     -1  2026-11-30T20:15:00.000Z  OffsetCommit v4               group="" topic="" partition=0 offset=0 leaderEpoch=0 metadata="" commitTimestamp=0
        |         2     -1  2026-11-30T20:15:00.000Z  GroupMetadata v4              group="" protocolType="" generation=0 protocol="" leader="" currentStateTimestamp=0 members=[{memberId="" groupInstanceId="" clientId="" clientHost="" rebalanceTimeout=0 sessionTimeout=0 subscription=empty assignment=empty}]
    "#]].assert_eq(&lines);
    let (batch, entry) = &found[1];
    expect![[r#"
        {"kind":"record","batch_position":61,"record_position":0,"offset":1,"epoch":-1,"timestamp":1796069700000,"time":"2026-11-30T20:15:00.000Z","type":"OffsetCommit","version":4,"control":false,"sequence":null,"key":{"message":"OffsetCommitKey","version":0,"fields":{"group":"","topic":"","partition":0}},"value":{"message":"OffsetCommitValue","version":4,"fields":{"offset":0,"leaderEpoch":0,"metadata":"","commitTimestamp":0}},"headers":[],"problems":[]}
    "#]].assert_eq(&json::log_entry(batch, entry, 61).to_string());
}

#[test]
fn segments_cut_at_every_byte_show_what_is_there() {
    let whole = segment(Contents::Transactions, Compression::None).repeat(2);
    let first = whole.len() / 2;
    for len in 0..=whole.len() {
        let (found, tail) = entries(&whole[..len], Contents::Transactions);
        assert_eq!(
            found.len(),
            usize::from(len >= first) + usize::from(len == whole.len())
        );
        assert_eq!(tail.is_none(), len % first == 0, "{len}");
        if let Some(tail) = tail {
            assert!(
                log_tail(&tail, Look::default()).contains("byte"),
                "{tail:?}"
            );
            if let Tail::Cut { piece, .. } = tail {
                let tree = decode::records(
                    piece.bytes.clone(),
                    Contents::Transactions,
                    &Options::default(),
                );
                assert_tiles(&tree, &format!("cut at {len}"));
                if let Ok(batch) = Batch::new(piece.bytes, Contents::Transactions, true) {
                    let result = batch.entries(&Options::default(), &mut |_| Ok::<(), ()>(()));
                    assert_eq!(result, Ok(None), "cut at {len}");
                }
            }
        }
    }
}

#[test]
fn changed_segments_never_panic() {
    let seed = seed();
    let mut rng = fastrand::Rng::with_seed(seed);
    for (contents, topic) in Contents::TOPICS {
        for compression in [Compression::None, Compression::Gzip] {
            let whole = segment(contents, compression);
            for _ in 0..200 {
                let mut bytes = whole.clone();
                for _ in 0..=rng.usize(..4) {
                    let at = rng.usize(..bytes.len());
                    bytes[at] = rng.u8(..);
                }
                let place = format!("{topic}, KLAMM_SEED={seed}");
                let (found, _) = entries(&bytes, contents);
                for (batch, entry) in &found {
                    log_entry(batch, entry, Look::default());
                    json::log_entry(batch, entry, 0).to_string();
                }
                let tree = decode::records(bytes.into(), contents, &Options::default());
                assert_tiles(&tree, &place);
            }
        }
    }
}

#[test]
fn what_a_consumer_subscribed_to_is_opened() {
    use klamm_protocol::messages::join_group::{JoinGroupRequest, JoinGroupRequestProtocol};
    // Version 0: the topic "t", no user data.
    let metadata = [0, 0, 0, 0, 0, 1, 0, 1, b't', 0xff, 0xff, 0xff, 0xff];
    let request = |protocol_type: &'static str, metadata: &[u8]| {
        let request = JoinGroupRequest {
            protocol_type: protocol_type.into(),
            protocols: vec![JoinGroupRequestProtocol {
                name: "range".into(),
                metadata: Bytes::copy_from_slice(metadata),
                ..Default::default()
            }],
            ..Default::default()
        };
        let frame = klamm_protocol::frame::encode_request(1, None, 5, &request).unwrap();
        let tree = decode::request(frame.into_bytes(), &Options::default());
        assert_tiles(&tree, protocol_type);
        let mut topics = Vec::new();
        tree.root.leaves(&mut |node| {
            if node.ty == "string" && node.name == "[0]" {
                topics.push(node.value.clone());
            }
        });
        (topics, tree.problems)
    };
    assert_eq!(
        request("consumer", &metadata),
        (vec![Value::Text("t".into())], vec![])
    );
    assert_eq!(request("connect", &metadata), (vec![], vec![]));
    let later = [
        &[0, 9],
        &metadata[2..],
        &[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    ]
    .concat();
    let (topics, problems) = request("consumer", &later);
    assert_eq!(topics.len(), 1, "{problems:?}");
    assert_eq!(problems[0].what, "version 9 is read as 3, the latest known");
}

#[test]
fn the_response_inside_of_an_envelope_is_opened_where_its_request_is_known() {
    use klamm_protocol::messages::envelope::{EnvelopeRequest, EnvelopeResponse};
    let api = ApiVersion {
        key: ApiKey::ELECT_LEADERS,
        version: 2,
    };
    let inner = klamm_explain::smallest_frame(api, klamm_explain::Direction::Response).unwrap();
    let response = EnvelopeResponse {
        response_data: Some(inner.slice(4..)),
        ..Default::default()
    };
    let frame = klamm_protocol::frame::encode_response::<EnvelopeRequest>(1, 0, &response)
        .unwrap()
        .into_bytes();
    let envelope = ApiVersion {
        key: ApiKey::ENVELOPE,
        version: 0,
    };
    let tree = decode::response_with(frame.clone(), envelope, Some(api), &Options::default());
    assert_tiles(&tree, "envelope");
    assert!(tree.problems.is_empty(), "{:?}", tree.problems);
    assert!(tree.hidden().is_empty());
    let tree = decode::response(frame, envelope, &Options::default());
    assert_eq!(tree.hidden().len(), 1);
}
