use std::collections::VecDeque;
use std::sync::atomic::{AtomicI32, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use klamm_protocol::{ApiVersion, DecodeError, Request, Segments, SmallString, frame};
use tokio::io::{AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use crate::frame::write_segments;
use crate::{
    Cause, Connector, DEFAULT_MAX_FRAME_BYTES, FrameError, FrameReader, NetError, ServerAddress,
    Transport,
};

/// How many requests of one connection wait for their answers at a time; more wait to be sent.
pub const MAX_IN_FLIGHT_REQUESTS: usize = 64;

/// How long the answer of a server that reads no more is waited for.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What a connection needs to know besides the server.
#[derive(Clone, Debug)]
pub struct ConnectionOptions {
    /// The `client.id` in each request.
    pub client_id: Option<SmallString>,
    /// The longest answer that is accepted, in bytes.
    pub max_frame_bytes: usize,
}

impl Default for ConnectionOptions {
    fn default() -> Self {
        Self {
            client_id: None,
            max_frame_bytes: DEFAULT_MAX_FRAME_BYTES,
        }
    }
}

/// A connection to a server: requests are pipelined, and answered in order.
///
/// A task owns the stream. It ends, and the stream is closed, when the last handle is dropped, when
/// the server closes the stream, or when the server breaks the protocol; calls then fail with what
/// happened. A call that gives up at its deadline leaves its place in the order to the answer that
/// may still come, so that the connection stays usable.
#[derive(Clone, Debug)]
pub struct Connection {
    commands: mpsc::UnboundedSender<Command>,
    shared: Arc<Shared>,
}

impl Connection {
    /// Connects to a server, by a deadline.
    pub async fn open(
        connector: &dyn Connector,
        server: &ServerAddress,
        options: ConnectionOptions,
        deadline: Instant,
    ) -> Result<Self, NetError> {
        let start = Instant::now();
        let fail = |cause| NetError {
            server: server.clone(),
            cause,
            sent: false,
        };
        match timeout_at(deadline, connector.connect(server)).await {
            Ok(Ok(stream)) => Ok(Self::on(stream, server.clone(), options)),
            Ok(Err(cause)) => Err(fail(cause)),
            Err(_) => Err(fail(Cause::ConnectTimeout {
                after: start.elapsed(),
            })),
        }
    }

    /// Takes a stream over that is connected to a server. Must be called within a tokio runtime.
    pub fn on(
        stream: Box<dyn Transport>,
        server: ServerAddress,
        options: ConnectionOptions,
    ) -> Self {
        let (commands, queue) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            server,
            options,
            slots: Arc::new(Semaphore::new(MAX_IN_FLIGHT_REQUESTS)),
            next_correlation_id: AtomicI32::new(0),
            pending: Mutex::default(),
            muted_until: Mutex::default(),
            closed: OnceLock::new(),
        });
        tokio::spawn(drive(stream, shared.clone(), queue));
        Self { commands, shared }
    }

    /// The server at the other end.
    pub fn server(&self) -> &ServerAddress {
        &self.shared.server
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.shared.closed.get().is_some()
    }

    /// How many requests wait to be sent or answered, given-up ones included.
    pub fn in_flight(&self) -> usize {
        MAX_IN_FLIGHT_REQUESTS - self.shared.slots.available_permits()
    }

    /// Sends a request and waits for its answer until a deadline.
    ///
    /// `throttle` says for how long the answer asks this client to send nothing (KIP-219).
    pub async fn call<R: Request>(
        &self,
        version: i16,
        request: &R,
        deadline: Instant,
        throttle: impl FnOnce(&R::Response) -> Duration + Send + 'static,
    ) -> Result<R::Response, NetError> {
        let decode = move |bytes: &Bytes| {
            let (_header, decoded) = frame::decode_response::<R>(bytes, version)?;
            // Apache's clients ignore bytes after a body, and so does this one.
            let pause = throttle(&decoded.value);
            Ok((decoded.value, pause))
        };
        self.call_decoding(version, request, deadline, decode).await
    }

    /// Like [`Connection::call`], for answers that are not always in the request's version:
    /// `decode` reads the answer's frame, header included, and says what was asked for in pauses.
    pub async fn call_decoding<R: Request, T: Send + 'static>(
        &self,
        version: i16,
        request: &R,
        deadline: Instant,
        decode: impl FnOnce(&Bytes) -> Result<(T, Duration), DecodeError> + Send + 'static,
    ) -> Result<T, NetError> {
        let api = R::api_version(version);
        let correlation_id = self.shared.next_correlation_id();
        let client_id = self.shared.options.client_id.as_ref();
        let segments = frame::encode_request(correlation_id, client_id, version, request)
            .map_err(|error| self.error(Cause::Encode { api, error }, false))?;
        let (sender, answer) = oneshot::channel();
        let deliver = move |bytes: &Bytes| {
            let (value, outcome) = match decode(bytes) {
                Ok((value, pause)) => (Ok(value), Ok(pause)),
                Err(error) => (Err(error), Err(error)),
            };
            // The caller may have given up.
            let _ = sender.send(value);
            outcome
        };
        let ticket = Ticket::default();
        let pending = Pending {
            correlation_id,
            api,
            deliver: Box::new(deliver),
            _slot: None,
        };
        let command = Command {
            segments,
            pending,
            ticket: ticket.0.clone(),
        };

        let start = Instant::now();
        match timeout_at(deadline, self.submit(command, answer)).await {
            Ok(Some(Ok(value))) => Ok(value),
            Ok(Some(Err(error))) => Err(self.error(Cause::Decode { api, error }, true)),
            Ok(None) => Err(self.closed_error(api, ticket.take_back().is_err())),
            Err(_) => Err(self.timeout_error(api, start, ticket.take_back().is_err())),
        }
    }

    async fn submit<T>(&self, mut command: Command, answer: oneshot::Receiver<T>) -> Option<T> {
        command.pending._slot = Some(self.shared.slots.clone().acquire_owned().await.ok()?);
        self.commands.send(command).ok()?;
        answer.await.ok()
    }

    fn error(&self, cause: Cause, sent: bool) -> NetError {
        NetError {
            server: self.server().clone(),
            cause,
            sent,
        }
    }

    fn closed_error(&self, api: ApiVersion, sent: bool) -> NetError {
        let cause = match self.shared.closed.get() {
            Some(Cause::Closed { .. }) if sent => Cause::Closed {
                waiting_for: Some(api),
            },
            Some(cause) => cause.clone(),
            None => Cause::ClosedHere,
        };
        self.error(cause, sent)
    }

    fn timeout_error(&self, api: ApiVersion, start: Instant, sent: bool) -> NetError {
        let now = Instant::now();
        let after = now - start;
        let cause = match *lock(&self.shared.muted_until) {
            Some(until) if !sent && until > now => Cause::Throttled {
                api,
                after,
                left: until - now,
            },
            _ => Cause::Timeout { api, after },
        };
        self.error(cause, sent)
    }
}

