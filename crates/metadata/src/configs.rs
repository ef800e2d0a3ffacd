use std::collections::BTreeMap;

use klamm_protocol::data::metadata::ConfigRecord;

use crate::Record;

/// What a dynamic config belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigResource {
    /// The kind of resource.
    pub kind: ConfigResourceKind,
    /// Its name: a topic's, a node's id, or empty for the default of all nodes.
    pub name: Box<str>,
}

/// The kind of a config resource as it is on the wire. Kinds that are not named here are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigResourceKind(pub i8);

impl ConfigResourceKind {
    /// A topic.
    pub const TOPIC: Self = Self(2);
    /// A broker or controller, or all of them.
    pub const BROKER: Self = Self(4);
    /// A node's loggers.
    pub const BROKER_LOGGER: Self = Self(8);
    /// A client metrics subscription.
    pub const CLIENT_METRICS: Self = Self(16);
    /// A group.
    pub const GROUP: Self = Self(32);
}

impl ConfigResource {
    /// A resource.
    pub fn new(kind: ConfigResourceKind, name: &str) -> Self {
        let name = name.into();
        Self { kind, name }
    }

    /// A topic.
    pub fn topic(name: &str) -> Self {
        Self::new(ConfigResourceKind::TOPIC, name)
    }

    /// One broker or controller.
    pub fn node(id: klamm_protocol::BrokerId) -> Self {
        Self::new(ConfigResourceKind::BROKER, &id.to_string())
    }

    /// All brokers and controllers.
    pub fn all_nodes() -> Self {
        Self::new(ConfigResourceKind::BROKER, "")
    }
}

/// The dynamic configs of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configs {
    resources: BTreeMap<ConfigResource, BTreeMap<Box<str>, Box<str>>>,
}

impl Configs {
    /// A value that was set for this very resource.
    pub fn value(&self, resource: &ConfigResource, key: &str) -> Option<&str> {
        self.resources.get(resource)?.get(key).map(|value| &**value)
    }

    /// What was set for this very resource, in the order of the keys.
    pub fn values(&self, resource: &ConfigResource) -> impl Iterator<Item = (&str, &str)> {
        let values = self.resources.get(resource);
        values
            .into_iter()
            .flatten()
            .map(|(key, value)| (&**key, &**value))
    }

    /// Every resource for which something was set.
    pub fn resources(&self) -> impl Iterator<Item = &ConfigResource> {
        self.resources.keys()
    }

    /// The value that holds for a node: its own, else that of all nodes.
    pub fn node_value(&self, id: klamm_protocol::BrokerId, key: &str) -> Option<&str> {
        self.value(&ConfigResource::node(id), key)
            .or_else(|| self.value(&ConfigResource::all_nodes(), key))
    }

    /// The value that holds for a topic, as the node sees it: the topic's own, else the node's, else
    /// that of all nodes. Where there is none, the node's file and Kafka's default decide.
    pub fn topic_value(
        &self,
        topic: &str,
        node: klamm_protocol::BrokerId,
        key: &str,
    ) -> Option<&str> {
        self.value(&ConfigResource::topic(topic), key)
            .or_else(|| self.node_value(node, key))
    }

    pub(crate) fn set(&mut self, record: &ConfigRecord) {
        let kind = ConfigResourceKind(record.resource_type);
        let resource = ConfigResource::new(kind, &record.resource_name);
        match &record.value {
            Some(value) => {
                let values = self.resources.entry(resource).or_default();
                values.insert(Box::from(&*record.name), Box::from(&**value));
            }
            None => {
                let Some(values) = self.resources.get_mut(&resource) else {
                    return;
                };
                values.remove(&*record.name);
                if values.is_empty() {
                    self.resources.remove(&resource);
                }
            }
        }
    }

    pub(crate) fn forget_topic(&mut self, name: &str) {
        self.resources.remove(&ConfigResource::topic(name));
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        self.resources.iter().flat_map(|(resource, values)| {
            values.iter().map(|(key, value)| {
                Record::Config(ConfigRecord {
                    resource_type: resource.kind.0,
                    resource_name: (&*resource.name).into(),
                    name: (&**key).into(),
                    value: Some((&**value).into()),
                    ..Default::default()
                })
            })
        })
    }
}
