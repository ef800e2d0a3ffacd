use klamm_protocol::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, ReassignablePartition, ReassignableTopic,
};
use klamm_protocol::messages::elect_leaders::{ElectLeadersRequest, ElectLeadersResponse};
use klamm_protocol::messages::fetch::FetchRequest;
use klamm_protocol::messages::metadata::{MetadataRequest, MetadataRequestTopic};
use klamm_protocol::wire::TaggedFields;
use klamm_protocol::{Bytes, EncodeError, decode, encode};

#[test]
fn an_election_type_is_not_lost_in_version_0() {
    // UNCLEAN towards a server that only knows preferred elections must not become one.
    let request = ElectLeadersRequest {
        election_type: 1,
        ..Default::default()
    };
    assert_eq!(
        encode(&request, 0),
        Err(EncodeError::FieldNotInVersion {
            field: "ElectLeadersRequest.ElectionType",
            version: 0
        })
    );
    assert!(encode(&request, 1).is_ok());
    let response = ElectLeadersResponse {
        error_code: 31,
        ..Default::default()
    };
    assert!(encode(&response, 0).is_err());
}

#[test]
fn an_ignorable_field_is_dropped_where_a_version_lacks_it() {
    // RackId is ignorable and exists from version 11 on.
    let request = FetchRequest {
        rack_id: "r1".into(),
        ..Default::default()
    };
    let bytes = encode(&request, 10).unwrap();
    assert_eq!(
        decode::<FetchRequest>(&bytes, 10).unwrap().value.rack_id,
        ""
    );
    let bytes = encode(&request, 11).unwrap();
    assert_eq!(
        decode::<FetchRequest>(&bytes, 11).unwrap().value.rack_id,
        "r1"
    );
}

#[test]
fn null_is_refused_in_versions_where_it_is_not_allowed() {
    // A null topic list asks for every topic from version 1 on.
    let all = MetadataRequest {
        topics: None,
        ..Default::default()
    };
    assert_eq!(
        encode(&all, 0),
        Err(EncodeError::Null {
            field: "MetadataRequest.Topics",
            version: 0
        })
    );
    assert_eq!(
        decode::<MetadataRequest>(&encode(&all, 1).unwrap(), 1)
            .unwrap()
            .value
            .topics,
        None
    );
    let unnamed = MetadataRequest {
        topics: Some(vec![MetadataRequestTopic {
            name: None,
            ..Default::default()
        }]),
        ..Default::default()
    };
    assert!(encode(&unnamed, 9).is_err());
    assert!(encode(&unnamed, 10).is_ok());
}

#[test]
fn null_and_empty_stay_apart() {
    let reassignment = |replicas| AlterPartitionReassignmentsRequest {
        topics: vec![ReassignableTopic {
            name: "t".into(),
            partitions: vec![ReassignablePartition {
                replicas,
                ..Default::default()
            }],
            ..Default::default()
        }],
        ..Default::default()
    };
    for replicas in [None, Some(Default::default())] {
        let request = reassignment(replicas);
        let bytes = encode(&request, 0).unwrap();
        assert_eq!(
            decode::<AlterPartitionReassignmentsRequest>(&bytes, 0)
                .unwrap()
                .value,
            request
        );
    }
}

#[test]
fn unknown_tagged_fields_survive_and_are_refused_where_there_are_no_tags() {
    let mut tags = TaggedFields::EMPTY;
    tags.push(3, Bytes::from_static(b"kept"));
    tags.push(9, Bytes::new());
    let request = ElectLeadersRequest {
        unknown_tagged_fields: tags,
        ..Default::default()
    };
    let bytes = encode(&request, 2).unwrap();
    assert_eq!(
        decode::<ElectLeadersRequest>(&bytes, 2).unwrap().value,
        request
    );
    assert_eq!(
        encode(&request, 1),
        Err(EncodeError::FieldNotInVersion {
            field: "ElectLeadersRequest.unknown_tagged_fields",
            version: 1
        })
    );
}

#[test]
fn an_unknown_tag_may_not_be_a_known_one() {
    let mut tags = TaggedFields::EMPTY;
    // Tag 0 of FetchRequest is ClusterId from version 12 on.
    tags.push(0, Bytes::from_static(b"x"));
    let request = FetchRequest {
        unknown_tagged_fields: tags,
        ..Default::default()
    };
    assert_eq!(encode(&request, 12), Err(EncodeError::Tag(0)));
    let mut tags = TaggedFields::EMPTY;
    tags.push(50, Bytes::new());
    tags.push(40, Bytes::new());
    let request = FetchRequest {
        unknown_tagged_fields: tags,
        ..Default::default()
    };
    assert_eq!(encode(&request, 12), Err(EncodeError::Tag(40)));
}

#[test]
fn a_string_over_the_limit_is_refused() {
    let long = MetadataRequest {
        topics: Some(vec![MetadataRequestTopic {
            name: Some("x".repeat(32_768).into()),
            ..Default::default()
        }]),
        ..Default::default()
    };
    for version in [1, 12] {
        let error = encode(&long, version).unwrap_err().to_string();
        assert_eq!(
            error,
            "MetadataRequestTopic.Name is 32768 long, more than the limit of 32767"
        );
    }
}
