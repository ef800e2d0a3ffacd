use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use klamm_config::Properties;
use klamm_log::{MetaProperties, OsDir};
use klamm_protocol::BrokerId;

use super::links::Links;
use super::{Broker, CONTROLLER, EmbeddedCluster, EmbeddedError, Home};
use crate::clock::Clock;
use crate::format::{FormatError, InitialQuorum, Plan, Request};
use crate::machine::random_uuid;
use crate::settings::NodeSettings;

/// The most brokers; the controller's id comes after theirs.
const MAX_BROKERS: u16 = 99;
/// What nobody else may set.
const OWN: [&str; 9] = [
    "advertised.listeners",
    "controller.listener.names",
    "controller.quorum.bootstrap.servers",
    "controller.quorum.voters",
    "listeners",
    "log.dir",
    "log.dirs",
    "node.id",
    "process.roles",
];
/// Features that klamm's brokers do not have.
const ABSENT: [&str; 4] = [
    "group.version=0",
    "share.version=0",
    "streams.version=0",
    "transaction.version=0",
];

/// What a cluster in this process is to be.
#[derive(Clone, Debug)]
pub struct EmbeddedClusterBuilder {
    brokers: u16,
    first_port: u16,
    dir: Option<PathBuf>,
    properties: Vec<(String, String)>,
}

impl Default for EmbeddedClusterBuilder {
    fn default() -> Self {
        Self {
            brokers: 3,
            first_port: 0,
            dir: None,
            properties: Vec::new(),
        }
    }
}

impl EmbeddedClusterBuilder {
    /// How many brokers there are, 3 unless said. Their ids are 1, 2 and so on.
    #[must_use]
    pub fn brokers(mut self, count: u16) -> Self {
        self.brokers = count;
        self
    }

    /// The port of broker 1; the others have the next ones. Unless said, each takes a free one.
    #[must_use]
    pub fn first_port(mut self, port: u16) -> Self {
        self.first_port = port;
        self
    }

    /// Keeps the nodes' directories there. A cluster that is there already goes on.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// Sets a property of all nodes, with a name of Apache Kafka's. Those of the listeners, roles and
    /// directories are the cluster's own.
    #[must_use]
    pub fn property(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.properties.push((key.into(), value.into()));
        self
    }

    /// Starts the cluster, and waits until every broker serves. Must be called within a tokio
    /// runtime.
    pub async fn start(self) -> Result<EmbeddedCluster, EmbeddedError> {
        if self.brokers == 0 || self.brokers > MAX_BROKERS {
            return Err(EmbeddedError::Count(self.brokers));
        }
        if self.first_port.checked_add(self.brokers - 1).is_none() {
            return Err(EmbeddedError::Ports {
                first: self.first_port,
                brokers: self.brokers,
            });
        }
        let ids = || (1..=self.brokers).map(|id| BrokerId(id.into()));
        let brokers: BTreeMap<BrokerId, Broker> = ids()
            .zip(self.ports())
            .map(|(id, port)| (id, Broker::new(port)))
            .collect();
        let mut cluster = EmbeddedCluster {
            home: self.home()?,
            properties: lines(&self.properties)?,
            controller_port: 0,
            controller: None,
            brokers,
            links: Links::default(),
        };
        let dir = cluster.dir().to_owned();
        let known = known_cluster(&dir.join("controller"))?;
        if known.is_some() {
            self.check_count(&dir)?;
        }
        let cluster_id = match known {
            Some(id) => id,
            None => random_uuid().map_err(FormatError::Chance)?.to_string(),
        };
        // A directory is not formatted for port 0, and the controller says its port when it runs.
        let controller = cluster.controller_properties(1)?;
        format(
            CONTROLLER,
            &controller,
            &cluster_id,
            InitialQuorum::Standalone,
        )?;
        cluster.start_controller().await?;
        for id in ids() {
            let broker = cluster.broker_properties(id)?;
            format(id, &broker, &cluster_id, InitialQuorum::Unsaid)?;
            cluster.begin_broker(id).await?;
        }
        for id in ids() {
            cluster.ready(id).await?;
        }
        Ok(cluster)
    }

