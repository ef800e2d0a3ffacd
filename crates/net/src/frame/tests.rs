use std::time::Duration;

use expect_test::expect;
use klamm_protocol::wire::Segments;
use tokio::io::{DuplexStream, duplex};

use super::*;

const LIMIT: usize = 1_000_000;

fn framed(bodies: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for body in bodies {
        bytes.extend_from_slice(&(body.len() as i32).to_be_bytes());
        bytes.extend_from_slice(body);
    }
    bytes
}

/// A reader of a stream that carries these bytes, so many at a time, and then ends.
fn reader(bytes: Vec<u8>, chunk: usize) -> FrameReader<DuplexStream> {
    let (near, mut far) = duplex(chunk);
    tokio::spawn(async move {
        let _ = far.write_all(&bytes).await;
    });
    FrameReader::new(near, LIMIT)
}

#[tokio::test]
async fn frames_come_out_as_they_went_in_whatever_the_chunks() {
    let long = vec![7; 100_000];
    let bodies: &[&[u8]] = &[b"a", b"bcd", &long, b"e", &long[..20_000]];
    for chunk in [1, 3, 4, 5, 1_000, 1 << 20] {
        let mut frames = reader(framed(bodies), chunk);
        for body in bodies {
            assert_eq!(frames.next().await.unwrap().unwrap(), body);
        }
        assert_eq!(frames.next().await.unwrap(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_that_is_given_up_loses_nothing() {
    let (near, mut far) = duplex(1_000);
    let mut frames = FrameReader::new(near, LIMIT);
    let bytes = framed(&[b"hello", b"world"]);
    for byte in &bytes[..8] {
        far.write_all(&[*byte]).await.unwrap();
        let given_up = tokio::time::timeout(Duration::from_millis(1), frames.next()).await;
        assert!(given_up.is_err());
    }
    far.write_all(&bytes[8..]).await.unwrap();
    assert_eq!(frames.next().await.unwrap().unwrap(), "hello");
    assert_eq!(frames.next().await.unwrap().unwrap(), "world");
}

#[tokio::test(start_paused = true)]
async fn a_length_alone_claims_no_memory() {
    let (near, mut far) = duplex(1 << 20);
    let mut frames = FrameReader::new(near, DEFAULT_MAX_FRAME_BYTES);
    far.write_all(&(DEFAULT_MAX_FRAME_BYTES as i32).to_be_bytes())
        .await
        .unwrap();
    for (come, most) in [(0, 16), (10, 16), (100_000, 400)] {
        far.write_all(&vec![0; come]).await.unwrap();
        let waits = tokio::time::timeout(Duration::from_millis(1), frames.next()).await;
        assert!(waits.is_err());
        let capacity = frames.buffer.capacity();
        assert!(capacity <= most * 1024, "{capacity} bytes after {come}");
    }
}

#[tokio::test]
async fn what_is_no_frame_is_named() {
    let mut texts = String::new();
    for bytes in [
        &b"\0\0\0\0"[..],
        b"\xff\xff\xff\xff",
        b"\x7f\xff\xff\xff",
        b"\0\x0f\x42\x41",
        b"HTTP/1.1 400 Bad Request\r\n",
        b"\x15\x03\x03\x00\x02\x02\x28",
        b"\x16\x03\x01\x00\x2a",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\0\0",
        b"\0\0\0\x05hell",
    ] {
        let error = reader(bytes.to_vec(), 64).next().await.unwrap_err();
        texts += &format!("{error}\n");
    }
    expect![[r#"
        the server sent a frame of length 0; it may not be a Kafka server: check the address
        the server sent a frame of length -1; it may not be a Kafka server: check the address
        the server sent a frame of 2147483647 bytes, over the limit of 1000000; it may not be a Kafka server: check the address
        the server sent a frame of 1000001 bytes, over the limit of 1000000; it may not be a Kafka server: check the address
        this is an HTTP server, not a Kafka server; check the port
        this listener speaks TLS, which is not supported yet; use a PLAINTEXT listener's port
        this listener speaks TLS, which is not supported yet; use a PLAINTEXT listener's port
        this is an SSH server, not a Kafka server; check the port
        the server closed the connection in the middle of an answer; look at the server's log
        the server closed the connection in the middle of an answer; look at the server's log
    "#]].assert_eq(&texts);
}

#[tokio::test]
async fn segments_arrive_in_order_through_a_narrow_stream() {
    let parts: Vec<_> = (0..100u8)
        .map(|n| (n, Bytes::from(vec![n; 1_500])))
        .collect();
    let segments = Segments::write(|mut writer| {
        for (n, bytes) in &parts {
            writer.i32((*n).into());
            writer.bytes("part", false, bytes);
        }
        writer
    });
    let segments = segments.unwrap();
    assert!(segments.iter().count() > 2 * MAX_SLICES);
    let expected = segments.clone().into_bytes();

    let (near, mut far) = duplex(333);
    let writing = tokio::spawn(async move {
        let mut near = near;
        write_segments(&mut near, &segments).await
    });
    let mut got = Vec::new();
    far.read_to_end(&mut got).await.unwrap();
    writing.await.unwrap().unwrap();
    assert!(got == expected);
}
