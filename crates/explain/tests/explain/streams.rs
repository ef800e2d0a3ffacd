use klamm_explain::decode::{self, Stream};
use klamm_explain::text::decoded;
use klamm_explain::{Direction, Options, html, json, smallest_frame};
use klamm_protocol::{ApiKey, ApiVersion, Bytes};

const HANDSHAKE: ApiVersion = ApiVersion {
    key: ApiKey::SASL_HANDSHAKE,
    version: 0,
};
const METADATA: ApiVersion = ApiVersion {
    key: ApiKey::METADATA,
    version: 12,
};

fn token(content: &[u8]) -> Bytes {
    let size = content.len() as u32;
    [&size.to_be_bytes(), content].concat().into()
}

fn titles(stream: Stream) -> Vec<String> {
    stream
        .map(|(_, tree)| {
            assert!(tree.is_sound(), "{:?}", tree.problems);
            let text = decoded(&tree, Default::default());
            text.lines().next().unwrap_or_default().to_owned()
        })
        .collect()
}

/// The same rule as for captures (KIP-43): what follows SaslHandshake v0 is a token until a request
/// comes, and is never shown.
#[test]
fn tokens_follow_the_handshake() {
    let secret = b"\0me\0hunter2";
    let request = |api| smallest_frame(api, Direction::Request).unwrap();
    let frames = [
        request(METADATA),
        request(HANDSHAKE),
        token(secret),
        token(b""),
        token(b"\x60"),
        request(METADATA),
    ];
    let bytes = Bytes::from(frames.concat());
    let titles = titles(Stream::new(bytes.clone(), None, &Options::default()));
    assert!(
        titles[1].starts_with("SaslHandshakeRequest v0"),
        "{titles:?}"
    );
    assert!(titles[2].starts_with("request: 15 bytes"), "{titles:?}");
    assert!(titles[5].starts_with("MetadataRequest v12"), "{titles:?}");
    let mut shown = html::decoded(bytes.clone(), &html::Ask::default()).html;
    for (place, tree) in Stream::new(bytes, None, &Options::default()) {
        shown += &decoded(&tree, Default::default());
        shown += &json::decoded(&tree, Some(place)).to_string();
    }
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(!shown.contains("68756e74"), "{shown}");
    // Without the handshake they are no tokens.
    let tree = decode::request(token(secret), &Options::default());
    assert!(!tree.is_sound());
}

#[test]
fn tokens_follow_the_answer_to_the_handshake() {
    let frames = [
        smallest_frame(HANDSHAKE, Direction::Response).unwrap(),
        token(b"r=nonce,s=salt,i=4096"),
        token(b""),
    ];
    let stream = Stream::new(frames.concat().into(), Some(HANDSHAKE), &Options::default());
    let titles = titles(stream);
    assert!(
        titles[0].starts_with("SaslHandshakeResponse v0"),
        "{titles:?}"
    );
    assert!(titles[1].starts_with("response: 25 bytes"), "{titles:?}");
}

/// A server that does not know the version of ApiVersions answers in version 0 (KIP-511), whether
/// klamm knows it or not.
#[test]
fn answers_to_api_versions_of_a_later_release() {
    let v0 = ApiVersion {
        key: ApiKey::API_VERSIONS,
        version: 0,
    };
    let mut answer = smallest_frame(v0, Direction::Response).unwrap().to_vec();
    answer[8..10].copy_from_slice(&35i16.to_be_bytes());
    let answer = Bytes::from(answer);
    for version in 1..20 {
        let api = ApiVersion { version, ..v0 };
        let options = Options::default();
        for tree in [
            decode::response(answer.clone(), api, &options),
            decode::body(answer.slice(8..), api, Direction::Response, &options),
        ] {
            assert!(tree.is_sound(), "{version}: {:?}", tree.problems);
            assert_eq!(tree.problems.len(), 1, "{version}");
            assert_eq!(tree.subject.api, Some(v0), "{version}");
        }
    }
}
