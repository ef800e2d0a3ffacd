//! Topics.

mod keys;

use std::collections::BTreeMap;

use super::{ConfigError, ConfigValue, check_each, effective};

pub use keys::TOPIC_KEYS;

/// Whether a topic that has the configs `old` may have the configs `new` instead. `node` has what the
/// controller's own node sets for keys of nodes.
pub fn validate_topic<'a>(
    new: &BTreeMap<&str, &str>,
    old: impl Fn(&str) -> Option<&'a str>,
    node: &dyn Fn(&str) -> Option<&'a str>,
) -> Result<(), ConfigError> {
    let is_known = |name: &str| TOPIC_KEYS.iter().any(|key| key.name == name);
    if let Some(name) = new.keys().find(|name| !is_known(name)) {
        return Err(ConfigError::UnknownTopicKey((*name).to_owned()));
    }
    let own = |name: &str| new.get(name).copied();
    check_each(TOPIC_KEYS, own)?;
    let topic = Effective { new, node };
    let (min, max) = (
        topic.number("min.compaction.lag.ms"),
        topic.number("max.compaction.lag.ms"),
    );
    if min > max {
        return Err(ConfigError::Conflict(format!(
            "conflict topic config setting min.compaction.lag.ms ({min}) > max.compaction.lag.ms \
             ({max})"
        )));
    }
    if topic.bool("remote.storage.enable") {
        return topic.check_remote_storage();
    }
    let was_enabled = old("remote.storage.enable");
    let was_enabled = was_enabled.is_some_and(|value| value.eq_ignore_ascii_case("true"));
    if was_enabled && !topic.bool("remote.log.delete.on.disable") {
        return Err(ConfigError::Conflict(
            "It is invalid to disable remote storage without deleting remote data. If you want to \
             keep the remote data and turn to read only, please set \
             `remote.storage.enable=true,remote.log.copy.disable=true`. If you want to disable \
             remote storage and delete all remote data, please set \
             `remote.storage.enable=false,remote.log.delete.on.disable=true`."
                .to_owned(),
        ));
    }
    Ok(())
}

/// What holds for a topic: its own value, else that of the node, else Kafka's default. `None` for keys
/// that topics do not have.
pub fn topic_config<'a>(
    name: &str,
    own: Option<&str>,
    node: &dyn Fn(&str) -> Option<&'a str>,
) -> Option<ConfigValue> {
    let key = TOPIC_KEYS.iter().find(|key| key.name == name)?;
    effective(key, own, node)
}

/// What holds for a topic.
struct Effective<'v, 'a> {
    new: &'v BTreeMap<&'v str, &'v str>,
    node: &'v dyn Fn(&str) -> Option<&'a str>,
}

impl Effective<'_, '_> {
    fn value(&self, name: &str) -> Option<ConfigValue> {
        let key = TOPIC_KEYS.iter().find(|key| key.name == name)?;
        effective(key, self.new.get(name).copied(), self.node)
    }

    fn number(&self, name: &str) -> i64 {
        match self.value(name) {
            Some(ConfigValue::Number(number)) => number,
            _ => 0,
        }
    }

    fn bool(&self, name: &str) -> bool {
        self.value(name) == Some(ConfigValue::Bool(true))
    }

    fn check_remote_storage(&self) -> Result<(), ConfigError> {
        let refuse = |text: &str| Err(ConfigError::Conflict(text.to_owned()));
        let system = (self.node)("remote.log.storage.system.enable");
        if !system.is_some_and(|value| value.trim().eq_ignore_ascii_case("true")) {
            return refuse(
                "Tiered Storage functionality is disabled in the broker. Topic cannot be \
                 configured with remote log storage.",
            );
        }
        let is_deleted = match self.value("cleanup.policy") {
            Some(ConfigValue::List(items)) => items.iter().all(|item| item == "delete"),
            _ => false,
        };
        if !is_deleted {
            return refuse(
                "Remote log storage only supports topics with cleanup.policy=delete or \
                 cleanup.policy being an empty list.",
            );
        }
        for (local, all) in LOCAL_AND_ALL {
            self.check_local(local, all)?;
        }
        if self.bool("remote.log.copy.disable") {
            for (local, all) in LOCAL_AND_ALL {
                let value = self.number(local);
                if value != -2 && value != self.number(all) {
                    return refuse(&format!(
                        "When `remote.log.copy.disable` is set to true, the `{local}` and `{all}` \
                         must be set to the identical value because there will be no more logs \
                         copied to the remote storage."
                    ));
                }
            }
        }
        self.check_lag("remote.copy.lag.ms", "local.retention.ms", "retention.ms")?;
        self.check_lag(
            "remote.copy.lag.bytes",
            "local.retention.bytes",
            "retention.bytes",
        )
    }

    /// What is kept here is no more than what is kept at all.
    fn check_local(&self, local: &'static str, all: &str) -> Result<(), ConfigError> {
        let (value, total) = (self.number(local), self.number(all));
        let what = match value {
            -2 => return Ok(()),
            _ if total <= -1 => return Ok(()),
            -1 => format!("Value must not be -1 as {all} value is set as {total}."),
            _ if value > total => {
                format!("Value must not be more than {all} property value: {total}")
            }
            _ => return Ok(()),
        };
        Err(invalid(local, value, what))
    }

    /// What is copied late is still here.
    fn check_lag(&self, lag: &'static str, local: &str, all: &str) -> Result<(), ConfigError> {
        let value = self.number(lag);
        let kept = match self.number(local) {
            -2 => self.number(all),
            kept => kept,
        };
        if value <= 0 || kept < 0 || value <= kept {
            return Ok(());
        }
        let what = format!("Value must not exceed {local} (effective value: {kept})");
        Err(invalid(lag, value, what))
    }
}

const LOCAL_AND_ALL: [(&str, &str); 2] = [
    ("local.retention.bytes", "retention.bytes"),
    ("local.retention.ms", "retention.ms"),
];

fn invalid(key: &'static str, value: i64, what: String) -> ConfigError {
    let value = value.to_string();
    ConfigError::Value { key, value, what }
}
