use klamm_explain::{Direction, Limits, Options, Severity, apis, decode, json, smallest_frame};
use klamm_protocol::messages::sasl_authenticate::SaslAuthenticateRequest;
use klamm_protocol::{ApiKey, ApiVersion, Bytes, frame};

use crate::support::{assert_tiles, seed, subjects};

fn explain(frame: Bytes, api: ApiVersion, direction: Direction) -> klamm_explain::Tree {
    match direction {
        Direction::Request => decode::request(frame, &Options::default()),
        Direction::Response => decode::response(frame, api, &Options::default()),
    }
}

#[test]
fn frames_cut_at_every_byte_show_what_is_there() {
    for key in apis() {
        let version = key.coded_versions().max;
        let api = ApiVersion { key, version };
        for direction in Direction::BOTH {
            let frame = smallest_frame(api, direction).unwrap();
            for len in 0..frame.len() {
                let place = format!("{api} {} cut at {len}", direction.name());
                let tree = explain(frame.slice(..len), api, direction);
                assert_tiles(&tree, &place);
                assert!(!tree.is_sound(), "{place}");
                assert!(
                    tree.problems.iter().all(|p| p.offset <= len),
                    "{place}: {:?}",
                    tree.problems
                );
            }
        }
    }
}

#[test]
fn changed_frames_never_panic() {
    let seed = seed();
    let mut rng = fastrand::Rng::with_seed(seed);
    for subject in subjects() {
        for version in subject.codec.versions.iter() {
            let (_, bytes) = subject.random(version, &mut rng);
            for _ in 0..4 {
                let mut bytes = bytes.to_vec();
                for _ in 0..=rng.usize(..3) {
                    if let Some(byte) = rng.choice(&mut bytes) {
                        *byte = rng.u8(..);
                    }
                }
                let cut = rng.usize(..=bytes.len());
                bytes.truncate(cut.max(bytes.len() / 2));
                let place = format!("{} v{version}, KLAMM_SEED={seed}", subject.codec.name);
                let tree =
                    decode::message(bytes.into(), subject.schema, version, &Options::default());
                assert_tiles(&tree, &place);
            }
        }
    }
}

#[test]
fn random_bytes_never_panic() {
    let seed = seed();
    let mut rng = fastrand::Rng::with_seed(seed);
    for round in 0..2_000 {
        let mut bytes: Vec<u8> = (0..rng.usize(..200)).map(|_| rng.u8(..)).collect();
        if let Some(key) = bytes.get_mut(4..6) {
            key.copy_from_slice(&rng.i16(0..95).to_be_bytes());
        }
        if let Some(version) = bytes.get_mut(6..8) {
            version.copy_from_slice(&rng.i16(0..15).to_be_bytes());
        }
        let bytes = Bytes::from(bytes);
        let place = format!("round {round}, KLAMM_SEED={seed}");
        assert_tiles(&decode::request(bytes.clone(), &Options::default()), &place);
        let records = decode::records(
            bytes,
            klamm_explain::Contents::Metadata,
            &Options::default(),
        );
        assert_tiles(&records, &place);
    }
}

#[test]
fn limits_end_the_tree_and_the_rest_is_one_node() {
    let api = ApiVersion {
        key: ApiKey::METADATA,
        version: 13,
    };
    let frame = smallest_frame(api, Direction::Response).unwrap();
    let full = explain(frame.clone(), api, Direction::Response);
    let mut needed = 0;
    full.root.visit(0, &mut |_, _| needed += 1);
    for nodes in 0..needed {
        let options = Options {
            limits: Limits {
                nodes,
                ..Limits::default()
            },
            ..Options::default()
        };
        let tree = decode::response(frame.clone(), api, &options);
        assert_tiles(&tree, &format!("{nodes} nodes"));
        let mut count = 0;
        tree.root.visit(0, &mut |_, _| count += 1);
        // The root and the rest are not counted.
        assert!(count <= nodes + 2, "{count} of {nodes}");
        if nodes + 1 < needed {
            let problem = tree.problems.last().unwrap();
            assert_eq!(problem.severity, Severity::Stopped);
            assert!(problem.what.contains("limit"), "{problem}");
        }
    }
}

#[test]
fn a_count_that_cannot_be_is_named() {
    // ElectLeaders v0 with 2^31 - 1 topics.
    let mut frame = vec![0, 0, 0, 15, 0, 43, 0, 0, 0, 0, 0, 7, 0xff, 0xff];
    frame.extend([0x7f, 0xff, 0xff, 0xff, 0]);
    let tree = decode::request(frame.into(), &Options::default());
    assert_tiles(&tree, "count");
    let texts: Vec<String> = tree.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        ["byte 18, TopicPartitions[0].Topic: needs 2 bytes, 1 byte is left"]
    );
    assert_eq!(tree.subject.correlation_id, Some(7));
}

#[test]
fn what_no_schema_knows_is_named() {
    let request = |key: i16, version: i16| {
        let mut frame = vec![0, 0, 0, 12];
        frame.extend(key.to_be_bytes());
        frame.extend(version.to_be_bytes());
        frame.extend([0, 0, 0, 1, 0, 0, 0, 9]);
        let tree = decode::request(frame.into(), &Options::default());
        assert_tiles(&tree, "unknown");
        tree.problems[0].to_string()
    };
    assert_eq!(request(999, 0), "byte 4: there is no API with key 999");
    assert_eq!(
        request(43, 7),
        "byte 4: ElectLeaders (43) has versions 0-2, not 7"
    );
    assert_eq!(
        request(4, 0),
        "byte 4: LeaderAndIsr (4) has no version any more"
    );
}

/// What is shown of many bytes is written piece by piece: in memory is not more than the bytes.
#[test]
fn json_of_many_bytes_comes_in_small_pieces() {
    struct Pieces(usize);
    impl std::fmt::Write for Pieces {
        fn write_str(&mut self, piece: &str) -> std::fmt::Result {
            assert!(piece.len() <= 16 << 10, "a piece has {} bytes", piece.len());
            self.0 += piece.len();
            Ok(())
        }
    }
    const LEN: usize = 1 << 20;
    let garbage = Bytes::from(vec![0xff; LEN]);
    // A token of SASL, and a field that is shown.
    let token = decode::token(garbage.clone(), Direction::Request, &Options::default());
    let shows = Options {
        show_secrets: true,
        ..Options::default()
    };
    let request = SaslAuthenticateRequest {
        auth_bytes: garbage.clone(),
        ..Default::default()
    };
    let request = frame::encode_request(1, None, 2, &request).unwrap();
    for tree in [
        decode::request(garbage, &Options::default()),
        token,
        decode::request(request.into_bytes(), &shows),
    ] {
        let mut pieces = Pieces(0);
        std::fmt::Write::write_fmt(&mut pieces, format_args!("{}", json::decoded(&tree, None)))
            .unwrap();
        assert!(pieces.0 > 2 * LEN);
    }
}
