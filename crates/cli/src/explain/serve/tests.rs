//! Clients that are slow, many or greedy. Time is paused: it goes on when nothing else does.

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::*;

const GET: &[u8] = b"GET /errors.html HTTP/1.1\r\nhost: 127.0.0.1:4711\r\n\r\n";

fn server() -> Arc<Server> {
    Arc::new(Server::new(4711, false))
}

/// A client of a server, and the connection that it has there.
fn connect(server: &Arc<Server>) -> (DuplexStream, JoinHandle<()>) {
    let (client, stream) = duplex(1 << 10);
    let server = server.clone();
    let connection = tokio::spawn(async move {
        let (_open, closing) = watch::channel(false);
        http::connection(stream, server, LIMITS, closing).await;
    });
    (client, connection)
}

/// The head of a request that sends so many bytes, and the first of them.
fn post(len: usize) -> String {
    format!(
        "POST /decode.html?part=result HTTP/1.1\r\nhost: 127.0.0.1:4711\r\n\
         content-length: {len}\r\n\r\nx"
    )
}

async fn answer(mut client: DuplexStream) -> String {
    let mut text = String::new();
    client.read_to_string(&mut text).await.unwrap();
    text
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_say_what_it_wants_is_let_go() {
    for said in [&b""[..], b"GET / HT", &GET[..GET.len() - 2]] {
        let (mut client, connection) = connect(&server());
        client.write_all(said).await.unwrap();
        let start = Instant::now();
        connection.await.unwrap();
        assert!(start.elapsed() < LIMITS.connection_time, "{said:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_let_go() {
    let (mut client, connection) = connect(&server());
    client.write_all(GET).await.unwrap();
    connection.await.unwrap();
    assert!(answer(client).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test(start_paused = true)]
async fn bytes_that_do_not_come_are_not_waited_for() {
    let (mut client, connection) = connect(&server());
    client.write_all(post(100).as_bytes()).await.unwrap();
    let text = answer(client).await;
    assert!(text.starts_with("HTTP/1.1 408"), "{text}");
    assert!(text.contains("The bytes did not come in time"), "{text}");
    connection.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn more_bytes_than_the_page_takes_are_refused_before_they_come() {
    let (mut client, connection) = connect(&server());
    client
        .write_all(post((64 << 20) + 1).as_bytes())
        .await
        .unwrap();
    let text = answer(client).await;
    assert!(text.starts_with("HTTP/1.1 413"), "{text}");
    connection.await.unwrap();
}

/// Two inputs are read at a time, and each has so long to come; who waits longer than that for its
/// turn is told so.
#[tokio::test(start_paused = true)]
async fn inputs_that_wait_for_slow_ones_are_told_to_come_again() {
    let server = server();
    let mut slow = Vec::new();
    for _ in 0..4 {
        let (mut client, _) = connect(&server);
        client.write_all(post(100).as_bytes()).await.unwrap();
        slow.push(client);
        sleep(Duration::from_secs(1)).await;
    }
    let (mut client, _) = connect(&server);
    client.write_all(post(1).as_bytes()).await.unwrap();
    let text = answer(client).await;
    assert!(text.starts_with("HTTP/1.1 503"), "{text}");
    for client in slow {
        let text = answer(client).await;
        assert!(text.starts_with("HTTP/1.1 408"), "{text}");
    }
}
