use bytes::Bytes;
use expect_test::{Expect, expect};
use klamm_protocol::messages::metadata::{
    MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataResponseTopic,
};
use klamm_protocol::{SmallString, frame};
use tokio::io::duplex;
use tokio::time::timeout;

use super::*;
use crate::TcpConnector;
use crate::testing::{FakeServer, Reply};

const VERSION: i16 = 12;
const SECOND: Duration = Duration::from_secs(1);

fn address() -> ServerAddress {
    ServerAddress::new("kafka-1", 9092)
}

/// A connection to a scripted server.
fn connected(server: &FakeServer) -> Connection {
    let (near, far) = duplex(64 * 1024);
    tokio::spawn(server.clone().serve(Box::new(far)));
    Connection::on(Box::new(near), address(), ConnectionOptions::default())
}

/// A server that answers Metadata as `reply` says.
fn server(
    reply: impl FnMut(i16, MetadataRequest) -> Reply<MetadataResponse> + Send + 'static,
) -> FakeServer {
    let server = FakeServer::new();
    server.on(reply);
    server
}

/// An answer that is told from others by its controller.
fn answer(controller_id: i32) -> MetadataResponse {
    MetadataResponse {
        controller_id,
        ..Default::default()
    }
}

/// A request that is told from others by its only topic.
fn request(name: &str) -> MetadataRequest {
    let name = Some(SmallString::from(name));
    let topics = Some(vec![MetadataRequestTopic {
        name,
        ..Default::default()
    }]);
    MetadataRequest {
        topics,
        ..Default::default()
    }
}

fn name(request: &MetadataRequest) -> &str {
    request.topics.as_ref().unwrap()[0].name.as_ref().unwrap()
}

async fn call(connection: &Connection, topic: &str, within: Duration) -> Result<i32, NetError> {
    let pause =
        |response: &MetadataResponse| Duration::from_millis(response.throttle_time_ms as u64);
    let deadline = Instant::now() + within;
    let response = connection
        .call(VERSION, &request(topic), deadline, pause)
        .await?;
    Ok(response.controller_id)
}

