use std::collections::{BTreeMap, BTreeSet};

use klamm_metadata::config_keys::{
    BrokerKey, CLIENT_METRICS_KEYS, ConfigKey, ConfigType, GROUP_KEYS, TOPIC_KEYS, broker_key,
    broker_keys,
};
use klamm_metadata::{ConfigResource, ConfigResourceKind, ResourceType};
use klamm_protocol::messages::describe_configs::{
    DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResourceResult,
    DescribeConfigsResponse, DescribeConfigsResult, DescribeConfigsSynonym,
};
use klamm_protocol::{ErrorCode, SmallString};

use crate::View;
use crate::config_source::ConfigSource;
use crate::configs::guard;
use crate::create_topics::check_name;
use crate::refusal::Refusal;

#[cfg(test)]
mod tests;

/// A request to see configs, answered by the controller itself: of its own node, all nodes, topics,
/// groups and client metrics. What it is for is not told of any config.
#[derive(Clone, Copy)]
pub struct DescribeConfigs<'a> {
    /// The request.
    pub request: &'a DescribeConfigsRequest,
    /// Whether the client may see the configs of the resource with a kind and name.
    pub may_describe: &'a dyn Fn(ResourceType, &str) -> bool,
}

/// One config of an answer, before its synonyms are left out.
struct Described {
    name: SmallString,
    value: Option<String>,
    kind: Option<ConfigType>,
    read_only: bool,
    synonyms: Vec<DescribeConfigsSynonym>,
}

impl DescribeConfigs<'_> {
    /// Answers for every resource on its own, in the request's order.
    pub fn answer(&self, view: &View<'_>) -> DescribeConfigsResponse {
        let results = self.request.resources.iter().map(|asked| {
            let described = self.describe(view, asked);
            let refusal = described.as_ref().err();
            DescribeConfigsResult {
                error_code: refusal.map_or(0, |refusal| refusal.code.0),
                // Where all is well Apache Kafka leaves the schema's default, an empty text.
                error_message: match refusal {
                    None => Some("".into()),
                    Some(refusal) => Some(&*refusal.text)
                        .filter(|text| !text.is_empty())
                        .map(Into::into),
                },
                resource_type: asked.resource_type,
                resource_name: asked.resource_name.clone(),
                configs: described.unwrap_or_default(),
                ..Default::default()
            }
        });
        DescribeConfigsResponse {
            results: results.collect(),
            ..Default::default()
        }
    }

    fn describe(
        &self,
        view: &View<'_>,
        asked: &DescribeConfigsResource,
    ) -> Result<Vec<DescribeConfigsResourceResult>, Refusal> {
        let kind = ConfigResourceKind(asked.resource_type);
        let name = &*asked.resource_name;
        let guarded = match kind {
            ConfigResourceKind::BROKER_LOGGER => ConfigResourceKind::BROKER,
            kind => kind,
        };
        let (resource_type, resource_name, code) = guard(guarded, name)?;
        if !(self.may_describe)(resource_type, resource_name) {
            return Err(Refusal::unauthorized(code));
        }
        let described = match kind {
            ConfigResourceKind::TOPIC => topic(view, name)?,
            ConfigResourceKind::BROKER if name.is_empty() => all_nodes(view),
            ConfigResourceKind::BROKER => {
                check_is_own(view, name, "or empty string, ")?;
                own_node(view)
            }
            ConfigResourceKind::BROKER_LOGGER => {
                if name.is_empty() {
                    return Err(invalid("Broker id must not be empty"));
                }
                check_is_own(view, name, "")?;
                Vec::new()
            }
            ConfigResourceKind::CLIENT_METRICS => client_metrics(view, name)?,
            _ => group(view, name)?,
        };
        let wanted = asked.configuration_keys.as_deref().unwrap_or_default();
        let is_wanted = |described: &Described| {
            wanted.is_empty() || wanted.iter().any(|key| **key == *described.name)
        };
        let described = described.into_iter().filter(is_wanted);
        Ok(described.map(|config| self.result(config)).collect())
    }

    fn result(&self, described: Described) -> DescribeConfigsResourceResult {
        let is_sensitive = described.kind.is_none_or(ConfigType::is_secret);
        let shown = |value: Option<SmallString>| value.filter(|_| !is_sensitive);
        let mut synonyms = described.synonyms;
        let source = synonyms.first().map_or(5, |first| first.source);
        if !self.request.include_synonyms {
            synonyms.clear();
        }
        for synonym in &mut synonyms {
            synonym.value = shown(synonym.value.take());
        }
        DescribeConfigsResourceResult {
            name: described.name,
            value: shown(described.value.map(|value| (&*value).into())),
            read_only: described.read_only,
            config_source: source,
            is_sensitive,
            synonyms,
            config_type: described.kind.map_or(0, ConfigType::to_wire),
            documentation: None,
            ..Default::default()
        }
    }
}

