use std::net::{Ipv4Addr, TcpListener};

/// Below Linux's usual range of ephemeral ports (32768 and up): while a broker is down, no outgoing
/// connection of another process takes its port by chance.
const RANGE: std::ops::Range<u16> = 12_000..32_000;
/// Far more tries than a machine with any free port needs.
const TRIES: usize = 1_000;

/// Ports of 127.0.0.1 that are free right now, each different.
///
/// They are free to be taken by another process until the server binds them; the caller starts over
/// with new ones when that happens.
///
/// # Panics
/// If there are not so many.
pub fn free_ports(count: usize) -> Vec<u16> {
    let mut held: Vec<(u16, TcpListener)> = Vec::new();
    for _ in 0..TRIES {
        if held.len() == count {
            break;
        }
        let port = fastrand::u16(RANGE);
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            held.push((port, listener));
        }
    }
    assert!(
        held.len() == count,
        "no {count} free ports in {RANGE:?} after {TRIES} tries"
    );
    held.into_iter().map(|(port, _)| port).collect()
}
