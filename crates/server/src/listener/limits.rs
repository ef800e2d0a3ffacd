use std::collections::HashMap;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};

use crate::settings::ConnectionSettings;

/// How many connections there are, and may be.
#[derive(Debug)]
pub(crate) struct Limits {
    max: usize,
    max_per_ip: usize,
    /// Addresses with a limit of their own.
    overrides: HashMap<IpAddr, usize>,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    accepted: u64,
    refused: u64,
    by_ip: HashMap<IpAddr, usize>,
}

/// What became of the connections of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    /// How many there are.
    pub(crate) open: usize,
    /// How many were accepted since the start.
    pub(crate) accepted: u64,
    /// How many were closed at once, since there were too many.
    pub(crate) refused: u64,
}

/// The right to have a connection, as long as this value lives.
#[derive(Debug)]
pub(crate) struct Place {
    limits: Arc<Limits>,
    ip: IpAddr,
}

impl Limits {
    pub(crate) fn new(settings: &ConnectionSettings) -> Arc<Self> {
        let mut overrides = HashMap::new();
        for (host, max) in &settings.max_per_ip_overrides {
            for ip in addresses(host) {
                overrides.insert(ip, *max);
            }
        }
        Arc::new(Self {
            max: settings.max,
            max_per_ip: settings.max_per_ip,
            overrides,
            counts: Mutex::default(),
        })
    }

    /// A place for a connection from an address, if there is one left.
    pub(crate) fn admit(self: &Arc<Self>, ip: IpAddr) -> Option<Place> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let of_ip = counts.by_ip.get(&ip).copied().unwrap_or(0);
        let max_of_ip = self.overrides.get(&ip).copied().unwrap_or(self.max_per_ip);
        if counts.all >= self.max || of_ip >= max_of_ip {
            counts.refused += 1;
            return None;
        }
        counts.all += 1;
        counts.accepted += 1;
        counts.by_ip.insert(ip, of_ip + 1);
        let limits = Arc::clone(self);
        Some(Place { limits, ip })
    }

    pub(crate) fn tally(&self) -> Tally {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        Tally {
            open: counts.all,
            accepted: counts.accepted,
            refused: counts.refused,
        }
    }
}

/// The addresses of a host; none where the name has none, which is warned of.
fn addresses(host: &str) -> Vec<IpAddr> {
    if let Ok(ip) = host.parse() {
        return vec![ip];
    }
    match (host, 0).to_socket_addrs() {
        Ok(found) => found.map(|address| address.ip().to_canonical()).collect(),
        Err(error) => {
            tracing::warn!(host, %error, "max.connections.per.ip.overrides: no such host");
            Vec::new()
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let counts = self.limits.counts.lock();
        let mut counts = counts.unwrap_or_else(PoisonError::into_inner);
        counts.all -= 1;
        if let Some(of_ip) = counts.by_ip.get_mut(&self.ip) {
            *of_ip -= 1;
            if *of_ip == 0 {
                counts.by_ip.remove(&self.ip);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(max: usize, max_per_ip: usize, overrides: &[(&str, usize)]) -> Arc<Limits> {
        let overrides = overrides
            .iter()
            .map(|(host, max)| ((*host).to_owned(), *max));
        Limits::new(&ConnectionSettings {
            max_idle: None,
            max,
            max_per_ip,
            max_per_ip_overrides: overrides.collect(),
            max_request_bytes: 1,
            listen_backlog: 1,
        })
    }

    #[test]
    fn an_address_may_have_a_limit_of_its_own() {
        let limits = limits(9, 0, &[("10.0.0.1", 1)]);
        let [a, b]: [IpAddr; 2] = ["10.0.0.1", "10.0.0.2"].map(|ip| ip.parse().unwrap());
        assert!(limits.admit(b).is_none());
        let place = limits.admit(a);
        assert!(place.is_some() && limits.admit(a).is_none());
    }

    #[test]
    fn places_are_limited_by_address_and_in_all() {
        let limits = limits(3, 2, &[]);
        let [a, b]: [IpAddr; 2] = ["10.0.0.1", "10.0.0.2"].map(|ip| ip.parse().unwrap());
        let first = limits.admit(a);
        let second = limits.admit(a);
        assert!(first.is_some() && second.is_some());
        assert!(limits.admit(a).is_none(), "two from one address");
        let third = limits.admit(b);
        assert!(third.is_some());
        assert!(limits.admit(b).is_none(), "three in all");
        let tally = |open, accepted, refused| Tally {
            open,
            accepted,
            refused,
        };
        assert_eq!(limits.tally(), tally(3, 3, 2));
        drop(first);
        assert!(limits.admit(a).is_some());
        drop((second, third));
        assert_eq!(limits.counts.lock().unwrap().by_ip.len(), 0);
    }
}
