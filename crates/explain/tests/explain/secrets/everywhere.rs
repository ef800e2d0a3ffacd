//! Every secret of every message and version, in every form in which klamm shows it.

use klamm_explain::capture::{self, Capture, Event};
use klamm_explain::html::{Ask, decoded as page};
use klamm_explain::input::Form;
use klamm_explain::log::{Batch, Cutter, Tail};
use klamm_explain::{Contents, Direction, Options, Tree, decode, json, schema, text};
use klamm_protocol::messages::envelope::{EnvelopeRequest, EnvelopeResponse};
use klamm_protocol::records::{BatchBuilder, BatchOptions, Codec, Compression, NewRecord};
use klamm_protocol::{ApiKey, ApiVersion, Bytes, frame};
use klamm_schema::value::{self, StructValue, Value};
use klamm_schema::{Schema, Struct, Type};

use crate::captures::build::{Connection, frame as smallest, pcap};

/// What must not be seen; as long as two rows of a layout, so that one of them has its beginning.
const SECRET: &str = "hunter2-hunter2-hunter2-hunter2-";

/// Messages with their secrets. `Value` is one where the name beside it is a password's.
const MESSAGES: [(&str, &[&str]); 15] = [
    ("AlterConfigsRequest", &["Value"]),
    (
        "AlterUserScramCredentialsRequest",
        &["Salt", "SaltedPassword"],
    ),
    ("CreateDelegationTokenResponse", &["Hmac"]),
    ("CreateTopicsRequest", &["Value"]),
    ("CreateTopicsResponse", &["Value"]),
    ("DescribeConfigsResponse", &["Value"]),
    ("DescribeDelegationTokenResponse", &["Hmac"]),
    ("ExpireDelegationTokenRequest", &["Hmac"]),
    ("IncrementalAlterConfigsRequest", &["Value"]),
    ("RenewDelegationTokenRequest", &["Hmac"]),
    ("SaslAuthenticateRequest", &["AuthBytes"]),
    ("SaslAuthenticateResponse", &["AuthBytes"]),
    ("ConfigRecord", &["Value"]),
    (
        "UserScramCredentialRecord",
        &["Salt", "ServerKey", "StoredKey"],
    ),
    // Without a request nobody knows what is inside.
    ("EnvelopeResponse", &["ResponseData"]),
];

/// A message whose secrets are [`SECRET`], whose arrays have one element, and all else is empty.
fn body(schema: &Schema, version: i16, secrets: &[&str]) -> Bytes {
    let value = structure(schema, &schema.root, secrets);
    value::encode(schema, version, &value).into()
}

fn structure(schema: &Schema, owner: &Struct, secrets: &[&str]) -> StructValue {
    let value = |ty: &Type, name: &str| match ty {
        Type::Bool => Value::Bool(false),
        Type::Float64 => Value::Float(0.0),
        Type::Uuid => Value::Uuid([0; 16]),
        Type::String if secrets.contains(&name) => Value::Text(SECRET.to_owned()),
        Type::String if name == "Name" => Value::Text("ssl.key.password".to_owned()),
        Type::String => Value::Text(String::new()),
        Type::Bytes if secrets.contains(&name) => Value::Bytes(SECRET.into()),
        Type::Bytes | Type::Records => Value::Bytes(Vec::new()),
        Type::Struct(name) => Value::Struct(structure(schema, schema.find(name).unwrap(), secrets)),
        _ => Value::Int(0),
    };
    let fields = owner.fields.iter().map(|field| match &field.ty {
        Type::Array(element) => Value::Array(vec![value(element, &field.name)]),
        ty => value(ty, &field.name),
    });
    StructValue {
        fields: fields.collect(),
        unknown: Vec::new(),
    }
}

/// A frame with this body.
fn framed(api: ApiVersion, direction: Direction, body: &[u8]) -> Bytes {
    let mut whole = smallest(api, direction, 7).to_vec();
    let tree = match direction {
        Direction::Request => decode::request(whole.clone().into(), &Options::default()),
        Direction::Response => decode::response(whole.clone().into(), api, &Options::default()),
    };
    let mut nodes = tree.root.children.iter();
    whole.truncate(nodes.find(|node| node.name == "body").unwrap().offset);
    whole.extend(body);
    let size = whole.len() as u32 - 4;
    whole[..4].copy_from_slice(&size.to_be_bytes());
    whole.into()
}

