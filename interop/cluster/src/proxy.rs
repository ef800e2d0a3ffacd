use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// A TCP proxy on 127.0.0.1 whose connections a test can cut.
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
    is_closed: AtomicBool,
    is_over: AtomicBool,
    connections: Mutex<Connections>,
}

#[derive(Debug, Default)]
struct Connections {
    /// How many there have been.
    count: usize,
    open: BTreeMap<usize, [TcpStream; 2]>,
}

impl Proxy {
    /// Listens, and connects who comes with a port of 127.0.0.1.
    pub(crate) fn start(target: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listener = listener.expect("127.0.0.1 has a free port");
        let address = listener.local_addr().expect("it is bound");
        let shared = Arc::new(Shared {
            target,
            is_closed: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            connections: Mutex::default(),
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
    }

    /// Ends all connections, and each new one at once.
    pub fn close(&self) {
        self.shared.is_closed.store(true, Ordering::Release);
        self.cut();
    }

    /// Lets connections through again.
    pub fn open(&self) {
        self.shared.is_closed.store(false, Ordering::Release);
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
            if self.is_closed.load(Ordering::Acquire) {
                return Ok(());
            }
            connections.count += 1;
            let number = connections.count;
            connections.open.insert(number, [client, server]);
            number
        };
        for (mut from, mut to) in ways {
            let shared = Arc::clone(self);
            thread::spawn(move || {
                let _ = io::copy(&mut from, &mut to);
                // Kafka's connections end as a whole.
                end(&[from, to]);
                shared.connections().open.remove(&number);
            });
        }
        Ok(())
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
