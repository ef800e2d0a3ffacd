//! Changes of configs: what a request makes of them, and whether it may.

mod requests;

use std::collections::{BTreeMap, BTreeSet};

use klamm_metadata::config_keys::{
    self, ConfigError, ConfigType, broker_key, config_key, validate_client_metrics, validate_group,
    validate_topic,
};
use klamm_metadata::{ConfigResource, ConfigResourceKind, Record};
use klamm_protocol::data::metadata::{ClearElrRecord, ConfigRecord};
use klamm_protocol::{BrokerId, ErrorCode};

use crate::assignment::check_size;
use crate::create_topics::check_name;
use crate::refusal::Refusal;
use crate::{ElectionConfig, View};

pub(crate) use requests::{Request, authorize, guard, resource};

use requests::kind_name;

/// The longest value, in bytes: a record cannot carry more.
const MAX_VALUE_LEN: usize = i16::MAX as usize;

/// The config that says which log directories get no new replicas. It may be set by a broker for
/// itself; who asks the controller may take directories from it only.
const CORDONED: &str = "cordoned.log.dirs";

/// A change of one config.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op<'a> {
    /// It gets a value, or none.
    Set(Option<&'a str>),
    /// Items are added to its list.
    Append(&'a str),
    /// Items are taken from its list.
    Subtract(&'a str),
}

/// Where a change comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A client of the controller.
    Direct,
    /// A broker that has checked it.
    Forwarded,
    /// The creation of the resource.
    Creation,
}

/// Changes of a request to several resources.
pub(crate) struct ConfigChanges<'a> {
    view: View<'a>,
    origin: Origin,
    records: Vec<Record>,
}

impl<'a> ConfigChanges<'a> {
    pub(crate) fn new(view: View<'a>, origin: Origin) -> Self {
        Self {
            view,
            origin,
            records: Vec::new(),
        }
    }

