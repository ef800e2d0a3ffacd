use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// A TCP proxy on 127.0.0.1 whose connections a test can cut, or make wait.
///
/// It goes away with this value, and so do its connections.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    target: u16,
    is_over: AtomicBool,
    connections: Mutex<Connections>,
    /// Connections may be carried on, or have ended.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Connections {
    state: State,
    /// How many there have been.
    count: usize,
    open: BTreeMap<usize, [TcpStream; 2]>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    Stalled,
    Closed,
}

impl Proxy {
    /// Listens, and connects who comes with a port of 127.0.0.1.
    pub(crate) fn start(target: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listener = listener.expect("127.0.0.1 has a free port");
        let address = listener.local_addr().expect("it is bound");
        let shared = Arc::new(Shared {
            target,
            is_over: AtomicBool::new(false),
            connections: Mutex::default(),
            changed: Condvar::new(),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.is_over.load(Ordering::Acquire) {
                    return;
                }
                if let Ok(stream) = stream {
                    // Who comes while the target is away is told so by the end of the connection.
                    let _ = accepting.connect(stream);
                }
            }
        });
        Self {
            port: address.port(),
            shared,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// How many connections there are now, and how many there have been.
    pub fn connections(&self) -> (usize, usize) {
        let connections = self.shared.connections();
        (connections.open.len(), connections.count)
    }

    /// Ends all connections; new ones come through.
    pub fn cut(&self) {
        self.shared.connections().cut();
        self.shared.changed.notify_all();
    }

    /// Ends all connections, and each new one at once.
    pub fn close(&self) {
        self.set(State::Closed);
        self.cut();
    }

    /// Holds back what is sent from now on, either way, the ends of connections included. New ones
    /// are accepted.
    pub fn stall(&self) {
        self.set(State::Stalled);
    }

    /// Lets connections through again, and what was held back.
    pub fn open(&self) {
        self.set(State::Open);
    }

    fn set(&self, state: State) {
        self.shared.connections().state = state;
        self.shared.changed.notify_all();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        self.close();
        // The thread that accepts sees it when somebody comes.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

impl Connections {
    fn cut(&mut self) {
        for streams in std::mem::take(&mut self.open).into_values() {
            end(&streams);
        }
    }
}

impl Shared {
    fn connect(self: &Arc<Self>, client: TcpStream) -> io::Result<()> {
        let server = TcpStream::connect((Ipv4Addr::LOCALHOST, self.target))?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let ways = [
            (client.try_clone()?, server.try_clone()?),
            (server.try_clone()?, client.try_clone()?),
        ];
        let number = {
            let mut connections = self.connections();
            // Under the lock, so that none that was let in is left after `close`.
            if connections.state == State::Closed {
                return Ok(());
            }
            connections.count += 1;
            let number = connections.count;
            connections.open.insert(number, [client, server]);
            number
        };
        for (from, to) in ways {
            let shared = Arc::clone(self);
            thread::spawn(move || {
                let _ = shared.carry(number, &from, &to);
                // Kafka's connections end as a whole.
                end(&[from, to]);
                shared.connections().open.remove(&number);
                shared.changed.notify_all();
            });
        }
        Ok(())
    }

    /// Carries what comes one way, until the connection ends.
    fn carry(&self, number: usize, mut from: &TcpStream, mut to: &TcpStream) -> io::Result<()> {
        let mut bytes = vec![0; 64 << 10];
        loop {
            let len = from.read(&mut bytes)?;
            if !self.lets_through(number) || len == 0 {
                return Ok(());
            }
            to.write_all(&bytes[..len])?;
        }
    }

    /// Waits while connections are stalled; false if this one was cut.
    fn lets_through(&self, number: usize) -> bool {
        let waits = |connections: &mut Connections| {
            connections.state == State::Stalled && connections.open.contains_key(&number)
        };
        let connections = self.changed.wait_while(self.connections(), waits);
        let connections = connections.unwrap_or_else(PoisonError::into_inner);
        connections.open.contains_key(&number)
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn end(streams: &[TcpStream; 2]) {
    for stream in streams {
        let _ = stream.shutdown(Shutdown::Both);
    }
}

#[cfg(test)]
mod tests;
