#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::net::SocketAddr;
use std::time::Duration;

use super::*;
use crate::wait_until;

const DEADLINE: Duration = Duration::from_secs(60);

/// A connection through a proxy, and its other end.
struct Ends {
    proxy: Proxy,
    listener: TcpListener,
    client: TcpStream,
    server: TcpStream,
}

impl Ends {
    fn new() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let proxy = Proxy::start(listener.local_addr().unwrap().port());
        let client = TcpStream::connect(address(&proxy)).unwrap();
        let (server, _) = listener.accept().unwrap();
        for stream in [&client, &server] {
            stream.set_read_timeout(Some(DEADLINE)).unwrap();
        }
        let ends = Self {
            proxy,
            listener,
            client,
            server,
        };
        assert!(wait_until(DEADLINE, || ends.proxy.connections().0 == 1));
        ends
    }
}

fn address(proxy: &Proxy) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, proxy.port()).into()
}

fn byte(mut stream: &TcpStream) -> u8 {
    let mut byte = [0];
    stream.read_exact(&mut byte).unwrap();
    byte[0]
}

#[test]
fn what_was_stalled_comes_in_order() {
    let ends = Ends::new();
    (&ends.client).write_all(&[1]).unwrap();
    assert_eq!(byte(&ends.server), 1);
    ends.proxy.stall();
    (&ends.client).write_all(&[2]).unwrap();
    (&ends.server).write_all(&[3]).unwrap();
    ends.server.set_nonblocking(true).unwrap();
    // It would come at once if it came.
    thread::sleep(Duration::from_millis(50));
    let error = (&ends.server).read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    ends.server.set_nonblocking(false).unwrap();
    ends.proxy.open();
    assert_eq!(byte(&ends.server), 2);
    assert_eq!(byte(&ends.client), 3);
}

#[test]
fn what_was_stalled_is_gone_with_the_connection() {
    let ends = Ends::new();
    ends.proxy.stall();
    (&ends.client).write_all(&[1]).unwrap();
    ends.proxy.cut();
    assert_eq!((&ends.server).read(&mut [0]).unwrap(), 0);
    ends.proxy.open();
    let client = TcpStream::connect(address(&ends.proxy)).unwrap();
    let (server, _) = ends.listener.accept().unwrap();
    (&client).write_all(&[2]).unwrap();
    assert_eq!(byte(&server), 2);
}

#[test]
fn an_end_is_held_back_too() {
    let Ends {
        proxy,
        client,
        server,
        ..
    } = Ends::new();
    proxy.stall();
    drop(client);
    server.set_nonblocking(true).unwrap();
    thread::sleep(Duration::from_millis(50));
    let error = (&server).read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    server.set_nonblocking(false).unwrap();
    proxy.open();
    assert_eq!((&server).read(&mut [0]).unwrap(), 0);
}

#[test]
fn nobody_comes_through_while_it_is_closed() {
    let ends = Ends::new();
    ends.proxy.close();
    assert_eq!((&ends.client).read(&mut [0]).unwrap(), 0);
    let refused = TcpStream::connect(address(&ends.proxy)).unwrap();
    refused.set_read_timeout(Some(DEADLINE)).unwrap();
    assert_eq!((&refused).read(&mut [0]).unwrap(), 0);
    assert_eq!(ends.proxy.connections().0, 0);
}
