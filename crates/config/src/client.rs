use std::time::Duration;

use crate::error::ConfigError;
use crate::properties::Properties;
use crate::reading::Reading;
use crate::table::{Key, KeyTable, Kind};
use crate::values::Values;

const MAX_MILLIS: u32 = i32::MAX as u32;

const fn millis(name: &'static str, default: &'static str, doc: &'static str) -> Key {
    Key {
        name,
        kind: Kind::Millis {
            min: 0,
            max: MAX_MILLIS,
        },
        default: Some(default),
        doc,
    }
}

/// Kafka's protocol names. Only the first can be used yet.
const SECURITY_PROTOCOLS: &[&str] = &["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"];

static CLIENT_KEYS: KeyTable = KeyTable {
    keys: &[
        Key {
            name: "bootstrap.servers",
            kind: Kind::List,
            default: None,
            doc: "Brokers to ask first for the members of the cluster, as host:port,host:port.",
        },
        Key {
            name: "bootstrap.controllers",
            kind: Kind::List,
            default: None,
            doc: "Controllers to talk to instead of brokers, as host:port,host:port.",
        },
        Key {
            name: "client.id",
            kind: Kind::String,
            default: Some(""),
            doc: "The name that requests carry, for the servers' logs, metrics and quotas.",
        },
        millis(
            "request.timeout.ms",
            "30000",
            "How long one request may take, before it is given up and perhaps sent again.",
        ),
        millis(
            "default.api.timeout.ms",
            "60000",
            "How long a call may take with all its requests and retries, where it has no timeout of its own.",
        ),
        Key {
            name: "retries",
            kind: Kind::Int {
                min: 0,
                max: i32::MAX,
            },
            default: Some("2147483647"),
            doc: "How often a request that failed for a passing reason is sent again, within the call's timeout.",
        },
        millis(
            "retry.backoff.ms",
            "100",
            "The pause before the first retry; it doubles with each, up to retry.backoff.max.ms.",
        ),
        millis(
            "retry.backoff.max.ms",
            "1000",
            "The longest pause before a retry.",
        ),
        millis(
            "reconnect.backoff.ms",
            "50",
            "The pause before the first reconnect; it doubles with each, up to reconnect.backoff.max.ms.",
        ),
        millis(
            "reconnect.backoff.max.ms",
            "1000",
            "The longest pause before a reconnect.",
        ),
        millis(
            "socket.connection.setup.timeout.ms",
            "10000",
            "How long each address of a host is tried.",
        ),
        Key {
            name: "security.protocol",
            kind: Kind::Enum(SECURITY_PROTOCOLS),
            default: Some("PLAINTEXT"),
            doc: "How connections are secured; only PLAINTEXT can be used yet.",
        },
    ],
    unused: &[
        "auto.include.jmx.reporter",
        "bootstrap.resolve.timeout.ms",
        "client.dns.lookup",
        "config.providers",
        "config.providers.",
        "connections.max.idle.ms",
        "enable.metrics.push",
        "metadata.max.age.ms",
        "metadata.recovery.rebootstrap.trigger.ms",
        "metadata.recovery.strategy",
        "metric.reporters",
        "metrics.",
        "receive.buffer.bytes",
        "send.buffer.bytes",
        "security.providers",
        "socket.connection.setup.timeout.max.ms",
    ],
    silent: &[],
};

/// The keys of a client's properties file that klamm reads.
pub fn client_keys() -> &'static KeyTable {
    &CLIENT_KEYS
}

/// How a client's connections are secured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecurityProtocol {
    /// Neither encrypted nor authenticated.
    #[default]
    Plaintext,
}

