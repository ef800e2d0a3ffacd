use std::collections::BTreeMap;
use std::time::Duration;

use klamm_config::Reading;

use super::{bounded_millis, int};

/// What a node does with connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionSettings {
    /// `connections.max.idle.ms`: one that was idle for so long is closed; `None` is never.
    pub max_idle: Option<Duration>,
    /// `max.connections`: the most of a listener.
    pub max: usize,
    /// `max.connections.per.ip`: the most from one address.
    pub max_per_ip: usize,
    /// `max.connections.per.ip.overrides`: the most from these hosts, names or addresses.
    pub max_per_ip_overrides: BTreeMap<String, usize>,
    /// `socket.request.max.bytes`: the largest request.
    pub max_request_bytes: usize,
    /// `socket.listen.backlog.size`: how many connections wait to be accepted.
    pub listen_backlog: u32,
}

impl ConnectionSettings {
    pub(super) fn parse(reading: &mut Reading<'_>) -> Self {
        let overrides = overrides(reading);
        let values = reading.values();
        let size = |key| int(values, key).unsigned_abs() as usize;
        let settings = Self {
            max_idle: bounded_millis(values, "connections.max.idle.ms"),
            max: size("max.connections"),
            max_per_ip: size("max.connections.per.ip"),
            max_per_ip_overrides: overrides,
            max_request_bytes: size("socket.request.max.bytes"),
            listen_backlog: int(values, "socket.listen.backlog.size").unsigned_abs(),
        };
        let forbids_all = settings.max_per_ip == 0 && settings.max_per_ip_overrides.is_empty();
        if forbids_all && !reading.has("max.connections.per.ip.overrides") {
            let what = "0 allows no connection at all; it needs max.connections.per.ip.overrides";
            reading.wrong("max.connections.per.ip", what);
        }
        settings
    }
}

fn overrides(reading: &mut Reading<'_>) -> BTreeMap<String, usize> {
    const KEY: &str = "max.connections.per.ip.overrides";
    let mut overrides = BTreeMap::new();
    for item in reading.values().list(KEY).to_vec() {
        // The number is after the last colon: IPv6 addresses have others.
        let parsed = item
            .rsplit_once(':')
            .and_then(|(host, most)| Some((host.trim(), most.trim().parse::<u32>().ok()?)));
        match parsed {
            Some((host, most)) if !host.is_empty() => {
                overrides.insert(host.to_owned(), most as usize);
            }
            _ => reading.wrong(KEY, format!("{item:?} must be HOST:NUMBER")),
        }
    }
    overrides
}
