//! A scripted Kafka server for tests, in memory or on a socket.
//!
//! In memory, with [`FakeNetwork`] as the [`Connector`], tests run on tokio's paused clock: nothing
//! waits in real time, and no deadline passes while bytes are on their way.

use std::collections::HashMap;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use klamm_protocol::messages::api_versions::ApiVersionsRequest;
use klamm_protocol::messages::api_versions::{ApiVersion as Offer, ApiVersionsResponse};
use klamm_protocol::{ApiKey, ApiVersion, ErrorCode, Request, VersionRange, frame};
use tokio::io::{AsyncWriteExt, duplex, split};
use tokio::net::TcpListener;
use tokio::time::sleep;

use crate::{Cause, Connector, FrameReader, ServerAddress, Transport};

/// What a scripted server does with a request.
#[derive(Clone, Debug)]
pub enum Reply<T> {
    /// Answers.
    Answer(T),
    /// Answers in another version than the request's.
    AnswerIn(i16, T),
    /// Answers after a while.
    After(Duration, T),
    /// Answers with another request's correlation id.
    WrongId(T),
    /// Sends a part of the answer and closes.
    CloseMidAnswer(T),
    /// Sends these bytes as they are.
    Raw(Bytes),
    /// Closes the connection.
    Close,
    /// Never answers.
    Silence,
}

/// A server that answers what it was told to. Clones are the same server.
///
/// A request without a handler closes the connection, as Kafka does with one it does not offer.
#[derive(Clone, Default)]
pub struct FakeServer(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    #[expect(
        clippy::type_complexity,
        reason = "a name for it would hide what it is"
    )]
    handlers: HashMap<ApiKey, Box<dyn FnMut(&Bytes) -> Vec<Step> + Send>>,
    requests: Vec<ApiVersion>,
    connections: usize,
}

enum Step {
    Wait(Duration),
    Write(Bytes),
    Close,
    Hang,
}

impl std::fmt::Debug for FakeServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FakeServer")
            .field("requests", &self.state().requests)
            .finish()
    }
}

impl FakeServer {
    /// A server without handlers.
    pub fn new() -> Self {
        Self::default()
    }

    /// A server that answers ApiVersions as Kafka does, offering these versions besides its own.
    pub fn offering(offers: &[(ApiKey, VersionRange)]) -> Self {
        let server = Self::new();
        server.offer(offers, ApiVersionsRequest::STABLE);
        server
    }

    /// Answers ApiVersions as Kafka does, with `own` as the versions of ApiVersions itself.
    pub fn offer(&self, offers: &[(ApiKey, VersionRange)], own: VersionRange) {
        let mut offers = offers.to_vec();
        offers.push((ApiVersionsRequest::KEY, own));
        let api_keys: Vec<Offer> = offers
            .into_iter()
            .map(|(key, versions)| Offer {
                api_key: key.0,
                min_version: versions.min,
                max_version: versions.max,
                ..Default::default()
            })
            .collect();
        let answer = ApiVersionsResponse {
            api_keys,
            ..Default::default()
        };
        self.on_frame(ApiVersionsRequest::KEY, move |frame| {
            let Ok(ApiVersion { version, .. }) = frame::peek_request(frame) else {
                return vec![Step::Close];
            };
            let id = correlation_id(frame);
            if own.contains(version) {
                return steps::<ApiVersionsRequest>(id, version, Reply::Answer(answer.clone()));
            }
            // The body may be of a version that this server cannot read: it answers in version 0.
            let error_code = ErrorCode::UNSUPPORTED_VERSION.0;
            let refusal = ApiVersionsResponse {
                error_code,
                ..answer.clone()
            };
            steps::<ApiVersionsRequest>(id, 0, Reply::Answer(refusal))
        });
    }

    /// Sets what the server does with an API's requests, each with its version.
    pub fn on<R: Request>(
        &self,
        mut handler: impl FnMut(i16, R) -> Reply<R::Response> + Send + 'static,
    ) {
        self.on_frame(R::KEY, move |frame| {
            let (header, decoded) =
                frame::decode_request::<R>(frame).expect("the client's request can be read");
            assert_eq!(decoded.left, 0, "bytes after the request");
            let version = header.request_api_version;
            steps::<R>(
                header.correlation_id,
                version,
                handler(version, decoded.value),
            )
        });
    }

    fn on_frame(&self, key: ApiKey, handler: impl FnMut(&Bytes) -> Vec<Step> + Send + 'static) {
        self.state().handlers.insert(key, Box::new(handler));
    }

    /// The APIs and versions of the requests that came, in order.
    pub fn requests(&self) -> Vec<ApiVersion> {
        self.state().requests.clone()
    }

    /// The versions of an API's requests that came, in order.
    pub fn versions_of(&self, key: ApiKey) -> Vec<i16> {
        let requests = &self.state().requests;
        requests
            .iter()
            .filter(|api| api.key == key)
            .map(|api| api.version)
            .collect()
    }

