//! What a person sees when no cluster answers: no Apache Kafka is needed to find out.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use expect_test::expect;

use crate::Context;
use crate::klamm::klamm;
use crate::wire::same;

/// What both commands say, given a server at an address.
fn shown(address: SocketAddr, timeout: &str) -> String {
    let commands = [
        "elect --election-type preferred --all-topic-partitions",
        "leaders",
    ];
    same(commands.map(|command| {
        klamm(&format!(
            "{command} --bootstrap-server {address} --timeout {timeout}"
        ))
        .shown()
    }))
}

/// The same with a server that treats every connection alike.
fn against(timeout: &str, serve: impl Fn(TcpStream) + Clone + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let serve = serve.clone();
            thread::spawn(move || serve(stream));
        }
    });
    shown(address, timeout)
}

/// Reads what one write of the client sent, all of it: closing with bytes unread resets a connection.
fn read_request(stream: &mut TcpStream) {
    let _ = stream.read(&mut [0; 4096]);
}

pub(crate) fn no_listener(_: &mut Context) {
    // A port that was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    expect![[r#"
        --- errors
        error: the cluster could not be reached
          cause: 127.0.0.1:PORT: connection refused; check the address, and that a Kafka server listens there
        --- exit status 1
    "#]].assert_eq(&shown(address, "2s"));
}

pub(crate) fn closes(_: &mut Context) {
    let text = against("2s", |mut stream| read_request(&mut stream));
    expect![[r#"
        --- errors
        error: the cluster could not be reached
          cause: 127.0.0.1:PORT: the server closed the connection while ApiVersions (18) version 0 waited for its answer; check that this is a PLAINTEXT listener of Kafka, and look at the server's log
        --- exit status 1
    "#]].assert_eq(&text);
}

pub(crate) fn garbage(_: &mut Context) {
    let answered = |bytes: &'static [u8]| {
        against("2s", move |mut stream| {
            read_request(&mut stream);
            let _ = stream.write_all(bytes);
            read_request(&mut stream);
        })
    };
    let http = answered(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    expect![[r#"
        --- errors
        error: the cluster could not be reached
          cause: 127.0.0.1:PORT: this is an HTTP server, not a Kafka server; check the port
        --- exit status 1
    "#]]
    .assert_eq(&http);
    let length_that_no_answer_has = answered(b"\x7f\xff\xff\xff\xde\xad\xbe\xef");
    expect![[r#"
        --- errors
        error: the cluster could not be reached
          cause: 127.0.0.1:PORT: the server sent a frame of 2147483647 bytes, over the limit of 104857600; it may not be a Kafka server: check the address
        --- exit status 1
    "#]].assert_eq(&length_that_no_answer_has);
    let answer_to_another_request = answered(b"\0\0\0\x0a\x11\x22\x33\x44\0\0\0\0\0\0");
    expect![[r#"
        --- errors
        error: the cluster could not be reached
          cause: 127.0.0.1:PORT: the answer with correlation id 287454020 came where 0 was due; this may not be a Kafka server, or a proxy mixes answers up: check the address
        --- exit status 1
    "#]].assert_eq(&answer_to_another_request);
}

pub(crate) fn deadline(_: &mut Context) {
    let start = Instant::now();
    let text = against("1s", |mut stream| {
        // Everything is read, and nothing answered.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    expect![[r#"
        --- errors
        error: the cluster could not be reached
          cause: 127.0.0.1:PORT: no answer to ApiVersions (18) version 5 within TIME; the server may be overloaded, or not a Kafka server
        --- exit status 1
    "#]].assert_eq(&text);
    let took = start.elapsed();
    // Two commands of a second each; a busy machine takes its time to start them.
    assert!(
        took >= Duration::from_secs(2) && took < Duration::from_secs(12),
        "{took:?}"
    );
}
