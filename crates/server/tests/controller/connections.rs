//! What a listener does with connections that behave, and with others.

use klamm_protocol::messages::api_versions::{ApiVersionsRequest, ApiVersionsResponse};
use klamm_protocol::messages::describe_cluster::DescribeClusterRequest;
use klamm_protocol::messages::metadata::MetadataRequest;
use klamm_protocol::{ErrorCode, Request, decode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Client, Controller, Home};

async fn raw(controller: &Controller) -> TcpStream {
    let address = controller.address();
    let stream = TcpStream::connect((address.host(), address.port())).await;
    stream.expect("the controller listens")
}

/// Sends bytes, and reads until the connection is closed.
async fn answer_to(controller: &Controller, bytes: &[u8]) -> Vec<u8> {
    let mut stream = raw(controller).await;
    stream.write_all(bytes).await.expect("sent");
    let mut answer = Vec::new();
    // A reset is as good as an end.
    let _ = stream.read_to_end(&mut answer).await;
    answer
}

#[tokio::test]
async fn it_tells_what_it_serves() {
    let home = Home::new();
    let controller = home.start().await;
    let response = controller
        .connect()
        .await
        .ask(&ApiVersionsRequest::default())
        .await;
    assert_eq!(response.error_code, 0);
    let keys: Vec<i16> = response.api_keys.iter().map(|key| key.api_key).collect();
    assert!(
        keys.contains(&43) && keys.contains(&62) && !keys.contains(&3),
        "{keys:?}"
    );
    let level = |name: &str| {
        let mut levels = response.finalized_features.iter();
        levels
            .find(|level| &*level.name == name)
            .map(|level| level.max_version_level)
    };
    assert_eq!(level("metadata.version"), Some(33));
    assert_eq!(level("kraft.version"), Some(1));
    assert_eq!(level("eligible.leader.replicas.version"), Some(1));
    assert!(response.finalized_features_epoch > 0);
    let supported = &response.supported_features;
    assert!(
        supported
            .iter()
            .any(|range| &*range.name == "kraft.version")
    );
}

#[tokio::test]
async fn a_later_version_of_api_versions_is_answered_in_version_0() {
    let home = Home::new();
    let controller = home.start().await;
    // Length, API 18, version 99, correlation id 7, no client id, no tags.
    let request = [0, 0, 0, 11, 0, 18, 0, 99, 0, 0, 0, 7, 0xff, 0xff, 0];
    let mut stream = raw(&controller).await;
    stream.write_all(&request).await.expect("sent");
    let len = stream.read_i32().await.expect("a length");
    let mut frame = vec![0; usize::try_from(len).expect("a length")];
    stream.read_exact(&mut frame).await.expect("a frame");
    assert_eq!(frame[..4], [0, 0, 0, 7]);
    let body = bytes::Bytes::from(frame).slice(4..);
    let response: ApiVersionsResponse = decode(&body, 0).expect("version 0").value;
    assert_eq!(
        ErrorCode(response.error_code),
        ErrorCode::UNSUPPORTED_VERSION
    );
    let keys: Vec<_> = response
        .api_keys
        .iter()
        .map(|v| (v.api_key, v.max_version))
        .collect();
    assert_eq!(keys, [(18, ApiVersionsRequest::STABLE.max)]);
}

#[tokio::test]
async fn what_is_not_served_closes_the_connection() {
    let home = Home::new();
    let controller = home.start().await;
    let client = controller.connect().await;
    assert!(client.is_refused(13, &MetadataRequest::default()).await);
    for bytes in [
        // A frame of no length, of a negative one, over the limit, and what is no frame at all.
        &[0, 0, 0, 0][..],
        &[0xff, 0, 0, 0],
        &[0x7f, 0xff, 0xff, 0xff],
        b"GET / HTTP/1.1\r\n\r\n",
        // A header without an end; a body without one.
        &[0, 0, 0, 1, 0],
        &[0, 0, 0, 10, 0, 43, 0, 1, 0, 0, 0, 7, 0xff, 0xff],
    ] {
        assert_eq!(answer_to(&controller, bytes).await, b"", "{bytes:?}");
    }
    // Others are served on.
    let response = controller
        .connect()
        .await
        .ask(&ApiVersionsRequest::default())
        .await;
    assert_eq!(response.error_code, 0);
}

#[tokio::test]
async fn idle_connections_are_closed() {
    let mut home = Home::new();
    home.set("connections.max.idle.ms", "1");
    let controller = home.start().await;
    assert_eq!(answer_to(&controller, &[]).await, b"");
}

#[tokio::test]
async fn there_are_no_more_connections_than_allowed() {
    let mut home = Home::new();
    home.set("max.connections", "1");
    let controller = home.start().await;
    let first = controller.connect().await;
    first.ask(&ApiVersionsRequest::default()).await;
    assert_eq!(
        answer_to(&controller, &[]).await,
        b"",
        "the second is closed"
    );
    first.ask(&ApiVersionsRequest::default()).await;
    drop(first);
    crate::support::until("there is room again", async || {
        let client = controller.connect().await;
        !client.is_refused(0, &ApiVersionsRequest::default()).await
    })
    .await;
}

#[tokio::test]
async fn clients_find_the_controllers() {
    let home = Home::new();
    let controller = home.start().await;
    let client: Client = controller.connect().await;
    let request = DescribeClusterRequest {
        endpoint_type: 2,
        include_cluster_authorized_operations: true,
        ..DescribeClusterRequest::default()
    };
    let response = client.ask(&request).await;
    assert_eq!((response.error_code, response.controller_id), (0, 100));
    assert_eq!(&*response.cluster_id, crate::support::CLUSTER);
    let brokers: Vec<_> = response
        .brokers
        .iter()
        .map(|b| (b.broker_id, b.port))
        .collect();
    assert_eq!(brokers, [(100, i32::from(controller.address().port()))]);
    // Create, Alter, Describe, ClusterAction and the configs; nobody forbids anything.
    assert_eq!(
        response.cluster_authorized_operations,
        0b1_1111_1010_0000 & !(1 << 6)
    );
    for (endpoint_type, error) in [
        (1, ErrorCode::MISMATCHED_ENDPOINT_TYPE),
        (3, ErrorCode::UNSUPPORTED_ENDPOINT_TYPE),
    ] {
        let others = DescribeClusterRequest {
            endpoint_type,
            ..request.clone()
        };
        let response = client.ask(&others).await;
        // An error is of no kind of endpoints; the field's default is that of brokers.
        let said = (ErrorCode(response.error_code), response.endpoint_type);
        assert_eq!(said, (error, 1));
    }
    // Version 0 asks for brokers, and knows no error for that.
    let oldest = client.ask_in(0, &DescribeClusterRequest::default()).await;
    assert_eq!(ErrorCode(oldest.error_code), ErrorCode::INVALID_REQUEST);
}

#[tokio::test]
async fn answers_come_in_the_order_of_the_requests() {
    let home = Home::new();
    let controller = home.start().await;
    let client = controller.connect().await;
    // The connection matches answers by their order; one that is out of it would be an error.
    let asks = (0..200).map(|_| {
        let client = client.clone();
        async move { client.ask(&ApiVersionsRequest::default()).await.error_code }
    });
    let mut tasks = tokio::task::JoinSet::new();
    asks.for_each(|ask| drop(tasks.spawn(ask)));
    assert_eq!(tasks.join_all().await, [0; 200]);
}
