use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use expect_test::expect;
use klamm_client::{
    Admin, Bootstrap, ClientConfig, ClientError, DescribeClusterOptions, ServerAddress,
};
use klamm_net::testing::{FakeNetwork, FakeServer, Reply};
use klamm_protocol::messages::api_versions::{ApiVersionsRequest, ApiVersionsResponse};
use tokio::time::Instant;

use crate::support::*;

fn handshake(reply: Reply<ApiVersionsResponse>) -> FakeServer {
    let server = FakeServer::new();
    server.on(move |_version, _request: ApiVersionsRequest| reply.clone());
    server
}

#[tokio::test(start_paused = true)]
async fn one_server_that_works_is_enough() {
    let cluster = Cluster::new(1);
    for _ in 0..20 {
        connect(&cluster.network, "nowhere:1,broker-1:9092,nowhere:2")
            .await
            .unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn the_error_names_each_server_and_what_happened_there() {
    let network = FakeNetwork::new();
    let http = Bytes::from_static(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    network.add(&broker(1), &handshake(Reply::Raw(http)));
    network.add(&broker(2), &handshake(Reply::Close));
    network.add(
        &broker(3),
        &handshake(Reply::Raw(Bytes::from_static(b"\0\0\0\x06garbage"))),
    );
    let list = "broker-1:9092,broker-2:9092,broker-3:9092,[::1]:9092";
    let start = Instant::now();
    let error = connect(&network, list).await.unwrap_err();
    assert!(matches!(&error, ClientError::NoServer { failures } if failures.len() == 4));
    expect![[r#"
        none of the servers could be used:
          broker-1:9092: this is an HTTP server, not a Kafka server; check the port
          broker-2:9092: the server closed the connection while ApiVersions (18) version 0 waited for its answer; check that this is a PLAINTEXT listener of Kafka, and look at the server's log
          broker-3:9092: the answer with correlation id 1734439522 came where 0 was due; this may not be a Kafka server, or a proxy mixes answers up: check the address
          [::1]:9092: connection refused; check the address, and that a Kafka server listens there"#]].assert_eq(&error.to_string());
    // Long before the calls' timeout: nothing is there to wait for.
    assert!(start.elapsed() < SECOND);
}

#[tokio::test(start_paused = true)]
async fn one_server_alone_needs_no_list() {
    let network = FakeNetwork::new();
    let error = connect(&network, "nowhere:9092").await.unwrap_err();
    expect![
        "nowhere:9092: connection refused; check the address, and that a Kafka server listens there"
    ]
    .assert_eq(&error.to_string());
}

#[tokio::test(start_paused = true)]
async fn servers_that_hang_are_given_up_in_time() {
    let network = FakeNetwork::new();
    network.swallow(&broker(1));
    network.add(&broker(2), &handshake(Reply::Silence));
    let start = Instant::now();
    let error = connect(&network, "broker-1:9092,broker-2:9092")
        .await
        .unwrap_err();
    // How long each was waited for last depends on the order, which is up to chance.
    let text = error.to_string();
    for said in [
        "broker-1:9092: no connection within ",
        "broker-2:9092: no answer to ApiVersions (18) version 5 within ",
    ] {
        assert!(text.contains(said), "{text}");
    }
    assert_eq!(start.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn servers_that_hang_cost_a_second_each_and_not_the_timeout() {
    let cluster = Cluster::new(1);
    cluster.network.swallow(&ServerAddress::new("hangs", 1));
    cluster
        .network
        .add(&ServerAddress::new("silent", 2), &handshake(Reply::Silence));
    for _ in 0..20 {
        let start = Instant::now();
        connect(&cluster.network, "hangs:1,silent:2,broker-1:9092")
            .await
            .unwrap();
        assert!(start.elapsed() < 3 * SECOND, "{:?}", start.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_time_that_is_over_before_it_began_still_names_a_server() {
    let network = FakeNetwork::new();
    network.swallow(&broker(1));
    let mut config = ClientConfig::new(Bootstrap::Brokers(vec![broker(1)]));
    config.default_api_timeout = Duration::ZERO;
    let error = Admin::connect_with(config, Arc::new(network))
        .await
        .unwrap_err();
    expect![
        "broker-1:9092: no connection within 0 ms; check the address, the network and firewalls"
    ]
    .assert_eq(&error.to_string());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_comes_up_late_is_found() {
    let cluster = Cluster::new(1);
    let server = cluster.broker(1).clone();
    cluster.network.remove(&broker(1));
    let (network, late) = (cluster.network.clone(), cluster.network.clone());
    tokio::spawn(async move {
        tokio::time::sleep(SECOND / 50).await;
        late.add(&broker(1), &server);
    });
    connect(&network, "broker-1:9092").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn calls_go_on_when_the_bootstrap_server_is_gone() {
    let cluster = Cluster::new(3);
    let admin = cluster.admin().await;
    cluster.network.remove(&broker(1));
    cluster.broker(1).on(
        |_version, _request: klamm_protocol::messages::describe_cluster::DescribeClusterRequest| {
            Reply::Close
        },
    );
    for id in [2, 3] {
        cluster.broker(id).on(|_version, _request: klamm_protocol::messages::describe_cluster::DescribeClusterRequest| {
            Reply::Answer(Default::default())
        });
    }
    admin
        .describe_cluster(DescribeClusterOptions::default())
        .await
        .unwrap();
}
