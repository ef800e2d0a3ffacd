use std::collections::BTreeMap;

use klamm_protocol::BrokerId;
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
    pub fn node(id: BrokerId) -> Self {
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
    /// By kind and name, so that a look-up needs no resource of its own.
    resources: BTreeMap<ConfigResourceKind, BTreeMap<Box<str>, Values>>,
}

/// What was set for one resource, by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Values(BTreeMap<Box<str>, Box<str>>);

impl Configs {
    /// A value that was set for this very resource.
    pub fn value(&self, resource: &ConfigResource, key: &str) -> Option<&str> {
        self.lookup(resource.kind, &resource.name, key)
    }

    /// What was set for this very resource, in the order of the keys.
    pub fn values(&self, resource: &ConfigResource) -> impl Iterator<Item = (&str, &str)> {
        let names = self.resources.get(&resource.kind);
        let values = names.and_then(|names| names.get(&resource.name));
        let values = values.into_iter().flat_map(|values| &values.0);
        values.map(|(key, value)| (&**key, &**value))
    }

    /// Every resource for which something was set.
    pub fn resources(&self) -> impl Iterator<Item = ConfigResource> {
        let named = |(kind, names): (&ConfigResourceKind, _)| {
            let kind = *kind;
            let names: &BTreeMap<Box<str>, Values> = names;
            names
                .keys()
                .map(move |name| ConfigResource::new(kind, name))
                .collect::<Vec<_>>()
        };
        self.resources.iter().flat_map(named)
    }

    /// The value that holds for a node: its own, else that of all nodes.
    pub fn node_value(&self, id: BrokerId, key: &str) -> Option<&str> {
        // Most clusters have no dynamic config of a node.
        self.resources.get(&ConfigResourceKind::BROKER)?;
        let of_node = self.lookup(ConfigResourceKind::BROKER, &id.to_string(), key);
        of_node.or_else(|| self.lookup(ConfigResourceKind::BROKER, "", key))
    }

    /// The value that holds for a topic, as the node sees it: the topic's own, else the node's, else
    /// that of all nodes. Where there is none, the node's file and Kafka's default decide.
    pub fn topic_value(&self, topic: &str, node: BrokerId, key: &str) -> Option<&str> {
        let of_topic = self.lookup(ConfigResourceKind::TOPIC, topic, key);
        of_topic.or_else(|| self.node_value(node, key))
    }

    fn lookup(&self, kind: ConfigResourceKind, name: &str, key: &str) -> Option<&str> {
        let value = self.resources.get(&kind)?.get(name)?.0.get(key)?;
        Some(value)
    }

    pub(crate) fn set(&mut self, record: &ConfigRecord) {
        let kind = ConfigResourceKind(record.resource_type);
        let name = &*record.resource_name;
        match &record.value {
            Some(value) => {
                let names = self.resources.entry(kind).or_default();
                let values = names.entry(Box::from(name)).or_default();
                values
                    .0
                    .insert(Box::from(&*record.name), Box::from(&**value));
            }
            None => self.change(kind, name, |values| _ = values.0.remove(&*record.name)),
        }
    }

    pub(crate) fn forget_topic(&mut self, name: &str) {
        self.change(ConfigResourceKind::TOPIC, name, |values| values.0.clear());
    }

    /// Takes values away, and with the last one the resource.
    fn change(&mut self, kind: ConfigResourceKind, name: &str, change: impl FnOnce(&mut Values)) {
        let Some(names) = self.resources.get_mut(&kind) else {
            return;
        };
        if let Some(values) = names.get_mut(name) {
            change(values);
            if values.0.is_empty() {
                names.remove(name);
            }
        }
        if names.is_empty() {
            self.resources.remove(&kind);
        }
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        self.resources.iter().flat_map(|(kind, names)| {
            names.iter().flat_map(|(resource, values)| {
                values.0.iter().map(|(key, value)| {
                    Record::Config(ConfigRecord {
                        resource_type: kind.0,
                        resource_name: (&**resource).into(),
                        name: (&**key).into(),
                        value: Some((&**value).into()),
                        ..Default::default()
                    })
                })
            })
        })
    }
}
