use klamm_explain::text::decoded;
use klamm_explain::{Direction, Severity};
use klamm_protocol::messages::envelope::{EnvelopeRequest, EnvelopeResponse};
use klamm_protocol::{ApiKey, ApiVersion, frame};

use super::build::{Connection, frame as smallest, latest, pcap};
use super::{Read, read};

fn one(connection: Connection) -> Read {
    read(&pcap(&connection.close()))
}

/// A request of ApiVersions in a version that nobody knows yet, and its answer in version 0 (KIP-511).
#[test]
fn a_version_of_api_versions_that_nobody_knows() {
    let known = ApiKey::API_VERSIONS.coded_versions().max;
    for version in [known, known + 1, known + 4] {
        let mut request = smallest(latest(ApiKey::API_VERSIONS), Direction::Request, 7).to_vec();
        request[6..8].copy_from_slice(&version.to_be_bytes());
        let v0 = ApiVersion {
            key: ApiKey::API_VERSIONS,
            version: 0,
        };
        let mut response = smallest(v0, Direction::Response, 7).to_vec();
        response[8..10].copy_from_slice(&35i16.to_be_bytes());
        let mut connection = Connection::open(40_000, [1, 2]);
        connection.send(true, &request, 1448);
        connection.send(false, &response, 3);
        connection.exchange(latest(ApiKey::METADATA), 8, 1448);
        let shown = one(connection);
        assert_eq!(shown.findings, [], "{version}");
        assert_eq!(shown.messages.len(), 4);
        let answer = &shown.messages[1];
        assert_eq!(answer.errors, [(35, 1)], "{version}");
        assert_eq!(answer.answers, Some(1));
        let tree = answer.explain(&Default::default()).unwrap();
        assert!(tree.is_sound(), "{:?}", tree.problems);
        assert_eq!(tree.problems.len(), 1);
        assert_eq!(tree.problems[0].severity, Severity::Notice);
        assert_eq!(tree.subject.api, Some(v0));
        let text = decoded(&tree, Default::default());
        assert!(text.contains("35 (UNSUPPORTED_VERSION)"), "{text}");
    }
}

/// A server that knows more versions than klamm: what follows its error code is not known, and no
/// fault.
#[test]
fn an_answer_in_a_version_that_nobody_knows() {
    let version = ApiKey::API_VERSIONS.coded_versions().max + 1;
    let mut connection = Connection::open(40_000, [1, 2]);
    let mut request = smallest(latest(ApiKey::API_VERSIONS), Direction::Request, 7).to_vec();
    request[6..8].copy_from_slice(&version.to_be_bytes());
    connection.send(true, &request, 1448);
    connection.send(false, b"\0\0\0\x0c\0\0\0\x07\0\0later!", 1448);
    let shown = one(connection);
    assert_eq!(shown.findings, []);
    let tree = shown.messages[1].explain(&Default::default()).unwrap();
    assert_eq!(tree.problems.len(), 1);
    assert_eq!(tree.problems[0].severity, Severity::Stopped);
}

#[test]
fn what_is_inside_of_an_envelope_is_opened_both_ways() {
    let inner = latest(ApiKey::CREATE_DELEGATION_TOKEN);
    let inside = |direction| smallest(inner, direction, 3).slice(4..);
    let request = EnvelopeRequest {
        request_data: inside(Direction::Request),
        ..Default::default()
    };
    let response = EnvelopeResponse {
        response_data: Some(inside(Direction::Response)),
        ..Default::default()
    };
    let request = frame::encode_request(5, Some(&"me".into()), 0, &request).unwrap();
    let response = frame::encode_response::<EnvelopeRequest>(5, 0, &response).unwrap();
    for step in [1, 7, 1448] {
        let mut connection = Connection::open(40_000, [1, 2]);
        connection.send(true, &request.clone().into_bytes(), step);
        connection.send(false, &response.clone().into_bytes(), step);
        let shown = one(connection);
        assert_eq!(shown.findings, []);
        for message in &shown.messages {
            assert_eq!(message.inner, Some(inner), "{step}");
            let tree = message.explain(&Default::default()).unwrap();
            assert!(tree.is_sound(), "{:?}", tree.problems);
            let direction = message.direction();
            let text = decoded(&tree, Default::default());
            let kind = match direction {
                Direction::Request => "CreateDelegationTokenRequest",
                Direction::Response => "CreateDelegationTokenResponse",
            };
            assert!(text.contains(kind), "{text}");
        }
    }
}
