//! Raw requests over a plain socket, so that nothing of klamm's client stands between a test and what
//! a server answers.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use bytes::Bytes;
use klamm_protocol::{Request, frame};

/// Above the longest wait of any request here.
const READ_DEADLINE: Duration = Duration::from_secs(60);

/// A connection.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    correlation_id: i32,
}

impl Wire {
    /// Connects.
    ///
    /// # Panics
    /// If nobody listens.
    pub fn connect(address: &str) -> Self {
        Self::try_connect(address).unwrap_or_else(|error| panic!("{address}: {error}"))
    }

    /// Connects, if somebody listens.
    ///
    /// # Panics
    /// If the connection cannot be set up otherwise.
    pub fn try_connect(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        let set = stream.set_read_timeout(Some(READ_DEADLINE));
        set.expect("a deadline of some length can be set");
        stream.set_nodelay(true).expect("it is a socket of TCP");
        Ok(Self {
            stream,
            correlation_id: 0,
        })
    }

    /// Sends a request and reads its response, every byte of it.
    ///
    /// # Panics
    /// If that is not the answer to it.
    pub fn call<R: Request>(&mut self, version: i16, request: &R) -> R::Response {
        self.correlation_id += 1;
        let client = "raw".into();
        let id = self.correlation_id;
        let frame = frame::encode_request(id, Some(&client), version, request);
        let frame = frame.expect("the version can carry the request");
        self.send(&frame.into_bytes());
        let answer = self.read().expect("the server closed the connection");
        let (header, body) = frame::decode_response::<R>(&answer, version)
            .unwrap_or_else(|error| panic!("{error} in {answer:?}"));
        assert_eq!(header.correlation_id, id);
        assert_eq!(body.left, 0, "{} bytes are left of {answer:?}", body.left);
        body.value
    }

    /// The bytes of a request with its length, to be spoilt and sent.
    ///
    /// # Panics
    /// If the version cannot carry it.
    pub fn frame<R: Request>(version: i16, request: &R) -> Vec<u8> {
        let frame = frame::encode_request(1, None, version, request);
        let frame = frame.expect("the version can carry the request");
        frame.into_bytes().to_vec()
    }

    /// Sends bytes as they are.
    ///
    /// # Panics
    /// If the connection is closed.
    pub fn send(&mut self, bytes: &[u8]) {
        let sent = self.stream.write_all(bytes);
        sent.expect("the server takes what is sent");
    }

    /// The next frame without its length, or none if the server closes the connection.
    ///
    /// # Panics
    /// If neither comes in time.
    pub fn read(&mut self) -> Option<Bytes> {
        let mut len = [0; 4];
        if let Err(e) = self.stream.read_exact(&mut len) {
            let closed = [ErrorKind::UnexpectedEof, ErrorKind::ConnectionReset];
            assert!(
                closed.contains(&e.kind()),
                "neither an answer nor an end: {e}"
            );
            return None;
        }
        let len = usize::try_from(i32::from_be_bytes(len)).expect("a length is not negative");
        let mut frame = vec![0; len];
        let read = self.stream.read_exact(&mut frame);
        read.expect("a frame is as long as it says");
        Some(frame.into())
    }
}