fn topic(view: &View<'_>, name: &str) -> Result<Vec<Described>, Refusal> {
    check_name(name)?;
    if view.image().topics().by_name(name).is_none() {
        // Kafka says no more than that.
        return Err(Refusal::new(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, ""));
    }
    let resource = ConfigResource::topic(name);
    let of_node = |key: &ConfigKey| key.synonyms.first().map(|main| main.name);
    let described = described(view, TOPIC_KEYS, &resource, ConfigSource::Topic, of_node);
    Ok(described)
}

fn group(view: &View<'_>, name: &str) -> Result<Vec<Described>, Refusal> {
    if name.is_empty() {
        return Err(invalid("Group name must not be empty"));
    }
    let resource = ConfigResource::new(ConfigResourceKind::GROUP, name);
    let of_node = |key: &ConfigKey| match key.name {
        "streams.assignor.name" => Some("group.streams.assignors"),
        _ => key.synonyms.first().map(|main| main.name),
    };
    let mut described = described(view, GROUP_KEYS, &resource, ConfigSource::Group, of_node);
    for config in &mut described {
        // The first assignor is the one that holds where none is named.
        if &*config.name == "streams.assignor.name" && config.value.is_none() {
            let assignors = view.node_value("group.streams.assignors");
            let assignors =
                assignors.or(broker_key("group.streams.assignors").and_then(|key| key.default));
            let first = assignors.and_then(|names| names.split(',').next());
            config.value = first.map(|name| name.trim().to_owned());
        }
        if config.synonyms.is_empty() {
            let value = config.value.as_deref();
            config
                .synonyms
                .push(synonym(&config.name, value, ConfigSource::Default));
        }
    }
    Ok(described)
}

fn client_metrics(view: &View<'_>, name: &str) -> Result<Vec<Described>, Refusal> {
    if name.is_empty() {
        let text = "Client metrics subscription name must not be empty";
        return Err(invalid(text));
    }
    let resource = ConfigResource::new(ConfigResourceKind::CLIENT_METRICS, name);
    let source = ConfigSource::ClientMetrics;
    Ok(described(
        view,
        CLIENT_METRICS_KEYS,
        &resource,
        source,
        |_| None,
    ))
}

/// Every key of a table, and whatever else is set, in the order of the names. `of_node` names the key
/// of nodes that a key's value is taken from.
fn described(
    view: &View<'_>,
    table: &'static [ConfigKey],
    resource: &ConfigResource,
    source: ConfigSource,
    of_node: impl Fn(&ConfigKey) -> Option<&'static str>,
) -> Vec<Described> {
    let configs = view.image().configs();
    let set: BTreeMap<&str, &str> = configs.values(resource).collect();
    let mut all: BTreeMap<&str, Option<&'static ConfigKey>> =
        set.keys().map(|name| (*name, None)).collect();
    for key in table {
        if !key.internal || set.contains_key(key.name) {
            all.insert(key.name, Some(key));
        }
    }
    let describe = |(name, key): (&str, Option<&'static ConfigKey>)| {
        let own = set.get(name).copied();
        let value = match (key, own) {
            (Some(key), own) => canonical(view, key, own),
            (None, own) => own.map(str::to_owned),
        };
        let mut synonyms = match key.and_then(&of_node) {
            Some(main) => node_synonyms(view, main, &BrokerKey::synonyms(main)),
            None => Vec::new(),
        };
        if own.is_some() {
            synonyms.insert(0, synonym(name, value.as_deref(), source));
        }
        Described {
            name: name.into(),
            value,
            kind: key.map(|key| key.kind),
            read_only: false,
            synonyms,
        }
    };
    all.into_iter().map(describe).collect()
}

/// The value of a key as Kafka writes it, or of what it inherits.
fn canonical(view: &View<'_>, key: &'static ConfigKey, own: Option<&str>) -> Option<String> {
    let inherited = || view.inherited(key, node_value).1;
    let text = own.map_or_else(inherited, |own| Some(own.into()))?;
    Some(match key.kind.parse(&text) {
        Ok(value) => value.canonical(),
        Err(_) => text.into_owned(),
    })
}

/// What is set for all nodes.
fn all_nodes(view: &View<'_>) -> Vec<Described> {
    let configs = view.image().configs();
    let resource = ConfigResource::all_nodes();
    let set = configs
        .values(&resource)
        .filter(|(name, value)| is_taken(name, value));
    let described = set.map(|(name, value)| {
        let synonyms = node_synonyms(view, name, &BrokerKey::synonyms(name));
        let source = ConfigSource::AllNodes.to_wire();
        Described {
            name: name.into(),
            value: Some(value.to_owned()),
            kind: broker_key(name).map(|key| key.kind),
            read_only: is_read_only(name),
            synonyms: synonyms
                .into_iter()
                .filter(|s| s.source == source)
                .collect(),
        }
    });
    described.collect()
}

