use std::collections::{BTreeMap, BTreeSet};

use klamm_metadata::{Image, MetadataVersion, Partition, Topic, directory};
use klamm_protocol::{BrokerId, Uuid};

use crate::{ChangeRules, ElectionKind, Lost};

#[cfg(test)]
mod tests;

/// What the node's own configuration says, where nothing dynamic does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerConfig {
    /// `node.id`.
    pub node_id: BrokerId,
    /// `min.insync.replicas`.
    pub min_insync_replicas: usize,
    /// `unclean.leader.election.enable`.
    pub unclean_leader_election: bool,
    /// `num.partitions`: how many a new topic has that does not say.
    pub num_partitions: i32,
    /// `default.replication.factor`: how many replicas a new topic has that does not say.
    pub default_replication_factor: i16,
    /// The nodes of `controller.quorum.voters`; none where the quorum's own log says who votes.
    pub voters: BTreeSet<BrokerId>,
    /// What the node's file sets, as it stands there: topics and groups take values from it.
    pub properties: BTreeMap<String, String>,
}

/// A config that elections read, at every level where it may be set: the topic, the controller's own
/// node, all nodes, the node's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ElectionConfig {
    /// How many replicas must be in sync for a partition to be written to.
    MinInsyncReplicas,
    /// Whether a replica that is not in sync may lead where no other can.
    UncleanLeaderElection,
}

impl ElectionConfig {
    /// Every one.
    pub const ALL: [Self; 2] = [Self::MinInsyncReplicas, Self::UncleanLeaderElection];

    /// Its key, which is the same for topics and for nodes.
    pub fn key(self) -> &'static str {
        match self {
            Self::MinInsyncReplicas => "min.insync.replicas",
            Self::UncleanLeaderElection => "unclean.leader.election.enable",
        }
    }
}

impl ControllerConfig {
    /// Kafka's defaults.
    pub fn new(node_id: BrokerId) -> Self {
        Self {
            node_id,
            min_insync_replicas: 1,
            unclean_leader_election: false,
            num_partitions: 1,
            default_replication_factor: 1,
            voters: BTreeSet::new(),
            properties: BTreeMap::new(),
        }
    }
}

/// What handlers decide on: the cluster's metadata as the active controller has it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    image: &'a Image,
    config: &'a ControllerConfig,
    metadata_version: MetadataVersion,
    lost: Option<&'a Lost>,
    coming: Option<BrokerId>,
    leaving: Option<BrokerId>,
}

impl<'a> View<'a> {
    /// A view; `None` while the log has no `metadata.version` yet, with which every log begins.
    pub fn new(image: &'a Image, config: &'a ControllerConfig) -> Option<Self> {
        let metadata_version = image.features().metadata_version()?;
        Some(Self {
            image,
            config,
            metadata_version,
            lost: None,
            coming: None,
            leaving: None,
        })
    }

    /// The same while it is not certain that some brokers are gone.
    pub fn awaiting(self, lost: &'a Lost) -> Self {
        let lost = Some(lost);
        Self { lost, ..self }
    }

    /// The same in the moment in which a broker comes back, and is awaited no longer.
    pub(crate) fn as_comes(self, broker: BrokerId) -> Self {
        let coming = Some(broker);
        Self { coming, ..self }
    }

    /// The same while a broker leaves that has its records still: what only that one may have is not
    /// given up for another leader.
    pub(crate) fn as_left_by(self, broker: BrokerId) -> Self {
        let leaving = Some(broker);
        Self { leaving, ..self }
    }

    /// Whether a partition's records may be with a broker alone that may come back.
    pub(crate) fn awaits(&self, partition: &Partition) -> bool {
        let cluster = self.image.cluster();
        let mut has_all = partition.isr().iter().chain(partition.elr().iter());
        if has_all.any(|id| self.leaving == Some(*id)) {
            return true;
        }
        self.lost
            .is_some_and(|lost| lost.may_have(cluster, partition, self.coming))
    }