#[derive(Debug)]
struct Shared {
    server: ServerAddress,
    options: ConnectionOptions,
    slots: Arc<Semaphore>,
    next_correlation_id: AtomicI32,
    /// Requests that were sent, in order.
    pending: Mutex<VecDeque<Pending>>,
    muted_until: Mutex<Option<Instant>>,
    closed: OnceLock<Cause>,
}

impl Shared {
    fn next_correlation_id(&self) -> i32 {
        // Kafka's ids wrap around to 0, and so are never negative.
        self.next_correlation_id.fetch_add(1, Ordering::Relaxed) & i32::MAX
    }

    /// Keeps the first reason. It must be there before any waiting call is dropped.
    fn close(&self, cause: Cause) {
        let _ = self.closed.set(cause);
    }
}

struct Command {
    segments: Segments,
    pending: Pending,
    ticket: Arc<AtomicU8>,
}

/// Settles who is first: the caller that gives a request up, or the task that sends it.
#[derive(Default)]
struct Ticket(Arc<AtomicU8>);

const QUEUED: u8 = 0;
const SENT: u8 = 1;
const TAKEN_BACK: u8 = 2;

impl Ticket {
    /// Keeps the request from being sent; an error when it was sent already.
    fn take_back(&self) -> Result<u8, u8> {
        self.0
            .compare_exchange(QUEUED, TAKEN_BACK, Ordering::AcqRel, Ordering::Acquire)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let _ = self.take_back();
    }
}

