//! Requests that brokers forward for their clients, and who may do what.

use bytes::{BufMut, Bytes, BytesMut};
use klamm_metadata::{Operation, Permission, ResourceType};
use klamm_protocol::data::clients::DefaultPrincipalData;
use klamm_protocol::messages::alter_partition_reassignments::{
    AlterPartitionReassignmentsRequest, ReassignablePartition, ReassignableTopic,
};
use klamm_protocol::messages::broker_heartbeat::BrokerHeartbeatRequest;
use klamm_protocol::messages::create_acls::{AclCreation, CreateAclsRequest};
use klamm_protocol::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest};
use klamm_protocol::messages::envelope::{EnvelopeRequest, EnvelopeResponse};
use klamm_protocol::messages::list_partition_reassignments::{
    ListPartitionReassignmentsRequest, ListPartitionReassignmentsTopics,
};
use klamm_protocol::{ErrorCode, Request, encode, frame};

use crate::support::admin::{preferred, topic};
use crate::support::{Broker, Client, Home};

/// What a broker sends for its client.
pub(crate) fn envelope<R: Request>(user: &str, request: &R) -> EnvelopeRequest {
    let inner = frame::encode_request(7, None, R::STABLE.max, request).expect("a frame");
    let principal = DefaultPrincipalData {
        r#type: "User".into(),
        name: user.into(),
        ..DefaultPrincipalData::default()
    };
    let mut bytes = BytesMut::new();
    bytes.put_i16(0);
    bytes.put(encode(&principal, 0).expect("a principal"));
    EnvelopeRequest {
        request_data: inner.into_bytes().slice(4..),
        request_principal: Some(bytes.freeze()),
        client_host_address: Bytes::from_static(&[10, 0, 0, 1]),
        ..EnvelopeRequest::default()
    }
}

/// What a client of a broker is answered.
async fn answer<R: Request>(client: &Client, user: &str, request: &R) -> R::Response {
    let response: EnvelopeResponse = client.ask(&envelope(user, request)).await;
    assert_eq!(ErrorCode(response.error_code), ErrorCode::NONE);
    let inner = response.response_data.expect("an answer");
    let (header, decoded) = frame::decode_response::<R>(&inner, R::STABLE.max).expect("an answer");
    assert_eq!(header.correlation_id, 7);
    decoded.value
}

#[tokio::test]
async fn a_forwarded_request_is_answered_in_an_envelope() {
    let home = Home::new();
    let controller = home.start().await;
    let _broker = Broker::started(&controller, 1).await;
    let client = controller.connect().await;
    client.create(&topic("orders", &[&[1]])).await;
    let response = answer(&client, "alice", &preferred("orders", 0)).await;
    let result = &response.replica_election_results[0].partition_result[0];
    assert_eq!(ErrorCode(result.error_code), ErrorCode::ELECTION_NOT_NEEDED);
}

#[tokio::test]
async fn what_may_not_be_forwarded_is_refused() {
    let home = Home::new();
    let controller = home.start().await;
    let client = controller.connect().await;
    let error = async |request: &EnvelopeRequest| ErrorCode(client.ask(request).await.error_code);
    let good = envelope("alice", &preferred("orders", 0));
    let heartbeat = envelope("alice", &BrokerHeartbeatRequest::default());
    assert_eq!(error(&heartbeat).await, ErrorCode::INVALID_REQUEST);
    let nested = envelope("alice", &good);
    assert_eq!(error(&nested).await, ErrorCode::INVALID_REQUEST);
    let truncated = EnvelopeRequest {
        request_data: good.request_data.slice(..20),
        ..good.clone()
    };
    assert_eq!(error(&truncated).await, ErrorCode::INVALID_REQUEST);
    let nobody = EnvelopeRequest {
        request_principal: None,
        ..good.clone()
    };
    let code = ErrorCode::PRINCIPAL_DESERIALIZATION_FAILURE;
    assert_eq!(error(&nobody).await, code);
    let elsewhere = EnvelopeRequest {
        client_host_address: Bytes::from_static(&[1, 2, 3]),
        ..good
    };
    assert_eq!(error(&elsewhere).await, ErrorCode::INVALID_REQUEST);
}

