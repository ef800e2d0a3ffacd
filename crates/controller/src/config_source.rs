//! Where the value of a config comes from.

use std::borrow::Cow;

use klamm_metadata::ConfigResource;
use klamm_metadata::config_keys::ConfigKey;

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
            ConfigSource::File => self.config().properties.get(name).map(|value| &**value),
            _ => None,
        }
    }

    /// The value of a topic or group that sets none, and where it comes from.
    pub(crate) fn inherited(&self, key: &ConfigKey) -> (ConfigSource, Option<Cow<'a, str>>) {
        for source in [
            ConfigSource::Node,
            ConfigSource::AllNodes,
            ConfigSource::File,
        ] {
            let mut values = key.synonyms.iter().filter_map(|synonym| {
                let value = self.node_value_of(source, synonym.name)?;
                Some(synonym.convert(value))
            });
            if let Some(value) = values.next() {
                return (source, Some(value));
            }
        }
        (ConfigSource::Default, key.default.map(Cow::Borrowed))
    }
}