    /// Changes some configs of a resource, all of them or none.
    pub(crate) fn change(
        &mut self,
        resource: &ConfigResource,
        ops: &[(&str, Op<'_>)],
    ) -> Result<(), Refusal> {
        let mut records = Vec::new();
        // Where a key is there twice, the last one counts.
        let last: BTreeMap<&str, usize> = (0..).zip(ops).map(|(at, (key, _))| (*key, at)).collect();
        for (at, (key, op)) in ops.iter().enumerate() {
            if last.get(key) != Some(&at) {
                continue;
            }
            let old = stored(self.view, resource, key);
            let new = match *op {
                Op::Set(value) => value.map(str::to_owned),
                Op::Append(items) => {
                    let mut list = list(resource, key, old, "APPEND")?;
                    for item in split(items) {
                        if !list.contains(&item) {
                            list.push(item);
                        }
                    }
                    Some(list.join(","))
                }
                Op::Subtract(items) => {
                    let mut list = list(resource, key, old, "SUBTRACT")?;
                    for item in split(items) {
                        if let Some(at) = list.iter().position(|known| *known == item) {
                            list.remove(at);
                        }
                    }
                    Some(list.join(","))
                }
            };
            // A node reads files again when its configs are set to what they are.
            if old != new.as_deref() || resource.kind == ConfigResourceKind::BROKER {
                records.push(record(resource, key, new.as_deref()));
            }
        }
        self.take(resource, records)
    }

    /// Gives a resource these configs instead of those that it has.
    pub(crate) fn replace(
        &mut self,
        resource: &ConfigResource,
        values: &BTreeMap<&str, Option<&str>>,
    ) -> Result<(), Refusal> {
        let mut records = Vec::new();
        for (key, value) in values {
            let is_changed = stored(self.view, resource, key) != *value;
            if is_changed || resource.kind == ConfigResourceKind::BROKER {
                records.push(record(resource, key, *value));
            }
        }
        for (key, _) in supported(self.view, resource) {
            if !values.contains_key(key) {
                records.push(record(resource, key, None));
            }
        }
        self.take(resource, records)
    }

    /// The records of all changes. Who is eligible to lead is so by the old `min.insync.replicas`;
    /// where that changes, nobody is any more.
    pub(crate) fn into_records(self) -> Vec<Record> {
        let mut records = self.records;
        if !self.view.image().features().elr_enabled() {
            return records;
        }
        let clears = records.iter().filter_map(|record| {
            let Record::Config(config) = record else {
                return None;
            };
            let is_topic = config.resource_type == ConfigResourceKind::TOPIC.0;
            let topic_name = config.resource_name.clone();
            let is_min_isr = *config.name == *ElectionConfig::MinInsyncReplicas.key();
            is_min_isr.then(|| {
                Record::from(ClearElrRecord {
                    topic_name: if is_topic { topic_name } else { "".into() },
                    ..Default::default()
                })
            })
        });
        let clears: Vec<Record> = clears.collect();
        records.extend(clears);
        records
    }

    fn take(
        &mut self,
        resource: &ConfigResource,
        records: Vec<ConfigRecord>,
    ) -> Result<(), Refusal> {
        self.check(resource, &records)?;
        check_size(&self.view, self.records.len(), records.len())?;
        self.records.extend(records.into_iter().map(Record::from));
        Ok(())
    }

    fn check(&self, resource: &ConfigResource, records: &[ConfigRecord]) -> Result<(), Refusal> {
        let view = self.view;
        let mut new: BTreeMap<&str, &str> = supported(view, resource).collect();
        for record in records {
            self.check_record(resource, record)?;
            match &record.value {
                Some(value) => new.insert(&record.name, value),
                None => new.remove(&*record.name),
            };
        }
        let node = |key: &str| view.node_value(key);
        match resource.kind {
            ConfigResourceKind::TOPIC => {
                check_topic_name(&resource.name)?;
                let old = |key: &str| stored(view, resource, key);
                validate_topic(&new, old, &node)?;
            }
            ConfigResourceKind::BROKER => check_node_name(&resource.name)?,
            ConfigResourceKind::CLIENT_METRICS => validate_client_metrics(&resource.name, &new)?,
            ConfigResourceKind::GROUP if resource.name.is_empty() => {
                return Err(invalid("Default group resources are not allowed."));
            }
            ConfigResourceKind::GROUP => validate_group(&new, &node)?,
            kind => return Err(unknown_kind(kind)),
        }
        match self.origin {
            Origin::Creation => Ok(()),
            Origin::Direct | Origin::Forwarded => check_exists(view, resource),
        }
    }

    fn check_record(
        &self,
        resource: &ConfigResource,
        record: &ConfigRecord,
    ) -> Result<(), Refusal> {
        let refuse = |text: String| Err(Refusal::new(ErrorCode::INVALID_CONFIG, text));
        let is_node = resource.kind == ConfigResourceKind::BROKER;
        let min_isr = ElectionConfig::MinInsyncReplicas.key();
        let is_held =
            is_node && *record.name == *min_isr && self.view.image().features().elr_enabled();
        if is_held && !resource.name.is_empty() {
            let text = format!("Broker-level {min_isr} cannot be altered while ELR is enabled.");
            return refuse(text);
        }
        if is_held && record.value.is_none() {
            let text = format!("Cluster-level {min_isr} cannot be removed while ELR is enabled.");
            return refuse(text);
        }
        if is_node && *record.name == *CORDONED {
            self.check_cordoned(resource, record)?;
        }
        match &record.value {
            Some(value) if value.len() > MAX_VALUE_LEN => refuse(format!(
                "The configuration value cannot be added because it exceeds the maximum value \
                 size of {MAX_VALUE_LEN} bytes."
            )),
            _ => Ok(()),
        }
    }

    fn check_cordoned(
        &self,
        resource: &ConfigResource,
        record: &ConfigRecord,
    ) -> Result<(), Refusal> {
        let refuse = |text: &str| Err(Refusal::new(ErrorCode::INVALID_CONFIG, text));
        if !self.view.metadata_version().allows_cordoned_log_dirs() {
            return refuse(
                "The cordoned.log.dirs configuration value cannot be set because it requires \
                 metadata.version >= 4.3-IV0",
            );
        }
        let items = |text: &str| -> BTreeSet<String> {
            let items = text.split(',').filter(|_| !text.trim().is_empty());
            items.map(|item| item.trim().to_owned()).collect()
        };
        let old = self.view.image().configs().value(resource, CORDONED);
        let old = old.map(items).unwrap_or_default();
        match &record.value {
            Some(value) if self.origin == Origin::Direct && !items(value).is_subset(&old) => {
                refuse(
                    "When updating cordoned.log.dirs via controllers,  the new value must be a \
                     subset of the current configuration value.",
                )
            }
            _ => Ok(()),
        }
    }
}

impl From<ConfigError> for Refusal {
    fn from(error: ConfigError) -> Self {
        let code = match error {
            ConfigError::UnknownClientMetricsKey(_)
            | ConfigError::NoSubscription
            | ConfigError::Interval(_) => ErrorCode::INVALID_REQUEST,
            _ => ErrorCode::INVALID_CONFIG,
        };
        Self::new(code, error.to_string())
    }
}

/// Whether a resource of this kind may have the name, for one that is only looked at.
pub(crate) fn check_topic_name(name: &str) -> Result<(), Refusal> {
    match name {
        "" => Err(invalid("Default topic resources are not allowed.")),
        _ => check_name(name),
    }
}

fn check_node_name(name: &str) -> Result<(), Refusal> {
    match name.parse::<i32>() {
        _ if name.is_empty() => Ok(()),
        Ok(0..) => Ok(()),
        Ok(_) => Err(invalid("Invalid negative broker ID.")),
        Err(_) => Err(invalid("Unable to parse broker name as a base 10 number.")),
    }
}

fn check_exists(view: View<'_>, resource: &ConfigResource) -> Result<(), Refusal> {
    let name = &*resource.name;
    let cluster = view.image().cluster();
    match resource.kind {
        ConfigResourceKind::BROKER => {
            let id = name.parse().ok().map(BrokerId);
            let is_known =
                id.is_none_or(|id| cluster.broker(id).is_some() || view.is_controller(id));
            let text = format!("No node with id {name} found.");
            match is_known {
                true => Ok(()),
                false => Err(Refusal::new(ErrorCode::BROKER_ID_NOT_REGISTERED, text)),
            }
        }
        ConfigResourceKind::TOPIC if view.image().topics().by_name(name).is_none() => {
            let text = format!("The topic '{name}' does not exist.");
            Err(Refusal::new(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, text))
        }
        _ => Ok(()),
    }
}

fn unknown_kind(kind: ConfigResourceKind) -> Refusal {
    invalid(format!("Unknown resource type {}", kind_name(kind)))
}

fn invalid(text: impl Into<String>) -> Refusal {
    Refusal::new(ErrorCode::INVALID_REQUEST, text)
}

/// What a resource has, without keys of other releases: they are kept and mean nothing.
pub(crate) fn supported<'a>(
    view: View<'a>,
    resource: &ConfigResource,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let kind = resource.kind;
    let values = view.image().configs().values(resource);
    values.filter(move |(key, _)| is_supported(kind, key))
}

fn stored<'a>(view: View<'a>, resource: &ConfigResource, key: &str) -> Option<&'a str> {
    let value = view.image().configs().value(resource, key);
    value.filter(|_| is_supported(resource.kind, key))
}

