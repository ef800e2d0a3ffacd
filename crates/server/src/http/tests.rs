//! Clients that are slow, or many. Time is paused: it goes on when nothing else does.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::*;

const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";

const LIMITS: HttpLimits = HttpLimits {
    connections: 3,
    head_time: Duration::from_secs(10),
    connection_time: Duration::from_secs(60),
    buffered_bytes: 16 << 10,
};

/// Says where it was asked for, and more than a client can take at once.
#[derive(Default)]
struct Echo {
    may_answer: Option<Arc<Notify>>,
}

impl HttpServer for Echo {
    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        if let Some(may_answer) = &self.may_answer {
            may_answer.notified().await;
        }
        let mut body = request.uri().path().as_bytes().to_vec();
        body.resize(1 << 20, b'.');
        Response::new(Full::new(body.into()))
    }
}

struct Connected {
    client: DuplexStream,
    served: JoinHandle<()>,
    close: watch::Sender<bool>,
}

fn connect(server: Echo) -> Connected {
    let (client, stream) = duplex(1 << 10);
    let (close, closing) = watch::channel(false);
    let served = tokio::spawn(connection(stream, Arc::new(server), LIMITS, closing));
    Connected {
        client,
        served,
        close,
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_say_what_it_wants_is_let_go() {
    for said in [&b""[..], b"GET / HT", &GET[..GET.len() - 2]] {
        let mut connected = connect(Echo::default());
        connected.client.write_all(said).await.unwrap();
        let start = Instant::now();
        connected.served.await.unwrap();
        assert!(start.elapsed() < LIMITS.connection_time, "{said:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_let_go() {
    let mut connected = connect(Echo::default());
    connected.client.write_all(GET).await.unwrap();
    connected.served.await.unwrap();
    let mut answer = Vec::new();
    connected.client.read_to_end(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200") && answer.len() < 1 << 20);
}

#[tokio::test(start_paused = true)]
async fn an_answer_goes_out_before_the_connection_is_closed() {
    let may_answer = Arc::new(Notify::new());
    let mut connected = connect(Echo {
        may_answer: Some(Arc::clone(&may_answer)),
    });
    connected.client.write_all(GET).await.unwrap();
    // Every task waits once time goes on.
    sleep(Duration::from_secs(1)).await;
    connected.close.send(true).unwrap();
    sleep(Duration::from_secs(1)).await;
    assert!(!connected.served.is_finished());
    may_answer.notify_one();
    let mut answer = Vec::new();
    connected.client.read_to_end(&mut answer).await.unwrap();
    assert!(answer.len() > 1 << 20);
    connected.served.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_come_is_not_waited_for_at_the_end() {
    let mut connected = connect(Echo {
        may_answer: Some(Arc::default()),
    });
    connected.client.write_all(GET).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    connected.close.send(true).unwrap();
    connected.served.await.unwrap();
}

/// Connections that a test makes up.
struct Given {
    streams: mpsc::UnboundedReceiver<DuplexStream>,
    taken: Arc<AtomicUsize>,
}

impl Accept for Given {
    type Stream = DuplexStream;

    async fn accept(&mut self) -> io::Result<DuplexStream> {
        let stream = self.streams.recv().await;
        let stream = stream.ok_or(io::ErrorKind::NotConnected)?;
        self.taken.fetch_add(1, Ordering::Relaxed);
        Ok(stream)
    }
}

#[tokio::test(start_paused = true)]
async fn so_many_connections_and_no_more() {
    let (give, streams) = mpsc::unbounded_channel();
    let taken = Arc::<AtomicUsize>::default();
    let given = Given {
        streams,
        taken: Arc::clone(&taken),
    };
    let (_open, closing) = watch::channel(false);
    let server = Arc::new(Echo::default());
    let accepting = tokio::spawn(accept(given, server, LIMITS, closing));
    let connect = || {
        let (client, stream) = duplex(1 << 20);
        give.send(stream).unwrap();
        client
    };
    let mut clients: Vec<_> = (0..LIMITS.connections).map(|_| connect()).collect();
    let mut late = connect();
    late.write_all(GET).await.unwrap();
    // Every task waits once time goes on.
    sleep(Duration::from_secs(1)).await;
    assert_eq!(taken.load(Ordering::Relaxed), LIMITS.connections);
    clients.pop();
    let mut start = [0; 12];
    late.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 200");
    assert_eq!(taken.load(Ordering::Relaxed), LIMITS.connections + 1);
    accepting.abort();
}