/// Whether a text has the secret, as it is, as hexadecimal digits or as base64.
fn tells(text: &str) -> bool {
    let text: String = text.split_whitespace().collect();
    ["hunter", "68756e746572", "aHVudGVy"]
        .iter()
        .any(|secret| text.contains(secret))
}

/// Whether the text of a page has it, without what is markup.
fn page_tells(html: &str) -> bool {
    let pieces = html.split('<').map(|piece| piece.split_once('>'));
    let text: String = pieces.flatten().map(|(_, text)| text).collect();
    tells(html) || tells(&text)
}

/// Text and JSON of a tree.
fn tree_tells(tree: &Tree) -> [bool; 2] {
    [
        tells(&text::decoded(tree, Default::default())),
        tells(&json::decoded(tree, None).to_string()),
    ]
}

/// Which of the forms of a tree, and of the bytes as a page, tell.
fn all_tell(bytes: &Bytes, ask: &Ask, tree: &Tree) -> [bool; 3] {
    let [text, json] = tree_tells(tree);
    [text, json, page_tells(&page(bytes.clone(), ask).html)]
}

const SHOW: Options = Options {
    show_secrets: true,
    ..DEFAULT
};
const DEFAULT: Options = Options {
    show_secrets: false,
    limits: klamm_explain::Limits {
        nodes: 10_000,
        problems: 100,
        decompressed_bytes: 1 << 20,
    },
};

/// A frame alone, whole and cut at every byte.
fn check_frame(bytes: &Bytes, api: ApiVersion, direction: Direction, place: &str) {
    let explain = |bytes: Bytes, options: &Options| match direction {
        Direction::Request => decode::request(bytes, options),
        Direction::Response => decode::response(bytes, api, options),
    };
    for (options, is_told) in [(DEFAULT, false), (SHOW, true)] {
        let ask = Ask {
            api: (direction == Direction::Response).then_some(api),
            form: Some(Form::Frames),
            options,
            ..Ask::default()
        };
        let tree = explain(bytes.clone(), &options);
        assert!(tree.is_sound(), "{place}: {:?}", tree.problems);
        assert_eq!(all_tell(bytes, &ask, &tree), [is_told; 3], "{place}");
    }
    for len in 0..bytes.len() {
        let tree = explain(bytes.slice(..len), &DEFAULT);
        assert_eq!(tree_tells(&tree), [false; 2], "{place}, cut at {len}");
    }
}

/// A request and its response in a capture.
fn check_capture(request: &[u8], response: &[u8], place: &str) {
    let mut connection = Connection::open(40_000, [1, 2]);
    connection.send(true, request, 1448);
    connection.send(false, response, 1448);
    let file = Bytes::from(pcap(&connection.close()));
    for (options, is_told) in [(DEFAULT, false), (SHOW, true)] {
        let mut capture = Capture::new(capture::Options {
            keeps_bytes: true,
            ..Default::default()
        });
        let mut told = [false; 2];
        let mut sink = |event| {
            if let Event::Message(message) = event {
                let tree = message.explain(&options).unwrap();
                assert!(tree.is_sound(), "{place}: {:?}", tree.problems);
                told[0] |= tree_tells(&tree)[0];
                told[1] |= tells(&json::captured(&message, &tree).to_string());
            }
        };
        capture.push(&file, &mut sink).unwrap();
        let (summary, _) = capture.finish(true, &mut sink);
        assert_eq!(summary.messages, 2, "{place}");
        let ask = Ask {
            options,
            ..Ask::default()
        };
        let page = page_tells(&page(file.clone(), &ask).html);
        assert_eq!([told[0], told[1], page], [is_told; 3], "{place}, capture");
        let lines = [
            text::summary(&summary, Default::default()),
            json::summary(&summary),
        ];
        assert!(!lines.iter().any(|text| tells(text)), "{place}");
    }
}