fn is_supported(kind: ConfigResourceKind, key: &str) -> bool {
    kind == ConfigResourceKind::BROKER || config_key(kind, key).is_some()
}

/// The items of a list as they are, and of its default where it has no value.
fn list(
    resource: &ConfigResource,
    key: &str,
    old: Option<&str>,
    op: &str,
) -> Result<Vec<String>, Refusal> {
    let known = match resource.kind {
        ConfigResourceKind::TOPIC => {
            config_keys::config_key(resource.kind, key).map(|key| (key.kind, key.default))
        }
        // As in Apache Kafka, a listener's own keys have no table.
        ConfigResourceKind::BROKER => broker_key(key)
            .filter(|known| known.name == key)
            .map(|known| (known.kind, known.default)),
        _ => None,
    };
    let Some((ConfigType::List, default)) = known else {
        let text = format!("Can't {op} to key {key} because its type is not LIST.");
        return Err(Refusal::new(ErrorCode::INVALID_CONFIG, text));
    };
    let items = old.or(default).unwrap_or_default().split(',');
    let items = items.filter(|item| !item.is_empty());
    Ok(items.map(str::to_owned).collect())
}

/// The items of a change; as in Java, empty ones at the end are none.
fn split(items: &str) -> Vec<String> {
    let kept = match items {
        "" => items,
        _ => items.trim_end_matches(','),
    };
    let is_none = kept.is_empty() && !items.is_empty();
    let kept = kept.split(',').filter(|_| !is_none);
    kept.map(str::to_owned).collect()
}

fn record(resource: &ConfigResource, key: &str, value: Option<&str>) -> ConfigRecord {
    ConfigRecord {
        resource_type: resource.kind.0,
        resource_name: (&*resource.name).into(),
        name: key.into(),
        value: value.map(Into::into),
        ..Default::default()
    }
}
