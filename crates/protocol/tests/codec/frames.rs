use klamm_protocol::messages::api_versions::{ApiVersionsRequest, ApiVersionsResponse};
use klamm_protocol::messages::elect_leaders::{
    ElectLeadersRequest, ElectLeadersResponse, PartitionResult, ReplicaElectionResult,
    TopicPartitions,
};
use klamm_protocol::messages::fetch::FetchRequest;
use klamm_protocol::messages::produce::{PartitionProduceData, ProduceRequest, TopicProduceData};
use klamm_protocol::{ApiKey, Bytes, Request, SmallString, SmallVec, frame};

/// Numbers 0, strings empty, each array one element.
fn smallest_request() -> ElectLeadersRequest {
    ElectLeadersRequest {
        topic_partitions: Some(vec![TopicPartitions {
            partitions: SmallVec::from_slice(&[0]),
            ..Default::default()
        }]),
        timeout_ms: 0,
        ..Default::default()
    }
}

fn smallest_response() -> ElectLeadersResponse {
    let partition = PartitionResult {
        error_message: Some("".into()),
        ..Default::default()
    };
    ElectLeadersResponse {
        replica_election_results: vec![ReplicaElectionResult {
            partition_result: vec![partition],
            ..Default::default()
        }],
        ..Default::default()
    }
}

#[test]
fn the_smallest_elect_leaders_frames_have_their_sizes() {
    let client = Some(SmallString::new());
    let sizes: Vec<(usize, usize)> = (0..=2)
        .map(|version| {
            let request = frame::encode_request(0, client.as_ref(), version, &smallest_request());
            let response =
                frame::encode_response::<ElectLeadersRequest>(0, version, &smallest_response());
            (request.unwrap().len(), response.unwrap().len())
        })
        .collect();
    // Version 2 is that of the reference; version 1 adds an int8 and an int16 to version 0.
    assert_eq!(sizes, [(32, 30), (33, 32), (29, 28)]);
}

#[test]
fn the_smallest_elect_leaders_request_is_these_bytes() {
    let client = Some(SmallString::new());
    let frame = frame::encode_request(0, client.as_ref(), 2, &smallest_request()).unwrap();
    let bytes = frame.into_bytes();
    assert_eq!(
        bytes[..],
        [
            0, 0, 0, 25, // length
            0, 43, 0, 2, 0, 0, 0, 0, 0, 0,
            0, // header: key, version, correlation id, client id, tags
            0, 2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // body
        ]
    );
}

#[test]
fn frames_come_back() {
    for version in 0..=2 {
        let client = Some(SmallString::from_static("klamm"));
        let frame = frame::encode_request(7, client.as_ref(), version, &smallest_request());
        let bytes = frame.unwrap().into_bytes().slice(4..);
        assert_eq!(
            frame::peek_request(&bytes),
            Ok(ElectLeadersRequest::api_version(version)),
        );
        let (header, request) = frame::decode_request::<ElectLeadersRequest>(&bytes).unwrap();
        assert_eq!((header.correlation_id, header.client_id), (7, client));
        assert_eq!((request.value, request.left), (smallest_request(), 0));

        let response =
            frame::encode_response::<ElectLeadersRequest>(-7, version, &smallest_response());
        let bytes = response.unwrap().into_bytes().slice(4..);
        assert_eq!(frame::peek_correlation_id(&bytes), Ok(-7));
        let (header, response) =
            frame::decode_response::<ElectLeadersRequest>(&bytes, version).unwrap();
        assert_eq!(header.correlation_id, -7);
        assert_eq!((response.value, response.left), (smallest_response(), 0));
    }
}

#[test]
fn a_response_to_api_versions_has_the_first_header_in_every_version() {
    for version in ApiKey::API_VERSIONS.coded_versions().iter() {
        let response = ApiVersionsResponse::default();
        let frame = frame::encode_response::<ApiVersionsRequest>(1, version, &response).unwrap();
        let body = klamm_protocol::encode(&response, version).unwrap();
        assert_eq!(frame.into_bytes()[8..], body[..]);
    }
}

#[test]
fn long_records_are_shared_and_not_copied() {
    let records = Bytes::from(vec![7; 10_000]);
    let partition = PartitionProduceData {
        records: Some(records.clone()),
        ..Default::default()
    };
    let request = ProduceRequest {
        topic_data: vec![TopicProduceData {
            name: "t".into(),
            partition_data: vec![partition],
            ..Default::default()
        }],
        ..Default::default()
    };
    let version = 9;
    let segments = frame::encode_request(1, None, version, &request).unwrap();
    assert!(
        segments
            .iter()
            .any(|segment| segment.as_ptr() == records.as_ptr())
    );
    assert_eq!(segments.iter().count(), 3);
    let (_, decoded) =
        frame::decode_request::<ProduceRequest>(&segments.into_bytes().slice(4..)).unwrap();
    assert_eq!(decoded.value, request);
}

#[test]
fn a_version_that_does_not_exist_is_an_error() {
    let error = frame::encode_request(1, None, 3, &FetchRequest::default()).unwrap_err();
    assert_eq!(error.to_string(), "FetchRequest has no version 3");
    let frame = Bytes::from_static(&[0, 43, 0, 3, 0, 0, 0, 0, 0xff, 0xff]);
    let error = frame::decode_request::<ElectLeadersRequest>(&frame).unwrap_err();
    assert_eq!(error.to_string(), "ElectLeadersRequest has no version 3");
}