    fn ports(&self) -> impl Iterator<Item = u16> {
        let first = self.first_port;
        (0..self.brokers).map(move |index| if first == 0 { 0 } else { first + index })
    }

    fn home(&self) -> Result<Home, EmbeddedError> {
        match &self.dir {
            None => match tempfile::Builder::new().prefix("klamm-").tempdir() {
                Ok(dir) => Ok(Home::Temporary(dir)),
                Err(source) => Err(EmbeddedError::Dir {
                    path: std::env::temp_dir(),
                    source,
                }),
            },
            Some(dir) => Ok(Home::Given(dir.clone())),
        }
    }

    /// A cluster that is there already has as many brokers as before: partitions of others would have
    /// no replica.
    fn check_count(&self, dir: &Path) -> Result<(), EmbeddedError> {
        let is_there = |id: &u16| dir.join(format!("broker-{id}")).exists();
        let found = (1..=MAX_BROKERS).filter(is_there).count();
        match u16::try_from(found) {
            Ok(found) if found > self.brokers => Err(EmbeddedError::OtherCount {
                path: dir.to_owned(),
                found,
                wanted: self.brokers,
            }),
            _ => Ok(()),
        }
    }
}

/// The id of the cluster whose controller has a directory, if it is one.
fn known_cluster(controller: &Path) -> Result<Option<String>, EmbeddedError> {
    match OsDir::open(controller) {
        Ok(dir) => Ok(MetaProperties::read(&*dir)?.map(|meta| meta.cluster_id)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(EmbeddedError::Dir {
            path: controller.to_owned(),
            source,
        }),
    }
}

/// Formats a node's directories, unless they are.
fn format(
    id: BrokerId,
    properties: &Properties,
    cluster_id: &str,
    quorum: InitialQuorum,
) -> Result<(), EmbeddedError> {
    // Its warnings are those of the settings that the node starts with.
    let (node, _) =
        NodeSettings::read(properties).map_err(|source| EmbeddedError::Config { id, source })?;
    let features = ABSENT.iter().map(|level| {
        let level = level.parse();
        level.expect("a feature and a level")
    });
    let request = Request {
        cluster_id: cluster_id.to_owned(),
        release: None,
        features: match quorum {
            InitialQuorum::Standalone => features.collect(),
            _ => Vec::new(),
        },
        quorum,
        scram: Vec::new(),
        ignore_formatted: true,
    };
    let now = Clock::start().now();
    Plan::new(&node, &request)?.carry_out(now.timestamp_ms)?;
    Ok(())
}

/// Lines of a properties file.
fn lines(properties: &[(String, String)]) -> Result<String, EmbeddedError> {
    let mut text = String::new();
    for (key, value) in properties {
        if OWN.contains(&key.as_str()) {
            return Err(EmbeddedError::OwnProperty(key.clone()));
        }
        text.push_str(&format!("{}={}\n", escaped(key), escaped(value)));
    }
    Ok(text)
}

/// A text as a properties file has it, whatever is in it.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            '\\' | '=' | ':' | '#' | '!' | ' ' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_survives() {
        for text in ["", " a b ", "#=:!\\", "C:\\data", "a\nb\tc\r", "über"] {
            let line = format!("{}={}\n", escaped("a key"), escaped(text));
            let properties = Properties::parse("test", &line).unwrap();
            let value = properties.get("a key").map(|entry| &*entry.value);
            assert_eq!(value, Some(text), "{line}");
        }
    }

    #[test]
    fn what_is_the_clusters_own_is_refused() {
        let wrong = lines(&[("listeners".into(), "PLAINTEXT://:1".into())]);
        assert!(matches!(wrong, Err(EmbeddedError::OwnProperty(key)) if key == "listeners"));
        let fine = lines(&[("min.insync.replicas".into(), "2".into())]).unwrap();
        assert_eq!(fine, "min.insync.replicas=2\n");
    }
}
