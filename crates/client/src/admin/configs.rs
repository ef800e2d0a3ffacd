use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use klamm_protocol::messages::describe_configs::{
    DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResourceResult,
};
use klamm_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterableConfig, IncrementalAlterConfigsRequest,
};
use klamm_protocol::{BrokerId, SmallString};

use super::Admin;
use crate::ClientError;
use crate::call::{Call, Effect, Verdict};
use crate::client::Route;
use crate::error::ItemError;
use crate::retry::Deadline;

/// What a configuration belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigResource {
    /// The kind of the resource.
    pub kind: ConfigResourceKind,
    /// Its name: a topic's, a node's id, or empty for the default of all brokers.
    pub name: SmallString,
}

impl ConfigResource {
    /// A topic's configuration.
    pub fn topic(name: impl Into<SmallString>) -> Self {
        Self {
            kind: ConfigResourceKind::Topic,
            name: name.into(),
        }
    }

    /// A node's configuration.
    pub fn broker(node: BrokerId) -> Self {
        Self {
            kind: ConfigResourceKind::Broker,
            name: node.to_string().into(),
        }
    }

    /// The dynamic default of all brokers.
    pub fn broker_default() -> Self {
        Self {
            kind: ConfigResourceKind::Broker,
            name: SmallString::new(),
        }
    }

    /// The node that keeps this configuration, where only one does.
    fn node(&self) -> Option<BrokerId> {
        match self.kind {
            ConfigResourceKind::Broker | ConfigResourceKind::BrokerLogger => {
                self.name.parse().ok().map(BrokerId)
            }
            _ => None,
        }
    }
}

impl fmt::Display for ConfigResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.is_empty() {
            write!(f, "{} default", self.kind)
        } else {
            write!(f, "{} {}", self.kind, self.name)
        }
    }
}

/// The kinds of resources that have a configuration, with their numbers in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ConfigResourceKind {
    /// A topic.
    Topic,
    /// A broker or controller, or the default of all.
    Broker,
    /// A broker's log levels.
    BrokerLogger,
    /// A client metrics subscription.
    ClientMetrics,
    /// A group.
    Group,
    /// A kind that this release does not know.
    Other(i8),
}

impl ConfigResourceKind {
    fn wire(self) -> i8 {
        match self {
            Self::Topic => 2,
            Self::Broker => 4,
            Self::BrokerLogger => 8,
            Self::ClientMetrics => 16,
            Self::Group => 32,
            Self::Other(number) => number,
        }
    }

    fn from_wire(number: i8) -> Self {
        match number {
            2 => Self::Topic,
            4 => Self::Broker,
            8 => Self::BrokerLogger,
            16 => Self::ClientMetrics,
            32 => Self::Group,
            number => Self::Other(number),
        }
    }
}

impl fmt::Display for ConfigResourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topic => f.write_str("topic"),
            Self::Broker => f.write_str("broker"),
            Self::BrokerLogger => f.write_str("broker logger"),
            Self::ClientMetrics => f.write_str("client metrics"),
            Self::Group => f.write_str("group"),
            Self::Other(number) => write!(f, "resource type {number}"),
        }
    }
}

/// Where a value comes from, with its number in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConfigSource {
    /// The topic's own dynamic configuration.
    DynamicTopic,
    /// The broker's own dynamic configuration.
    DynamicBroker,
    /// The dynamic default of all brokers.
    DynamicBrokerDefault,
    /// The broker's properties file.
    StaticBroker,
    /// Kafka's default.
    Default,
    /// The broker logger's dynamic configuration.
    DynamicBrokerLogger,
    /// The client metrics subscription's own configuration.
    ClientMetrics,
    /// The group's own configuration.
    Group,
    /// A source that this release does not know, or none.
    Other(i8),
}