    /// How many connections were made so far.
    pub fn connections(&self) -> usize {
        self.state().connections
    }

    /// Listens on a free port of 127.0.0.1 for as long as the runtime lives.
    pub async fn listen(&self) -> ServerAddress {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .expect("a free port");
        let port = listener
            .local_addr()
            .expect("a bound socket has an address")
            .port();
        let server = self.clone();
        tokio::spawn(async move {
            while let Ok((stream, _peer)) = listener.accept().await {
                tokio::spawn(server.clone().serve(Box::new(stream)));
            }
        });
        ServerAddress::new("127.0.0.1", port)
    }

    /// Serves one connection until it ends.
    pub async fn serve(self, stream: Box<dyn Transport>) {
        self.state().connections += 1;
        let (reads, mut writes) = split(stream);
        let mut frames = FrameReader::new(reads, crate::DEFAULT_MAX_FRAME_BYTES);
        while let Ok(Some(frame)) = frames.next().await {
            for step in self.steps(&frame) {
                match step {
                    Step::Wait(duration) => sleep(duration).await,
                    Step::Write(bytes) => {
                        if writes.write_all(&bytes).await.is_err() || writes.flush().await.is_err()
                        {
                            return;
                        }
                    }
                    Step::Close => return,
                    Step::Hang => {}
                }
            }
        }
    }

    fn steps(&self, frame: &Bytes) -> Vec<Step> {
        let Ok(api) = frame::peek_request(frame) else {
            return vec![Step::Close];
        };
        let mut state = self.state();
        state.requests.push(api);
        match state.handlers.get_mut(&api.key) {
            Some(handler) => handler(frame),
            None => vec![Step::Close],
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn steps<R: Request>(id: i32, version: i16, reply: Reply<R::Response>) -> Vec<Step> {
    let encode = |id, version, answer: R::Response| {
        let segments = frame::encode_response::<R>(id, version, &answer);
        segments
            .expect("the script's answer fits the version")
            .into_bytes()
    };
    match reply {
        Reply::Answer(answer) => vec![Step::Write(encode(id, version, answer))],
        Reply::AnswerIn(version, answer) => vec![Step::Write(encode(id, version, answer))],
        Reply::After(duration, answer) => {
            vec![
                Step::Wait(duration),
                Step::Write(encode(id, version, answer)),
            ]
        }
        Reply::WrongId(answer) => vec![Step::Write(encode(id.wrapping_add(7), version, answer))],
        Reply::CloseMidAnswer(answer) => {
            let bytes = encode(id, version, answer);
            vec![Step::Write(bytes.slice(..bytes.len() - 1)), Step::Close]
        }
        Reply::Raw(bytes) => vec![Step::Write(bytes)],
        Reply::Close => vec![Step::Close],
        Reply::Silence => vec![Step::Hang],
    }
}

/// The correlation id of a request, whose place is the same in each header version.
fn correlation_id(frame: &Bytes) -> i32 {
    let id = frame.get(4..8).and_then(|bytes| bytes.try_into().ok());
    i32::from_be_bytes(id.expect("a request has a header"))
}

/// Scripted servers by address, all in memory. Nothing listens at any other address.
#[derive(Clone, Debug, Default)]
pub struct FakeNetwork(Arc<Mutex<HashMap<ServerAddress, Listener>>>);

#[derive(Clone, Debug)]
enum Listener {
    Server(FakeServer),
    BlackHole,
}

impl FakeNetwork {
    /// A network without servers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a server at an address.
    pub fn add(&self, address: &ServerAddress, server: &FakeServer) {
        self.listeners()
            .insert(address.clone(), Listener::Server(server.clone()));
    }

    /// Lets connections to an address hang.
    pub fn swallow(&self, address: &ServerAddress) {
        self.listeners()
            .insert(address.clone(), Listener::BlackHole);
    }

    /// Refuses connections to an address from now on.
    pub fn remove(&self, address: &ServerAddress) {
        self.listeners().remove(address);
    }

    fn listeners(&self) -> MutexGuard<'_, HashMap<ServerAddress, Listener>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connector for FakeNetwork {
    fn connect<'a>(
        &'a self,
        server: &'a ServerAddress,
    ) -> Pin<Box<dyn Future<Output = Result<Box<dyn Transport>, Cause>> + Send + 'a>> {
        let listener = self.listeners().get(server).cloned();
        Box::pin(async move {
            match listener {
                None => Err(Cause::Refused),
                Some(Listener::BlackHole) => pending().await,
                Some(Listener::Server(server)) => {
                    let (near, far) = duplex(64 * 1024);
                    tokio::spawn(server.serve(Box::new(far)));
                    Ok(Box::new(near) as Box<dyn Transport>)
                }
            }
        })
    }
}