#[tokio::test]
async fn the_client_counts_and_not_the_broker() {
    let mut home = Home::new();
    let authorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer";
    home.set("authorizer.class.name", authorizer);
    home.set("super.users", "User:ANONYMOUS;User:admin");
    let controller = home.start().await;
    let _broker = Broker::started(&controller, 1).await;
    let client = controller.connect().await;
    client.create(&topic("orders", &[&[1]])).await;
    let response = answer(&client, "admin", &preferred("orders", 0)).await;
    assert_eq!(response.error_code, 0);
    let response = answer(&client, "alice", &preferred("orders", 0)).await;
    let code = ErrorCode(response.error_code);
    assert_eq!(code, ErrorCode::CLUSTER_AUTHORIZATION_FAILED);
}

#[tokio::test]
async fn who_may_delete_in_the_cluster_may_delete_every_topic() {
    let mut home = Home::new();
    let authorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer";
    home.set("authorizer.class.name", authorizer);
    home.set("super.users", "User:ANONYMOUS");
    let controller = home.start().await;
    let _broker = Broker::started(&controller, 1).await;
    let client = controller.connect().await;
    client.create(&topic("orders", &[&[1]])).await;
    let request = DeleteTopicsRequest {
        topics: vec![DeleteTopicState {
            name: Some("orders".into()),
            ..DeleteTopicState::default()
        }],
        ..DeleteTopicsRequest::default()
    };
    let delete = async || {
        let response = answer(&client, "alice", &request).await;
        ErrorCode(response.responses[0].error_code)
    };
    assert_eq!(delete().await, ErrorCode::TOPIC_AUTHORIZATION_FAILED);
    let allowed = CreateAclsRequest {
        creations: vec![AclCreation {
            resource_type: ResourceType::Cluster.to_wire(),
            resource_name: "kafka-cluster".into(),
            principal: "User:alice".into(),
            host: "*".into(),
            operation: Operation::Delete.to_wire(),
            permission_type: Permission::Allow.to_wire(),
            ..AclCreation::default()
        }],
        ..CreateAclsRequest::default()
    };
    let created = client.ask(&allowed).await;
    assert_eq!(ErrorCode(created.results[0].error_code), ErrorCode::NONE);
    assert_eq!(delete().await, ErrorCode::NONE);
}

#[tokio::test]
async fn brokers_need_to_be_allowed_too() {
    let mut home = Home::new();
    let authorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer";
    home.set("authorizer.class.name", authorizer);
    home.set("super.users", "User:admin");
    let controller = home.start().await;
    let mut broker = Broker::new(&controller, 1, 1).await;
    let denied = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    assert_eq!(ErrorCode(broker.try_register().await.error_code), denied);
    let client = controller.connect().await;
    let forwarded = envelope("admin", &preferred("orders", 0));
    assert_eq!(ErrorCode(client.ask(&forwarded).await.error_code), denied);
    let response = client.ask(&preferred("orders", 0)).await;
    assert_eq!(ErrorCode(response.error_code), denied);
}

#[tokio::test]
async fn a_refusal_names_what_was_asked_for() {
    let mut home = Home::new();
    let authorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer";
    home.set("authorizer.class.name", authorizer);
    let controller = home.start().await;
    let client = controller.connect().await;
    let denied = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    let moved = AlterPartitionReassignmentsRequest {
        topics: vec![ReassignableTopic {
            name: "orders".into(),
            partitions: vec![ReassignablePartition {
                partition_index: 3,
                ..ReassignablePartition::default()
            }],
            ..ReassignableTopic::default()
        }],
        ..AlterPartitionReassignmentsRequest::default()
    };
    let response = client.ask(&moved).await;
    assert_eq!(ErrorCode(response.error_code), denied);
    let partition = &response.responses[0].partitions[0];
    assert_eq!(partition.partition_index, 3);
    assert_eq!(ErrorCode(partition.error_code), denied);

    let listed = ListPartitionReassignmentsRequest {
        topics: Some(vec![ListPartitionReassignmentsTopics {
            name: "orders".into(),
            partition_indexes: [3].into_iter().collect(),
            ..ListPartitionReassignmentsTopics::default()
        }]),
        ..ListPartitionReassignmentsRequest::default()
    };
    let response = client.ask(&listed).await;
    assert_eq!(ErrorCode(response.error_code), denied);
    assert_eq!(response.topics[0].name, "orders");
    assert_eq!(response.topics[0].partitions[0].partition_index, 3);
}