/// What a client's properties file says, parsed, defaults included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSettings {
    /// Brokers to begin with, each meant to be `host:port`; may be empty.
    pub bootstrap_servers: Vec<String>,
    /// Controllers to begin with, each meant to be `host:port`; may be empty.
    pub bootstrap_controllers: Vec<String>,
    /// The name that requests carry; `None` where the file names none.
    pub client_id: Option<String>,
    /// How long one request may take.
    pub request_timeout: Duration,
    /// How long a call may take where the file or the defaults say so; see
    /// [`ClientSettings::api_timeout_is_given`].
    pub default_api_timeout: Duration,
    /// Whether the file sets `default.api.timeout.ms`; a tool with a default of its own leaves it
    /// to the file.
    pub api_timeout_is_given: bool,
    /// Whether the file sets `request.timeout.ms`.
    pub request_timeout_is_given: bool,
    /// How often a request is sent again.
    pub retries: u32,
    /// The pause before the first retry.
    pub retry_backoff: Duration,
    /// The longest pause before a retry.
    pub retry_backoff_max: Duration,
    /// The pause before the first reconnect.
    pub reconnect_backoff: Duration,
    /// The longest pause before a reconnect.
    pub reconnect_backoff_max: Duration,
    /// How long each address of a host is tried.
    pub connection_setup_timeout: Duration,
    /// How connections are secured.
    pub security_protocol: SecurityProtocol,
}

impl ClientSettings {
    /// Parses a client's properties file. The warnings are in the [`Values`].
    pub fn read(properties: &Properties) -> Result<(Self, Values), ConfigError> {
        let known = without_security_keys(properties);
        let mut reading = CLIENT_KEYS.begin(&known);
        check(&mut reading);
        for entry in properties.effective() {
            if is_security_key(&entry.key) {
                reading.warn(entry, "is ignored: connections are PLAINTEXT");
            }
        }
        let values = reading.finish()?;
        let duration = |name| {
            values
                .duration(name)
                .expect("the table has a default for it")
        };
        let client_id = values.string("client.id").filter(|id| !id.is_empty());
        let api_timeout_is_given = values.is_given("default.api.timeout.ms");
        let request_timeout = duration("request.timeout.ms");
        let settings = Self {
            bootstrap_servers: values.list("bootstrap.servers").to_vec(),
            bootstrap_controllers: values.list("bootstrap.controllers").to_vec(),
            client_id: client_id.map(str::to_owned),
            request_timeout,
            default_api_timeout: if api_timeout_is_given {
                duration("default.api.timeout.ms")
            } else {
                duration("default.api.timeout.ms").max(request_timeout)
            },
            api_timeout_is_given,
            request_timeout_is_given: values.is_given("request.timeout.ms"),
            retries: values
                .int("retries")
                .map_or(0, |retries| retries.unsigned_abs()),
            retry_backoff: duration("retry.backoff.ms"),
            retry_backoff_max: duration("retry.backoff.max.ms"),
            reconnect_backoff: duration("reconnect.backoff.ms"),
            reconnect_backoff_max: duration("reconnect.backoff.max.ms"),
            connection_setup_timeout: duration("socket.connection.setup.timeout.ms"),
            security_protocol: SecurityProtocol::Plaintext,
        };
        Ok((settings, values))
    }
}

fn is_security_key(key: &str) -> bool {
    key.starts_with("ssl.") || key.starts_with("sasl.")
}

/// What the key table reads: keys of SSL and SASL are warned about apart.
fn without_security_keys(properties: &Properties) -> Properties {
    properties.filtered(|entry| !is_security_key(&entry.key))
}

/// The rules that one value alone cannot break.
fn check(reading: &mut Reading<'_>) {
    let values = reading.values();
    let is_less = |key, than| {
        let both = values.is_given(key) && values.is_given(than);
        both && values.duration(key) < values.duration(than)
    };
    // A default is not what the file says: the tool that reads it may have another, and lowers its
    // own.
    let less: Vec<_> = [
        ("default.api.timeout.ms", "request.timeout.ms"),
        ("retry.backoff.max.ms", "retry.backoff.ms"),
        ("reconnect.backoff.max.ms", "reconnect.backoff.ms"),
    ]
    .into_iter()
    .filter(|(key, than)| is_less(key, than))
    .collect();
    let has_both = ["bootstrap.servers", "bootstrap.controllers"]
        .iter()
        .all(|key| !values.list(key).is_empty());
    if values.word("security.protocol") != Some("PLAINTEXT") {
        reading.wrong(
            "security.protocol",
            "this release of klamm speaks PLAINTEXT only, SSL and SASL come in a later one; \
             until then use a PLAINTEXT listener of the cluster",
        );
    }
    for (key, than) in less {
        reading.wrong(key, format!("the value must be at least {than}"));
    }
    if has_both {
        reading.wrong(
            "bootstrap.controllers",
            "bootstrap.servers is given too: keep one of them",
        );
    }
}

#[cfg(test)]
mod tests;
