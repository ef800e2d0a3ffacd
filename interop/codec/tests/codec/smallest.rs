use bytes::Bytes;
use klamm_java_peer::{json, unhex};
use klamm_protocol::messages::elect_leaders::{
    ElectLeadersRequest, ElectLeadersResponse, PartitionResult, ReplicaElectionResult,
    TopicPartitions,
};
use klamm_protocol::{ApiKey, SmallString, frame};
use klamm_schema::value;

use crate::Context;

pub(crate) fn all(context: &mut Context) {
    let mut count = 0;
    for subject in &context.subjects {
        for version in subject.codec.versions.iter() {
            let args = json!({ "message": subject.codec.name, "version": version });
            let answer = context.java.call("smallest", args).unwrap();
            let java = Bytes::from(unhex(answer.as_str().unwrap()));
            let at = format!("{} version {version}", subject.codec.name);
            let schema = &subject.schema;
            let ours = value::encode(schema, version, &value::smallest(schema, version));
            assert_eq!(java, ours, "{at}");
            let again = subject.codec.transcode(&java, version);
            let again = again.unwrap_or_else(|e| panic!("{at}: {e}"));
            assert_eq!((again.bytes, again.left), (java, 0), "{at}");
            count += 1;
        }
    }
    assert!(count > 0);
    println!("  {count} message versions");
}

pub(crate) fn elect_leaders(context: &mut Context) {
    let request = ElectLeadersRequest {
        topic_partitions: Some(vec![TopicPartitions {
            partitions: [0].into_iter().collect(),
            ..Default::default()
        }]),
        timeout_ms: 0,
        ..Default::default()
    };
    let response = ElectLeadersResponse {
        replica_election_results: vec![ReplicaElectionResult {
            partition_result: vec![PartitionResult {
                error_message: Some("".into()),
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    };
    for (version, request_len, response_len) in [(0, 32, 30), (1, 33, 32), (2, 29, 28)] {
        let empty = SmallString::default();
        let frame = frame::encode_request(0, Some(&empty), version, &request).unwrap();
        let header = ApiKey::ELECT_LEADERS.request_header_version(version);
        let java = java_frame(context, "Request", header, version);
        assert_eq!(without_api(frame.into_bytes()), java, "request {version}");
        assert_eq!(java.len(), request_len, "request {version}");

        let frame = frame::encode_response::<ElectLeadersRequest>(0, version, &response).unwrap();
        let header = ApiKey::ELECT_LEADERS.response_header_version(version);
        let java = java_frame(context, "Response", header, version);
        assert_eq!(frame.into_bytes(), java, "response {version}");
        assert_eq!(java.len(), response_len, "response {version}");
    }
}

/// The size, the smallest header and the smallest body, each by Java.
fn java_frame(context: &mut Context, kind: &str, header: i16, version: i16) -> Vec<u8> {
    let mut smallest = |message: String, version: i16| {
        let args = json!({ "message": message, "version": version });
        unhex(
            context
                .java
                .call("smallest", args)
                .unwrap()
                .as_str()
                .unwrap(),
        )
    };
    let mut content = smallest(format!("{kind}Header"), header);
    content.extend(smallest(format!("ElectLeaders{kind}"), version));
    let mut frame = u32::try_from(content.len()).unwrap().to_be_bytes().to_vec();
    frame.extend(content);
    frame
}

/// Java's smallest header names API 0, version 0.
fn without_api(frame: Bytes) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[4..8].fill(0);
    frame
}