/// What holds for the controller's own node.
fn own_node(view: &View<'_>) -> Vec<Described> {
    let configs = view.image().configs();
    let own = ConfigResource::node(view.config().node_id);
    let all = ConfigResource::all_nodes();
    let dynamic = configs.values(&own).chain(configs.values(&all));
    let dynamic = dynamic.filter(|(name, value)| is_taken(name, value));
    let file = view.config().properties.keys().map(|name| &**name);
    let listed = broker_keys()
        .filter(|key| !key.internal)
        .map(|key| key.name);
    let names = dynamic.map(|(name, _)| name).chain(file).chain(listed);
    let names: BTreeSet<&str> = names.collect();
    let described = names.into_iter().map(|name| {
        let synonyms = BrokerKey::synonyms(name);
        let known = broker_key(name);
        let value = held(view, name, &synonyms);
        let value = value.map(|text| match known.map(|key| key.kind.parse(text)) {
            Some(Ok(value)) => value.canonical(),
            _ => text.to_owned(),
        });
        Described {
            name: name.into(),
            value,
            kind: known.map(|key| key.kind),
            read_only: is_read_only(name),
            synonyms: node_synonyms(view, name, &synonyms),
        }
    });
    described.collect()
}

/// The value of a node. What is changed by one of its names is no more what the file says by another.
fn held<'a>(view: &View<'a>, name: &str, synonyms: &[&str]) -> Option<&'a str> {
    let [node, all_nodes, file, default] = NODE_SOURCES;
    let of = |source, name| node_value(view, source, name);
    let is_changed = |name| of(node, name).or(of(all_nodes, name)).is_some();
    let of_file = || match synonyms.iter().any(|name| is_changed(name)) {
        true => None,
        false => of(file, name),
    };
    let dynamic = of(node, name).or_else(|| of(all_nodes, name));
    dynamic.or_else(of_file).or_else(|| of(default, name))
}

/// Where values of nodes come from, the closest first.
const NODE_SOURCES: [ConfigSource; 4] = [
    ConfigSource::Node,
    ConfigSource::AllNodes,
    ConfigSource::File,
    ConfigSource::Default,
];

/// Everything that is set for the names of a key of nodes. As in Apache Kafka, what is set by another
/// name counts from the first that is set by its own on.
fn node_synonyms(view: &View<'_>, main: &str, names: &[&str]) -> Vec<DescribeConfigsSynonym> {
    let set = NODE_SOURCES.iter().flat_map(|source| {
        names.iter().filter_map(|name| {
            let value = node_value(view, *source, name)?;
            Some(synonym(name, Some(value), *source))
        })
    });
    set.skip_while(|set| *set.name != *main).collect()
}

/// What a source has for a key of nodes. A node takes no dynamic value that it could not use.
fn node_value<'a>(view: &View<'a>, source: ConfigSource, name: &str) -> Option<&'a str> {
    let value = view.node_value_of(source, name)?;
    let is_dynamic = matches!(source, ConfigSource::Node | ConfigSource::AllNodes);
    (!is_dynamic || is_taken(name, value)).then_some(value)
}

/// As in Apache Kafka, a listener's own key counts as one that cannot be changed.
fn is_read_only(name: &str) -> bool {
    broker_key(name).is_none_or(|key| !key.dynamic || key.name != name)
}

fn is_taken(name: &str, value: &str) -> bool {
    broker_key(name).is_none_or(|key| key.dynamic && key.kind.parse(value).is_ok())
}

fn synonym(name: &str, value: Option<&str>, source: ConfigSource) -> DescribeConfigsSynonym {
    DescribeConfigsSynonym {
        name: name.into(),
        value: value.map(Into::into),
        source: source.to_wire(),
        ..Default::default()
    }
}

fn check_is_own(view: &View<'_>, name: &str, or: &str) -> Result<(), Refusal> {
    let own = view.config().node_id;
    match name.parse::<i32>() {
        Ok(id) if id == own.0 => Ok(()),
        Ok(_) => Err(invalid(format!(
            "Unexpected broker id, expected {own} {or}but received {name}"
        ))),
        Err(_) => Err(invalid(format!(
            "Broker id must be an integer, but it is: {name}"
        ))),
    }
}

fn invalid(text: impl Into<String>) -> Refusal {
    Refusal::new(ErrorCode::INVALID_REQUEST, text)
}