impl ConfigSource {
    fn from_wire(number: i8) -> Self {
        match number {
            1 => Self::DynamicTopic,
            2 => Self::DynamicBroker,
            3 => Self::DynamicBrokerDefault,
            4 => Self::StaticBroker,
            5 => Self::Default,
            6 => Self::DynamicBrokerLogger,
            7 => Self::ClientMetrics,
            8 => Self::Group,
            number => Self::Other(number),
        }
    }
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigEntry {
    /// The value; `None` where it is not set, or secret.
    pub value: Option<SmallString>,
    /// Whether it cannot be changed at run time.
    pub read_only: bool,
    /// Whether it is secret.
    pub sensitive: bool,
    /// Where it comes from.
    pub source: ConfigSource,
    /// Every place that sets it, the one in force first, where that was asked for.
    pub synonyms: Vec<ConfigSynonym>,
    /// What it means, where that was asked for.
    pub documentation: Option<SmallString>,
}

/// A place that sets a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigSynonym {
    /// The key there, which may be another.
    pub name: SmallString,
    /// The value there.
    pub value: Option<SmallString>,
    /// The place.
    pub source: ConfigSource,
}

/// Options of [`Admin::describe_configs`].
#[derive(Clone, Debug, Default)]
pub struct DescribeConfigsOptions {
    /// How long the call may take, `default_api_timeout` if `None`.
    pub timeout: Option<Duration>,
    /// The keys to tell; `None` tells all.
    pub keys: Option<Vec<SmallString>>,
    /// Whether to tell every place that sets a value.
    pub synonyms: bool,
    /// Whether to tell what a key means.
    pub documentation: bool,
}

/// What becomes of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigOperation {
    /// It gets this value.
    Set(SmallString),
    /// It goes back to its default.
    Delete,
    /// This is added to its list.
    Append(SmallString),
    /// This is removed from its list.
    Subtract(SmallString),
}

/// A change of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigChange {
    /// The key.
    pub name: SmallString,
    /// What becomes of it.
    pub operation: ConfigOperation,
}

/// Options of [`Admin::incremental_alter_configs`].
#[derive(Clone, Debug, Default)]
pub struct AlterConfigsOptions {
    /// How long the call may take, `default_api_timeout` if `None`.
    pub timeout: Option<Duration>,
    /// Whether the request is only checked.
    pub validate_only: bool,
}

impl Admin {
    /// Describes configurations. A node's own is asked of that node, all others of any.
    pub async fn describe_configs(
        &self,
        resources: &[ConfigResource],
        options: &DescribeConfigsOptions,
    ) -> Result<
        BTreeMap<ConfigResource, Result<BTreeMap<SmallString, ConfigEntry>, ItemError>>,
        ClientError,
    > {
        let deadline = self.deadline(options.timeout);
        let mut results = left_out(resources);
        for (route, resources) in by_route(resources, Route::Any) {
            self.describe_some(route, &resources, options, deadline, &mut results)
                .await?;
        }
        Ok(results)
    }

    /// Changes configurations (KIP-339), all keys of a resource or none.
    pub async fn incremental_alter_configs(
        &self,
        changes: &BTreeMap<ConfigResource, Vec<ConfigChange>>,
        options: AlterConfigsOptions,
    ) -> Result<BTreeMap<ConfigResource, Result<(), ItemError>>, ClientError> {
        let deadline = self.deadline(options.timeout);
        let resources: Vec<_> = changes.keys().cloned().collect();
        let mut results = left_out(&resources);
        for (route, resources) in by_route(&resources, Route::Controller) {
            // Adding to a list that has the value, or taking it away where it is not, does nothing.
            let effect = if options.validate_only {
                Effect::Read
            } else {
                Effect::Repeatable
            };
            let wire: Vec<_> = resources
                .iter()
                .filter_map(|resource| Some(alterable(resource, changes.get(resource)?)))
                .collect();
            let answer = Call::new(route, effect, deadline)
                .make(
                    &self.client,
                    |_version, _timeout_ms| IncrementalAlterConfigsRequest {
                        resources: wire.clone(),
                        validate_only: options.validate_only,
                        ..Default::default()
                    },
                    |_version, response| {
                        Verdict::of_items(response.responses.iter().map(|item| item.error_code))
                    },
                )
                .await?;
            results.extend(answer.response.responses.into_iter().map(|item| {
                let kind = ConfigResourceKind::from_wire(item.resource_type);
                let resource = ConfigResource {
                    kind,
                    name: item.resource_name,
                };
                (
                    resource,
                    ItemError::check(item.error_code, item.error_message),
                )
            }));
        }
        Ok(results)
    }

