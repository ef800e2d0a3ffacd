//! Where the value of a config comes from.

use std::borrow::Cow;

use klamm_metadata::ConfigResource;
use klamm_metadata::config_keys::{ConfigKey, broker_key};

use crate::View;

/// Where a value comes from. The numbers are those of DescribeConfigs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ConfigSource {
    /// It was set for the topic.
    Topic = 1,
    /// It was set for the node.
    Node = 2,
    /// It was set for all nodes.
    AllNodes = 3,
    /// It is in the node's file.
    File = 4,
    /// Nobody has set it.
    Default = 5,
    /// It was set for the client metrics subscription.
    ClientMetrics = 7,
    /// It was set for the group.
    Group = 8,
}

impl ConfigSource {
    /// The code in DescribeConfigs and CreateTopics.
    pub(crate) fn to_wire(self) -> i8 {
        self as i8
    }
}

impl<'a> View<'a> {
    /// What a source that is not the resource itself has for a key of nodes.
    pub(crate) fn node_value_of(&self, source: ConfigSource, name: &str) -> Option<&'a str> {
        let configs = self.image().configs();
        match source {
            ConfigSource::Node => configs.value(&ConfigResource::node(self.config().node_id), name),
            ConfigSource::AllNodes => configs.value(&ConfigResource::all_nodes(), name),
            ConfigSource::File => self.file_value(name),
            ConfigSource::Default => broker_key(name)?.default,
            _ => None,
        }
    }

    /// What the node's file sets; an id has two names.
    fn file_value(&self, name: &str) -> Option<&'a str> {
        let file = &self.config().properties;
        let other = match name {
            "broker.id" => "node.id",
            "node.id" => "broker.id",
            _ => name,
        };
        file.get(name)
            .or_else(|| file.get(other))
            .map(|value| &**value)
    }

    /// The value of a topic or group that sets none, and where it comes from. `of_node` says what a
    /// source has for a key of nodes.
    pub(crate) fn inherited(
        &self,
        key: &ConfigKey,
        of_node: impl Fn(&Self, ConfigSource, &str) -> Option<&'a str>,
    ) -> (ConfigSource, Option<Cow<'a, str>>) {
        for source in [
            ConfigSource::Node,
            ConfigSource::AllNodes,
            ConfigSource::File,
        ] {
            let mut values = key.synonyms.iter().filter_map(|synonym| {
                let value = of_node(self, source, synonym.name)?;
                Some(synonym.convert(value))
            });
            if let Some(value) = values.next() {
                return (source, Some(value));
            }
        }
        (ConfigSource::Default, key.default.map(Cow::Borrowed))
    }
}
