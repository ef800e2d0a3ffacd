//! A connection to a controller, and what goes over it in a form to compare and to read.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use klamm_explain::{Options, decode, json};
use klamm_protocol::data::clients::DefaultPrincipalData;
use klamm_protocol::messages::envelope::EnvelopeRequest;
use klamm_protocol::{EncodeError, Request, SmallString, encode, frame};
use serde_json::Value;

/// Above the longest wait for any answer, on a busy machine too.
const READ_DEADLINE: Duration = Duration::from_secs(120);
/// Bytes of the length that a frame begins with.
const LENGTH: usize = 4;

/// A connection on which one request waits for the answer to the one before.
pub(crate) struct Wire {
    address: String,
    stream: TcpStream,
    client: SmallString,
}

/// A request and its answer, for people and to be compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) api: &'static str,
    pub(crate) version: i16,
    pub(crate) principal: Option<&'static str>,
    pub(crate) request: Value,
    pub(crate) response: Value,
}

impl Wire {
    pub(crate) fn connect(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            stream: open(address),
            client: "twin".into(),
        }
    }

    /// Asks, and gives the answer, or none where the connection was closed.
    pub(crate) fn ask<R: Request>(
        &mut self,
        version: i16,
        request: &R,
    ) -> Result<Option<R::Response>, EncodeError> {
        let bytes = self.frame(version, request)?;
        let answer = self.exchange(&bytes);
        Ok(answer.map(|answer| decoded::<R>(&answer, version)))
    }

    /// Asks as whoever the connection is of, and explains what was said.
    pub(crate) fn call<R: Request>(
        &mut self,
        version: i16,
        request: &R,
    ) -> Result<Said, EncodeError> {
        let bytes = self.frame(version, request)?;
        let answer = self.exchange(&bytes);
        Ok(said::<R>(version, &bytes, answer.as_ref()))
    }

    /// Asks as a broker does for a client of its own, and explains what was said.
    pub(crate) fn forward<R: Request>(
        &mut self,
        version: i16,
        request: &R,
        principal: &'static str,
    ) -> Result<Said, EncodeError> {
        let bytes = self.frame(version, request)?;
        let data = DefaultPrincipalData {
            r#type: "User".into(),
            name: principal.into(),
            ..Default::default()
        };
        let mut whole = BytesMut::new();
        whole.put_i16(0);
        whole.put(encode(&data, 0)?);
        let envelope = EnvelopeRequest {
            request_data: bytes.slice(LENGTH..),
            request_principal: Some(whole.freeze()),
            client_host_address: Bytes::from_static(&[127, 0, 0, 1]),
            ..Default::default()
        };
        let (inner, error) = match self.ask(0, &envelope)? {
            Some(answer) => (answer.response_data, Some(answer.error_code)),
            None => (None, None),
        };
        let mut said = said::<R>(version, &bytes, inner.as_ref());
        if let Some(error) = error.filter(|_| inner.is_none()) {
            said.response = serde_json::json!({ "envelope": error });
        }
        said.principal = Some(principal);
        Ok(said)
    }

    fn frame<R: Request>(&self, version: i16, request: &R) -> Result<Bytes, EncodeError> {
        let frame = frame::encode_request(1, Some(&self.client), version, request)?;
        Ok(frame.into_bytes())
    }

    /// The answer to a frame, or none where the connection was closed; there is a new one then.
    fn exchange(&mut self, bytes: &[u8]) -> Option<Bytes> {
        let answer = self.stream.write_all(bytes).and_then(|()| {
            let mut len = [0; LENGTH];
            self.stream.read_exact(&mut len)?;
            let len = usize::try_from(i32::from_be_bytes(len)).unwrap_or(0);
            let mut frame = vec![0; len];
            self.stream.read_exact(&mut frame)?;
            Ok(frame)
        });
        match answer {
            Ok(answer) => Some(answer.into()),
            Err(error) => {
                let closed = [ErrorKind::UnexpectedEof, ErrorKind::ConnectionReset];
                let is_closed = closed.contains(&error.kind());
                assert!(
                    is_closed,
                    "{}: neither an answer nor an end: {error}",
                    self.address
                );
                self.stream = open(&self.address);
                None
            }
        }
    }
}

fn open(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap_or_else(|e| panic!("{address}: {e}"));
    let set = stream.set_read_timeout(Some(READ_DEADLINE));
    set.and_then(|()| stream.set_nodelay(true))
        .unwrap_or_else(|e| panic!("{address}: {e}"));
    stream
}

/// The answer, all of whose bytes have a meaning.
fn decoded<R: Request>(answer: &Bytes, version: i16) -> R::Response {
    let (_, body) = frame::decode_response::<R>(answer, version)
        .unwrap_or_else(|e| panic!("{} v{version}: {e}", R::NAME));
    assert_eq!(body.left, 0, "{} v{version}", R::NAME);
    body.value
}

fn said<R: Request>(version: i16, request: &Bytes, answer: Option<&Bytes>) -> Said {
    let options = Options::default();
    let response = match answer {
        None => "the connection was closed".into(),
        Some(answer) => {
            decoded::<R>(answer, version);
            let mut whole = BytesMut::with_capacity(LENGTH + answer.len());
            whole.put_u32(u32::try_from(answer.len()).expect("a frame's length is an int32"));
            whole.put_slice(answer);
            let api = R::api_version(version);
            body(&decode::response(whole.freeze(), api, &options))
        }
    };
    Said {
        api: R::NAME,
        version,
        principal: None,
        request: body(&decode::request(request.clone(), &options)),
        response,
    }
}

fn body(tree: &klamm_explain::Tree) -> Value {
    fields(tree, "body")
}

/// What a tree says under a name of its JSON.
pub(crate) fn fields(tree: &klamm_explain::Tree, name: &str) -> Value {
    let text = json::decoded(tree, None).to_string();
    let mut all: Value = serde_json::from_str(&text).expect("JSON is read back");
    all[name].take()
}
