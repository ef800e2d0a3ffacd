//! Which nodes of a cluster in this process hear each other.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use klamm_net::{Cause, Connector, ServerAddress, TcpConnector, Transport};
use klamm_protocol::BrokerId;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;
use tokio::time::timeout;

/// The links between all nodes. Nodes reach each other over streams that the one who asks opens: where
/// those stand still, neither hears the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Links(watch::Sender<State>);

#[derive(Debug, Default)]
struct State {
    /// Who listens where.
    ports: BTreeMap<u16, BrokerId>,
    /// Pairs, the lower id first.
    parted: BTreeSet<(BrokerId, BrokerId)>,
    /// Who hears nobody.
    paused: BTreeSet<BrokerId>,
}

impl State {
    fn are_joined(&self, (a, b): (BrokerId, BrokerId)) -> bool {
        let is_paused = |id| self.paused.contains(id);
        !self.parted.contains(&(a.min(b), a.max(b))) && !is_paused(&a) && !is_paused(&b)
    }
}

impl Links {
    /// A node listens at a port.
    pub(super) fn listens(&self, id: BrokerId, port: u16) {
        self.change(|state| {
            state.ports.insert(port, id);
        });
    }

    pub(super) fn part(&self, a: BrokerId, b: BrokerId) {
        let pair = (a.min(b), a.max(b));
        self.change(|state| {
            state.parted.insert(pair);
        });
    }

    pub(super) fn heal(&self, a: BrokerId, b: BrokerId) {
        let pair = (a.min(b), a.max(b));
        self.change(|state| {
            state.parted.remove(&pair);
        });
    }

    pub(super) fn heal_all(&self) {
        self.change(|state| state.parted.clear());
    }

    pub(super) fn pause(&self, id: BrokerId, is_paused: bool) {
        self.change(|state| {
            if is_paused {
                state.paused.insert(id);
            } else {
                state.paused.remove(&id);
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        self.0.send_modify(change);
    }

    /// How a node reaches others.
    pub(super) fn connector(&self, from: BrokerId, tcp: TcpConnector) -> Arc<dyn Connector> {
        Arc::new(Linked {
            from,
            links: self.clone(),
            tcp,
        })
    }
}

/// Connects over TCP, as far as the two are joined.
struct Linked {
    from: BrokerId,
    links: Links,
    tcp: TcpConnector,
}

impl Connector for Linked {
    fn connect<'a>(
        &'a self,
        server: &'a ServerAddress,
    ) -> Pin<Box<dyn Future<Output = Result<Box<dyn Transport>, Cause>> + Send + 'a>> {
        Box::pin(async move {
            let to = self.links.0.borrow().ports.get(&server.port()).copied();
            let Some(to) = to else {
                return self.tcp.connect(server).await;
            };
            let barrier = || Barrier {
                state: self.links.0.subscribe(),
                pair: (self.from, to),
                waiting: None,
            };
            // As where nobody answers.
            let after = self.tcp.timeout;
            let joined = joined(self.links.0.subscribe(), (self.from, to));
            let late = |_| Cause::ConnectTimeout { after };
            timeout(after, joined).await.map_err(late)?;
            let stream = LinkedStream {
                stream: self.tcp.connect(server).await?,
                reading: barrier(),
                writing: barrier(),
            };
            Ok(Box::new(stream) as Box<dyn Transport>)
        })
    }
}

async fn joined(mut state: watch::Receiver<State>, pair: (BrokerId, BrokerId)) {
    // Without the cluster nobody parts anybody any more.
    let _ = state.wait_for(|state| state.are_joined(pair)).await;
}

/// Stands still while two nodes are parted.
struct Barrier {
    state: watch::Receiver<State>,
    pair: (BrokerId, BrokerId),
    waiting: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Barrier {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.waiting.is_none() && !self.state.borrow().are_joined(self.pair) {
            self.waiting = Some(Box::pin(joined(self.state.clone(), self.pair)));
        }
        if let Some(waiting) = &mut self.waiting {
            ready!(waiting.as_mut().poll(context));
            self.waiting = None;
        }
        Poll::Ready(())
    }
}

/// A stream that neither gives nor takes bytes while its ends are parted; what is on its way arrives.
struct LinkedStream {
    stream: Box<dyn Transport>,
    reading: Barrier,
    writing: Barrier,
}

impl AsyncRead for LinkedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.reading.poll(context));
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for LinkedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.writing.poll(context));
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.writing.poll(context));
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.writing.poll(context));
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.writing.poll(context));
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    const A: BrokerId = BrokerId(1);
    const B: BrokerId = BrokerId(2);

    /// Polls once.
    async fn is_pending(work: &mut (impl Future + Unpin)) -> bool {
        std::future::poll_fn(|context| {
            let polled = Pin::new(&mut *work).poll(context);
            Poll::Ready(polled.is_pending())
        })
        .await
    }

    #[tokio::test]
    async fn streams_stand_still_while_their_ends_are_parted() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let links = Links::default();
        links.listens(B, port);
        let connector = links.connector(A, TcpConnector::default());
        let server = ServerAddress::new("127.0.0.1", port);
        let mut stream = connector.connect(&server).await.unwrap();
        let (mut other, _) = listener.accept().await.unwrap();
        other.write_all(b"before").await.unwrap();
        let mut bytes = [0; 6];
        stream.read_exact(&mut bytes).await.unwrap();
        for is_pause in [false, true] {
            if is_pause {
                links.pause(A, true);
            } else {
                links.part(B, A);
            }
            other.write_all(b"during").await.unwrap();
            {
                let mut read = Box::pin(stream.read_exact(&mut bytes));
                assert!(is_pending(&mut read).await);
                // Others do not help.
                links.heal(A, BrokerId(3));
                links.pause(BrokerId(3), false);
                assert!(is_pending(&mut read).await);
            }
            let mut write = Box::pin(stream.write_all(b"answer"));
            assert!(is_pending(&mut write).await);
            if is_pause {
                links.pause(A, false);
            } else {
                links.heal_all();
            }
            write.await.unwrap();
            stream.flush().await.unwrap();
            stream.read_exact(&mut bytes).await.unwrap();
            assert_eq!(&bytes, b"during");
            other.read_exact(&mut bytes).await.unwrap();
            assert_eq!(&bytes, b"answer");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_connects_to_who_is_parted() {
        let links = Links::default();
        links.listens(B, 9);
        links.part(A, B);
        let timeout = Duration::from_secs(10);
        let connector = links.connector(A, TcpConnector { timeout });
        let server = ServerAddress::new("127.0.0.1", 9);
        let refused = connector.connect(&server).await.err();
        assert!(matches!(refused, Some(Cause::ConnectTimeout { .. })));
        links.heal(A, B);
        let refused = connector.connect(&server).await.err();
        assert!(matches!(refused, Some(Cause::Refused)));
    }
}