    /// The kind of election that nobody asks for: as unclean as the topic allows.
    pub(crate) fn automatic(&self, topic: &Topic, partition: &Partition) -> ElectionKind {
        match self.allows_unclean_elections(topic) {
            _ if self.awaits(partition) => ElectionKind::CleanOnly,
            true => ElectionKind::Unclean,
            false => ElectionKind::Online,
        }
    }

    /// The node's configuration.
    pub(crate) fn config(&self) -> &'a ControllerConfig {
        self.config
    }

    /// The cluster's metadata.
    pub fn image(&self) -> &'a Image {
        self.image
    }

    /// The finalized `metadata.version`.
    pub fn metadata_version(&self) -> MetadataVersion {
        self.metadata_version
    }

    /// What bears on changes of a topic's partitions.
    pub fn rules(&self, topic: &Topic, election: ElectionKind) -> ChangeRules {
        ChangeRules {
            metadata_version: self.metadata_version,
            elr_enabled: self.image.features().elr_enabled(),
            min_isr: self.min_isr(topic),
            election,
        }
    }

    /// How many replicas must be in sync for a topic to be written to: `min.insync.replicas`, and no
    /// more than its first partition has replicas.
    pub fn min_isr(&self, topic: &Topic) -> usize {
        let value = self.topic_value(topic, ElectionConfig::MinInsyncReplicas);
        let wanted = value.and_then(|value| value.trim().parse().ok());
        let first = topic.partitions().next();
        let replicas = first.map_or(usize::MAX, |(_, partition)| partition.replicas().len());
        wanted
            .unwrap_or(self.config.min_insync_replicas)
            .min(replicas)
    }

    /// Whether `unclean.leader.election.enable` holds for a topic.
    pub fn allows_unclean_elections(&self, topic: &Topic) -> bool {
        match self.topic_value(topic, ElectionConfig::UncleanLeaderElection) {
            Some(value) => value.trim().eq_ignore_ascii_case("true"),
            None => self.config.unclean_leader_election,
        }
    }

    /// Whether a replica may lead and be in sync: its broker is active and its directory online.
    pub fn is_live(&self, partition: &Partition, broker: BrokerId) -> bool {
        self.image.cluster().is_active(broker) && self.has_online_dir(partition, broker)
    }

    /// Whether the broker has a replica in a directory that is online.
    pub(crate) fn has_online_dir(&self, partition: &Partition, broker: BrokerId) -> bool {
        let registered = self.image.cluster().broker(broker);
        let directory = partition.directory(broker);
        registered
            .zip(directory)
            .is_some_and(|(broker, id)| broker.has_online_dir(id))
    }

    /// The directory of a new replica: the broker's only one, or one that it is to choose.
    pub fn default_dir(&self, broker: BrokerId) -> Uuid {
        match self
            .image
            .cluster()
            .broker(broker)
            .map(|broker| &broker.log_dirs[..])
        {
            Some([]) => directory::MIGRATING,
            Some([only]) => *only,
            _ => directory::UNASSIGNED,
        }
    }

    /// What holds for a key of the controller's own node: set for it, for all nodes, or in its file.
    pub fn node_value(&self, key: &str) -> Option<&'a str> {
        let dynamic = self.image.configs().node_value(self.config.node_id, key);
        dynamic.or_else(|| self.config.properties.get(key).map(|value| &**value))
    }

    /// Whether a node is a controller, as far as it is known.
    pub(crate) fn is_controller(&self, id: BrokerId) -> bool {
        let config = self.config;
        id == config.node_id
            || config.voters.contains(&id)
            || self.image.cluster().controller(id).is_some()
    }

    fn topic_value(&self, topic: &Topic, config: ElectionConfig) -> Option<&'a str> {
        self.image
            .configs()
            .topic_value(topic.name(), self.config.node_id, config.key())
    }
}