#[tokio::test(start_paused = true)]
async fn requests_are_sent_before_earlier_ones_are_answered() {
    let (near, far) = duplex(64 * 1024);
    let connection = Connection::on(Box::new(near), address(), ConnectionOptions::default());
    let serving = tokio::spawn(async move {
        let (reads, mut writes) = split(far);
        let mut frames = FrameReader::new(reads, 1_000);
        let first = frames.next().await.unwrap().unwrap();
        let second = frames.next().await.unwrap().unwrap();
        for (bytes, controller) in [(first, 1), (second, 2)] {
            let (header, _) = frame::decode_request::<MetadataRequest>(&bytes).unwrap();
            let segments = frame::encode_response::<MetadataRequest>(
                header.correlation_id,
                VERSION,
                &answer(controller),
            );
            write_segments(&mut writes, &segments.unwrap())
                .await
                .unwrap();
        }
    });
    let (first, second) = tokio::join!(
        call(&connection, "a", SECOND),
        call(&connection, "b", SECOND)
    );
    assert_eq!((first.unwrap(), second.unwrap()), (1, 2));
    serving.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_request_given_up_leaves_the_others_their_answers() {
    let server = server(|_, request| match name(&request) {
        "slow" => Reply::After(2 * SECOND, answer(1)),
        _ => Reply::Answer(answer(2)),
    });
    let connection = connected(&server);
    let error = call(&connection, "slow", SECOND).await.unwrap_err();
    assert!(error.sent);
    expect!["kafka-1:9092: no answer to Metadata (3) version 12 within 1 s; the server may be overloaded"]
        .assert_eq(&error.to_string());
    assert_eq!(connection.in_flight(), 1);
    assert_eq!(call(&connection, "fast", 5 * SECOND).await.unwrap(), 2);
    assert_eq!(connection.in_flight(), 0);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_while_the_server_asks_for_a_pause() {
    let server = server(|_, request| match name(&request) {
        "costly" => Reply::Answer(MetadataResponse {
            throttle_time_ms: 5_000,
            ..answer(1)
        }),
        _ => Reply::Answer(answer(2)),
    });
    let connection = connected(&server);
    assert_eq!(call(&connection, "costly", SECOND).await.unwrap(), 1);

    let start = Instant::now();
    let error = call(&connection, "hasty", SECOND).await.unwrap_err();
    assert!(!error.sent);
    expect!["kafka-1:9092: Metadata (3) version 12 was not sent within 1 s: the server throttles this client for another 4 s"]
        .assert_eq(&error.to_string());
    assert_eq!(call(&connection, "patient", 10 * SECOND).await.unwrap(), 2);
    assert_eq!(start.elapsed().as_secs(), 5);
    // What was given up in the meantime never left.
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn requests_beyond_the_limit_wait_for_their_turn() {
    let server = server(|_, _| Reply::After(SECOND, answer(1)));
    let connection = connected(&server);
    let calls: Vec<_> = (0..MAX_IN_FLIGHT_REQUESTS + 10)
        .map(|_| {
            let connection = connection.clone();
            tokio::spawn(async move { call(&connection, "a", 1_000 * SECOND).await })
        })
        .collect();
    tokio::task::yield_now().await;
    assert!(connection.in_flight() <= MAX_IN_FLIGHT_REQUESTS);
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn large_requests_and_answers_cross_without_blocking_each_other() {
    // More than the stream holds, in both directions at once.
    let long = "x".repeat(30_000);
    let topics: Vec<_> = (0..20)
        .map(|_| MetadataResponseTopic {
            name: Some(long.clone().into()),
            ..Default::default()
        })
        .collect();
    let server = server(move |_, _| {
        Reply::Answer(MetadataResponse {
            topics: topics.clone(),
            ..answer(1)
        })
    });
    let connection = connected(&server);
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let (connection, long) = (connection.clone(), long.clone());
            tokio::spawn(async move { call(&connection, &long, SECOND).await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_handle_closes_the_stream() {
    let (near, far) = duplex(1_000);
    let connection = Connection::on(Box::new(near), address(), ConnectionOptions::default());
    let clone = connection.clone();
    drop(connection);
    let mut frames = FrameReader::new(far, 1_000);
    assert!(
        timeout(SECOND, frames.next()).await.is_err(),
        "a clone keeps it open"
    );
    drop(clone);
    assert_eq!(frames.next().await.unwrap(), None);
}

/// The error of a call that a server answers this way, and that the connection then stays closed.
async fn failure(reply: Reply<MetadataResponse>, expected: Expect) {
    let server = server(move |_, _| reply.clone());
    let connection = connected(&server);
    let (first, second) = tokio::join!(
        call(&connection, "a", SECOND),
        call(&connection, "b", SECOND)
    );
    let (first, second) = (first.unwrap_err(), second.unwrap_err());
    assert!(first.sent);
    expected.assert_eq(&first.to_string());
    assert_eq!(second.to_string(), first.to_string());
    assert!(connection.is_closed());
    let later = call(&connection, "c", SECOND).await.unwrap_err();
    assert!(!later.sent);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes() {
    failure(Reply::Close, expect!["kafka-1:9092: the server closed the connection while Metadata (3) version 12 waited for its answer; look at the server's log"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes_mid_answer() {
    failure(
        Reply::CloseMidAnswer(answer(1)),
        expect!["kafka-1:9092: the server closed the connection in the middle of an answer; look at the server's log"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_mixes_answers_up() {
    failure(Reply::WrongId(answer(1)), expect!["kafka-1:9092: the answer with correlation id 7 came where 0 was due; this may not be a Kafka server, or a proxy mixes answers up: check the address"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_speaks_http() {
    let bytes = Bytes::from_static(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    failure(
        Reply::Raw(bytes),
        expect![[r#"
        kafka-1:9092: this is an HTTP server, not a Kafka server; check the port"#]],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_sends_an_endless_frame() {
    failure(
        Reply::Raw(Bytes::from_static(b"\x7f\xff\xff\xff")),
        expect!["kafka-1:9092: the server sent a frame of 2147483647 bytes, over the limit of 104857600; it may not be a Kafka server: check the address"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_server_whose_answer_is_too_short() {
    failure(
        Reply::Raw(Bytes::from_static(b"\0\0\0\x01\0")),
        expect!["kafka-1:9092: the answer to Metadata (3) version 12 cannot be read: it needs 4 bytes where 1 are left; the server may not be a Kafka server: check the address"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_read_ends_the_connection() {
    // The correlation id is right, and 2^31 - 1 brokers are not there.
    let bytes = Bytes::from_static(b"\0\0\0\x0e\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff\x07");
    failure(Reply::Raw(bytes), expect!["kafka-1:9092: the answer to Metadata (3) version 12 cannot be read: it claims 2147483646 elements of at least 10 bytes where 0 bytes are left; the server may not be a Kafka server: check the address"]).await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_nobody_asked_for_ends_the_connection() {
    let (near, mut far) = duplex(1_000);
    let connection = Connection::on(Box::new(near), address(), ConnectionOptions::default());
    far.write_all(b"\0\0\0\x05hello").await.unwrap();
    while !connection.is_closed() {
        tokio::task::yield_now().await;
    }
    let error = call(&connection, "a", SECOND).await.unwrap_err();
    expect![
        "kafka-1:9092: the server sent 5 bytes that nobody asked for; it may not be a Kafka server: check the address"
    ]
    .assert_eq(&error.to_string());
}

#[tokio::test(start_paused = true)]
async fn what_a_version_cannot_carry_is_not_sent() {
    let server = FakeServer::new();
    let connection = connected(&server);
    let request = MetadataRequest {
        allow_auto_topic_creation: false,
        ..Default::default()
    };
    let deadline = Instant::now() + SECOND;
    let error = connection
        .call(1, &request, deadline, |_| Duration::ZERO)
        .await
        .unwrap_err();
    expect!["kafka-1:9092: Metadata (3) version 1 cannot be sent: version 1 cannot carry a value in MetadataRequest.AllowAutoTopicCreation"].assert_eq(&error.to_string());
    assert!(!error.sent && !connection.is_closed());
}

#[tokio::test]
async fn tcp_reaches_a_server_at_any_of_its_hosts_addresses() {
    let server = server(|_, _| Reply::Answer(answer(3)));
    let port = server.listen().await.port();
    for host in ["127.0.0.1", "localhost"] {
        let address = ServerAddress::new(host, port);
        let connector = TcpConnector::default();
        let deadline = Instant::now() + 10 * SECOND;
        let options = ConnectionOptions::default();
        let connection = Connection::open(&connector, &address, options, deadline)
            .await
            .unwrap();
        assert_eq!(call(&connection, "a", 10 * SECOND).await.unwrap(), 3);
    }
}

#[tokio::test]
async fn tcp_says_when_nobody_listens_and_when_a_name_is_unknown() {
    // A port that was free a moment ago.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let connector = TcpConnector::default();
    let open = async |host: &str| {
        let address = ServerAddress::new(host, port);
        let deadline = Instant::now() + 10 * SECOND;
        Connection::open(&connector, &address, ConnectionOptions::default(), deadline).await
    };
    let error = open("127.0.0.1").await.unwrap_err();
    let text = error.to_string().replace(&port.to_string(), "PORT");
    expect!["127.0.0.1:PORT: connection refused; check the address, and that a Kafka server listens there"].assert_eq(&text);
    let error = open("no-such-host.invalid").await.unwrap_err();
    assert!(matches!(error.cause, Cause::Resolve(_)), "{error}");
}