struct Pending {
    correlation_id: i32,
    api: ApiVersion,
    #[expect(
        clippy::type_complexity,
        reason = "a name for it would hide what it is"
    )]
    /// Hands the answer to the caller, if it still waits, and says how long to send nothing.
    deliver: Box<dyn FnOnce(&Bytes) -> Result<Duration, DecodeError> + Send>,
    _slot: Option<OwnedSemaphorePermit>,
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} with id {}", self.api, self.correlation_id)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds one of these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads and writes at the same time, so that a server that stops reading until its answers are
/// read does not block both sides for good.
async fn drive(
    stream: Box<dyn Transport>,
    shared: Arc<Shared>,
    mut queue: mpsc::UnboundedReceiver<Command>,
) {
    let (reads, writes) = split(stream);
    tokio::select! {
        () = read_answers(reads, &shared) => {}
        () = write_requests(writes, &shared, &mut queue) => {}
    }
    // Drops what waits; its callers find the reason.
    lock(&shared.pending).clear();
}

async fn read_answers(stream: ReadHalf<Box<dyn Transport>>, shared: &Shared) {
    let mut frames = FrameReader::new(stream, shared.options.max_frame_bytes);
    let cause = loop {
        let bytes = match frames.next().await {
            Ok(Some(bytes)) => bytes,
            Ok(None) => break Cause::Closed { waiting_for: None },
            Err(FrameError::Io(error)) => break Cause::from_io(error),
            Err(error) => break Cause::Frame(error),
        };
        if let Err(cause) = take_answer(&bytes, shared) {
            break cause;
        }
    };
    shared.close(cause);
}

fn take_answer(bytes: &Bytes, shared: &Shared) -> Result<(), Cause> {
    let Some(pending) = lock(&shared.pending).pop_front() else {
        return Err(Cause::Unrequested { bytes: bytes.len() });
    };
    // On an error the reason must be known before `deliver`, and the caller in it, is dropped.
    let fail = |cause: Cause| {
        shared.close(cause.clone());
        cause
    };
    let Pending {
        correlation_id: expected,
        api,
        deliver,
        _slot,
    } = pending;
    match frame::peek_correlation_id(bytes) {
        Err(error) => return Err(fail(Cause::Decode { api, error })),
        Ok(got) if got != expected => return Err(fail(Cause::Correlation { expected, got })),
        Ok(_) => {}
    }
    let pause = deliver(bytes).map_err(|error| Cause::Decode { api, error })?;
    if !pause.is_zero() {
        let until = Instant::now() + pause;
        let mut muted_until = lock(&shared.muted_until);
        *muted_until = (*muted_until).max(Some(until));
    }
    Ok(())
}

async fn write_requests(
    mut stream: WriteHalf<Box<dyn Transport>>,
    shared: &Shared,
    queue: &mut mpsc::UnboundedReceiver<Command>,
) {
    while let Some(Command {
        segments,
        pending,
        ticket,
    }) = queue.recv().await
    {
        unmuted(shared).await;
        if ticket
            .compare_exchange(QUEUED, SENT, Ordering::AcqRel, Ordering::Acquire)
            .is_err()
        {
            continue;
        }
        // The place in the order is taken before the first byte leaves: the answer may be faster.
        lock(&shared.pending).push_back(pending);
        if let Err(error) = write_segments(&mut stream, &segments).await {
            // What the server said before it closed tells more, and is read at the same time.
            sleep(LAST_WORDS).await;
            return shared.close(Cause::from_io(Arc::new(error)));
        }
    }
    shared.close(Cause::ClosedHere);
    // The stream is dropped either way.
    let _ = stream.shutdown().await;
}

async fn unmuted(shared: &Shared) {
    loop {
        let until = *lock(&shared.muted_until);
        match until {
            Some(until) if until > Instant::now() => sleep_until(until).await,
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests;