    async fn describe_some(
        &self,
        route: Route,
        resources: &[ConfigResource],
        options: &DescribeConfigsOptions,
        deadline: Deadline,
        results: &mut BTreeMap<
            ConfigResource,
            Result<BTreeMap<SmallString, ConfigEntry>, ItemError>,
        >,
    ) -> Result<(), ClientError> {
        let wire: Vec<_> = resources
            .iter()
            .map(|resource| DescribeConfigsResource {
                resource_type: resource.kind.wire(),
                resource_name: resource.name.clone(),
                configuration_keys: options.keys.clone(),
                ..Default::default()
            })
            .collect();
        let mut call = Call::new(route, Effect::Read, deadline);
        if options.documentation {
            call = call.needing(3, "documentation");
        }
        let answer = call
            .make(
                &self.client,
                |_version, _timeout_ms| DescribeConfigsRequest {
                    resources: wire.clone(),
                    include_synonyms: options.synonyms,
                    include_documentation: options.documentation,
                    ..Default::default()
                },
                |_version, response| {
                    Verdict::of_items(response.results.iter().map(|item| item.error_code))
                },
            )
            .await?;
        results.extend(answer.response.results.into_iter().map(|item| {
            let kind = ConfigResourceKind::from_wire(item.resource_type);
            let resource = ConfigResource {
                kind,
                name: item.resource_name,
            };
            let entries = item.configs.into_iter().map(entry).collect();
            (
                resource,
                ItemError::check(item.error_code, item.error_message).map(|()| entries),
            )
        }));
        Ok(())
    }
}

/// Groups resources by the server that they are asked of.
fn by_route(resources: &[ConfigResource], other: Route) -> Vec<(Route, Vec<ConfigResource>)> {
    let mut groups: Vec<(Route, Vec<ConfigResource>)> = Vec::new();
    for resource in resources {
        let route = resource.node().map_or(other, Route::Node);
        match groups.iter_mut().find(|(known, _)| *known == route) {
            Some((_, group)) => group.push(resource.clone()),
            None => groups.push((route, vec![resource.clone()])),
        }
    }
    groups
}

fn left_out<T>(resources: &[ConfigResource]) -> BTreeMap<ConfigResource, Result<T, ItemError>> {
    resources
        .iter()
        .map(|resource| (resource.clone(), Err(ItemError::left_out())))
        .collect()
}

fn alterable(resource: &ConfigResource, changes: &[ConfigChange]) -> AlterConfigsResource {
    let configs = changes.iter().map(|change| {
        let (config_operation, value) = match &change.operation {
            ConfigOperation::Set(value) => (0, Some(value)),
            ConfigOperation::Delete => (1, None),
            ConfigOperation::Append(value) => (2, Some(value)),
            ConfigOperation::Subtract(value) => (3, Some(value)),
        };
        AlterableConfig {
            name: change.name.clone(),
            config_operation,
            value: value.cloned(),
            ..Default::default()
        }
    });
    AlterConfigsResource {
        resource_type: resource.kind.wire(),
        resource_name: resource.name.clone(),
        configs: configs.collect(),
        ..Default::default()
    }
}

fn entry(config: DescribeConfigsResourceResult) -> (SmallString, ConfigEntry) {
    let synonyms = config.synonyms.into_iter().map(|synonym| ConfigSynonym {
        name: synonym.name,
        value: synonym.value,
        source: ConfigSource::from_wire(synonym.source),
    });
    let entry = ConfigEntry {
        value: config.value,
        read_only: config.read_only,
        sensitive: config.is_sensitive,
        source: ConfigSource::from_wire(config.config_source),
        synonyms: synonyms.collect(),
        documentation: config.documentation,
    };
    (config.name, entry)
}
