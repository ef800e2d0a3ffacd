use klamm_explain::{
    Direction, Options, Part, Severity, apis, decode, message_schema, smallest_frame,
};
use klamm_protocol::{ApiVersion, Bytes};

use crate::support::{assert_struct, assert_tiles, instances, seed, subjects};

/// Secrets are shown, so that their values can be compared.
fn options() -> Options {
    Options {
        show_secrets: true,
        ..Options::default()
    }
}

#[test]
fn trees_of_random_messages_cover_them_and_have_their_values() {
    let seed = seed();
    let mut rng = fastrand::Rng::with_seed(seed);
    for subject in subjects() {
        for version in subject.codec.versions.iter() {
            for _ in 0..instances() {
                let (value, bytes) = subject.random(version, &mut rng);
                let place = format!("{} v{version}, KLAMM_SEED={seed}", subject.codec.name);
                // What the codec writes is what is explained.
                let again = subject.codec.transcode(&bytes, version).unwrap();
                assert_eq!(again.bytes, bytes, "{place}");
                let tree = decode::message(bytes, subject.schema, version, &options());
                assert_tiles(&tree, &place);
                assert_struct(
                    subject.schema,
                    version,
                    &subject.schema.root,
                    &tree.root.children,
                    &value,
                    &place,
                );
                // Random bytes are no batches and no requests; all else is sound.
                for problem in &tree.problems {
                    let is_opened = [
                        "Records",
                        "RequestData",
                        "RequestPrincipal",
                        "ClassicMemberMetadata",
                    ]
                    .iter()
                    .any(|field| problem.path.contains(field));
                    assert!(is_opened, "{place}: {problem}");
                }
            }
        }
    }
}

#[test]
fn smallest_frames_are_what_the_codec_writes() {
    let mut count = 0;
    let subjects = subjects();
    for key in apis() {
        for version in key.coded_versions().iter() {
            let api = ApiVersion { key, version };
            for direction in Direction::BOTH {
                let frame = smallest_frame(api, direction).unwrap();
                let place = format!("{api} {}", direction.name());
                let tree = match direction {
                    Direction::Request => decode::request(frame.clone(), &options()),
                    Direction::Response => decode::response(frame.clone(), api, &options()),
                };
                assert_tiles(&tree, &place);
                assert!(tree.problems.is_empty(), "{place}: {:?}", tree.problems);
                assert_eq!(tree.subject.api, Some(api), "{place}");
                assert_eq!(tree.subject.correlation_id, Some(0), "{place}");
                assert_eq!(tree.subject.direction, Some(direction), "{place}");
                let body = tree
                    .root
                    .children
                    .iter()
                    .find(|node| node.name == "body")
                    .unwrap();
                let body = frame.slice(body.offset..body.end());
                let name = &message_schema(key, direction).unwrap().name;
                let codec = subjects
                    .iter()
                    .find(|s| s.codec.name == name)
                    .unwrap()
                    .codec;
                let again = codec.transcode(&body, version).unwrap();
                assert_eq!((again.bytes, again.left), (body, 0), "{place}");
                count += 1;
            }
        }
    }
    assert_eq!(count, 618);
}

#[test]
fn a_body_alone_is_the_same_without_size_and_header() {
    let key = klamm_protocol::ApiKey::ELECT_LEADERS;
    let api = ApiVersion { key, version: 2 };
    let frame = smallest_frame(api, Direction::Response).unwrap();
    let tree = decode::body(frame.slice(9..), api, Direction::Response, &options());
    assert_tiles(&tree, "body");
    assert!(tree.problems.is_empty(), "{:?}", tree.problems);
    assert_eq!(tree.subject.header_version, None);
    assert_eq!(tree.root.part, Part::Body);
}

#[test]
fn a_stream_is_split_into_frames() {
    let key = klamm_protocol::ApiKey::ELECT_LEADERS;
    let frame = smallest_frame(ApiVersion { key, version: 2 }, Direction::Request).unwrap();
    let stream: Bytes = [&frame[..], &frame[..], &frame[..10]].concat().into();
    let frames: Vec<_> = decode::Frames::new(stream).collect();
    let places: Vec<_> = frames.iter().map(|f| (f.offset, f.bytes.len())).collect();
    assert_eq!(places, [(0, 29), (29, 29), (58, 10)]);
    let tree = decode::request(frames[2].bytes.clone(), &options());
    assert_tiles(&tree, "cut");
    assert_eq!(tree.problems[0].severity, Severity::Broken);
    assert_eq!(
        tree.problems[0].what,
        "says that 25 bytes follow, 6 are here"
    );
    let negative = Bytes::from_static(&[0xff; 7]);
    let frames: Vec<_> = decode::Frames::new(negative.clone()).collect();
    assert_eq!(frames.len(), 1);
    assert_tiles(&decode::request(negative, &options()), "negative size");
}

#[test]
fn json_values_are_those_of_the_schema() {
    let mut rng = fastrand::Rng::with_seed(7);
    for subject in subjects() {
        for version in subject.codec.versions.iter() {
            let (value, bytes) = subject.random(version, &mut rng);
            let tree = decode::message(bytes, subject.schema, version, &options());
            let json: serde_json::Value =
                serde_json::from_str(&klamm_explain::json::decoded(&tree, None).to_string())
                    .unwrap();
            let expected = klamm_schema::value::to_json(subject.schema, version, &value);
            assert_eq!(
                json["values"], expected,
                "{} v{version}",
                subject.codec.name
            );
            assert_eq!(json["size"], tree.bytes.len());
        }
    }
}
