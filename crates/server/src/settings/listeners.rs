use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use klamm_config::Reading;

/// A listener of the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Its name, in capitals.
    pub name: String,
    /// The name or address that it listens on; `None` is every address of the machine.
    pub host: Option<String>,
    /// The port that it listens on; 0 is any that is free.
    pub port: u16,
    /// The name or address that others reach it by; `None` is the machine's own name.
    pub advertised_host: Option<String>,
    /// The port that others reach it by; 0 is the one that it listens on.
    pub advertised_port: u16,
    /// How it is secured: one of Kafka's protocol names.
    pub security_protocol: &'static str,
}

impl Listener {
    /// Refuses what this release cannot do.
    pub(super) fn check_plaintext(&self, reading: &mut Reading<'_>) {
        let (name, protocol) = (&self.name, self.security_protocol);
        if protocol != "PLAINTEXT" {
            let what = format!(
                "{name} is {protocol}, and this release of klamm listens as PLAINTEXT only"
            );
            reading.wrong("listener.security.protocol.map", what);
        }
    }
}

/// One entry of `listeners` or `advertised.listeners`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    name: String,
    host: Option<String>,
    port: u16,
}

/// The listeners of the file in its order, with what others are told of them.
pub(super) fn listeners(reading: &mut Reading<'_>) -> Vec<Listener> {
    let protocols = protocols(reading);
    let advertised = entries(reading, "advertised.listeners");
    let entries = entries(reading, "listeners");
    let mut listeners = Vec::new();
    for entry in entries {
        let Entry { name, host, port } = entry;
        let Some(security_protocol) = protocols.get(&name).copied() else {
            let what = format!("listener.security.protocol.map does not say how {name} is secured");
            reading.wrong("listeners", what);
            continue;
        };
        let host = host.filter(|host| !is_wildcard(host));
        let advertised = advertised.iter().find(|entry| entry.name == name);
        let (advertised_host, advertised_port) = match advertised {
            Some(entry) => (entry.host.clone(), entry.port),
            None => (host.clone(), port),
        };
        if advertised_host.as_deref().is_some_and(is_wildcard) {
            let what = format!("{name} must have an address that others reach it by");
            reading.wrong("advertised.listeners", what);
        }
        listeners.push(Listener {
            name,
            host,
            port,
            advertised_host,
            advertised_port,
            security_protocol,
        });
    }
    listeners
}

/// `listener.security.protocol.map`. Where the file has none, listeners of controllers that are not
/// named after a protocol are PLAINTEXT.
fn protocols(reading: &mut Reading<'_>) -> BTreeMap<String, &'static str> {
    const KEY: &str = "listener.security.protocol.map";
    const PROTOCOLS: [&str; 4] = ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"];
    let mut protocols = BTreeMap::new();
    for item in reading.values().list(KEY).to_vec() {
        let known = item.split_once(':').and_then(|(name, protocol)| {
            let is_it = |known: &&str| known.eq_ignore_ascii_case(protocol.trim());
            let protocol = PROTOCOLS.into_iter().find(is_it)?;
            Some((name.trim().to_uppercase(), protocol))
        });
        match known {
            Some((name, protocol)) => {
                protocols.insert(name, protocol);
            }
            None => reading.wrong(
                KEY,
                format!(
                    "{item:?} must be NAME:PROTOCOL, with one of {}",
                    PROTOCOLS.join(", ")
                ),
            ),
        }
    }
    if !reading.has(KEY) {
        for name in reading.values().list("controller.listener.names") {
            protocols.entry(name.to_uppercase()).or_insert("PLAINTEXT");
        }
    }
    protocols
}

fn entries(reading: &mut Reading<'_>, key: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    if reading.has(key) && reading.values().list(key).is_empty() {
        reading.wrong(key, "must have NAME://host:port");
    }
    for item in reading.values().list(key).to_vec() {
        let entry = match parse(&item) {
            Ok(entry) => entry,
            Err(problem) => {
                let what = format!(
                    "{item:?} {problem}; a listener is NAME://host:port, such as \
                                    CONTROLLER://:9093"
                );
                reading.wrong(key, what);
                continue;
            }
        };
        if entries.iter().any(|other| other.name == entry.name) {
            reading.wrong(key, format!("the listener {} is there twice", entry.name));
        } else if let Some(other) = entries.iter().find(|other| clash(other, &entry))
            && key == "listeners"
        {
            let what = format!("{} and {} have the same port", other.name, entry.name);
            reading.wrong(key, what);
        } else {
            entries.push(entry);
        }
    }
    entries
}

fn parse(item: &str) -> Result<Entry, &'static str> {
    let (name, rest) = item.split_once("://").ok_or("has no name")?;
    let (host, port) = rest.rsplit_once(':').ok_or("has no port")?;
    if name.is_empty() {
        return Err("has no name");
    }
    let port = port.parse().map_err(|_| "has no port from 0 to 65535")?;
    let host = host
        .strip_prefix('[')
        .map_or(Some(host), |host| host.strip_suffix(']'))
        .ok_or("has a bracket that is not closed")?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-%._:".contains(c);
    if !host.chars().all(allowed) {
        return Err("has no host name or address");
    }
    Ok(Entry {
        name: name.to_uppercase(),
        host: (!host.is_empty()).then(|| host.to_owned()),
        port,
    })
}

/// Two listeners may have one port only where one is of IPv4 and the other of IPv6.
fn clash(one: &Entry, other: &Entry) -> bool {
    let address = |entry: &Entry| entry.host.as_deref()?.parse::<IpAddr>().ok();
    let kinds = address(one).zip(address(other));
    let differ = kinds.is_some_and(|(one, other)| one.is_ipv4() != other.is_ipv4());
    one.port != 0 && one.port == other.port && !differ
}

fn is_wildcard(host: &str) -> bool {
    match host.parse() {
        Ok(IpAddr::V4(address)) => address == Ipv4Addr::UNSPECIFIED,
        Ok(IpAddr::V6(address)) => address == Ipv6Addr::UNSPECIFIED,
        Err(_) => false,
    }
}