#[test]
fn of_requests_and_responses() {
    let mut checked = 0;
    for (name, secrets) in MESSAGES {
        let schema = schema(name).unwrap();
        let Some(key) = schema.api_key.filter(|_| !name.ends_with("Record")) else {
            continue;
        };
        let key = ApiKey(key);
        let direction = if name.ends_with("Request") {
            Direction::Request
        } else {
            Direction::Response
        };
        for version in schema.valid_versions.iter() {
            let api = ApiVersion { key, version };
            if !key.coded_versions().contains(version) {
                continue;
            }
            let body = body(schema, version, secrets);
            // What has no such field in this version has nothing to tell.
            if !tells(&String::from_utf8_lossy(&body)) {
                continue;
            }
            checked += 1;
            let place = format!("{name} v{version}");
            let with = framed(api, direction, &body);
            check_frame(&with, api, direction, &place);
            let [request, response] = Direction::BOTH.map(|other| match other == direction {
                true => with.clone(),
                false => smallest(api, other, 7),
            });
            check_capture(&request, &response, &place);
            if key == ApiKey::ENVELOPE {
                continue;
            }
            // The same as brokers forward it.
            let outer = EnvelopeRequest {
                request_data: request.slice(4..),
                ..Default::default()
            };
            let answer = EnvelopeResponse {
                response_data: Some(response.slice(4..)),
                ..Default::default()
            };
            let outer = frame::encode_request(9, None, 0, &outer).unwrap();
            let answer = frame::encode_response::<EnvelopeRequest>(9, 0, &answer).unwrap();
            let place = format!("{place} in an Envelope");
            check_capture(&outer.into_bytes(), &answer.into_bytes(), &place);
        }
    }
    assert!(checked > 25, "{checked}");
}

fn batch(value: &[u8], compression: Compression) -> Bytes {
    let mut builder = BatchBuilder::new(BatchOptions {
        codec: Codec::new(compression),
        ..BatchOptions::default()
    });
    let record = NewRecord {
        key: None,
        value: Some(value),
        headers: &[],
        timestamp: 0,
    };
    builder.append(&record).unwrap();
    builder.finish().unwrap().into_bytes()
}

/// Lines of text and of JSON for the records of a log, and its trees.
fn log_tells(bytes: &Bytes, options: &Options) -> [bool; 4] {
    let mut cutter = Cutter::default();
    cutter.feed(bytes);
    let mut pieces = Vec::new();
    while let Some(piece) = cutter.next_batch() {
        pieces.push((piece.bytes, false));
    }
    if let Some(Tail::Cut { piece, .. }) = cutter.finish() {
        pieces.push((piece.bytes, true));
    }
    let mut told = [false; 4];
    for (bytes, is_cut) in pieces {
        if let Ok(batch) = Batch::new(bytes.clone(), Contents::Metadata, is_cut) {
            let read = batch.entries(options, &mut |entry| {
                told[0] |= tells(&text::log_entry(&batch, &entry, Default::default()));
                told[1] |= tells(&json::log_entry(&batch, &entry, 0).to_string());
                Ok::<(), ()>(())
            });
            assert!(read.is_ok());
        }
        let tree = decode::records(bytes, Contents::Metadata, options);
        let [text, json] = tree_tells(&tree);
        told[2] |= text;
        told[3] |= json;
    }
    told
}

#[test]
fn of_records_of_the_metadata_log() {
    let mut checked = 0;
    for (name, secrets) in MESSAGES {
        let schema = schema(name).unwrap();
        let Some(code) = schema.api_key.filter(|_| name.ends_with("Record")) else {
            continue;
        };
        for version in schema.valid_versions.iter() {
            checked += 1;
            let mut value = vec![1, code as u8, version as u8];
            value.extend(body(schema, version, secrets));
            for compression in Compression::ALL {
                let bytes = batch(&value, compression);
                let place = format!("{name} v{version}, {compression}");
                for (options, is_told) in [(DEFAULT, false), (SHOW, true)] {
                    assert_eq!(log_tells(&bytes, &options), [is_told; 4], "{place}");
                    let ask = Ask {
                        contents: Some(Contents::Metadata),
                        options,
                        ..Ask::default()
                    };
                    let html = page(bytes.clone(), &ask).html;
                    assert_eq!(page_tells(&html), is_told, "{place}");
                }
                for len in 0..bytes.len() {
                    let cut = bytes.slice(..len);
                    let place = format!("{place}, cut at {len}");
                    assert_eq!(log_tells(&cut, &DEFAULT), [false; 4], "{place}");
                }
            }
        }
    }
    assert!(checked >= 2, "{checked}");
}
