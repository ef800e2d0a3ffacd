use std::collections::BTreeMap;
use std::time::Duration;

use crate::error::Warning;
#[cfg(doc)]
use crate::table::Kind;
use crate::table::Value;

/// The values of a file, with the table's defaults.
#[derive(Clone, Debug)]
pub struct Values {
    pub(crate) values: BTreeMap<&'static str, Value>,
    pub(crate) lines: BTreeMap<&'static str, u32>,
    pub(crate) warnings: Vec<Warning>,
}

impl Values {
    /// What a person should know about the file.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The line of the file that has this key, or `None` where the default holds.
    pub fn line(&self, name: &str) -> Option<u32> {
        self.lines.get(name).copied()
    }

    /// Whether the file has this key.
    pub fn is_given(&self, name: &str) -> bool {
        self.lines.contains_key(name)
    }

    /// The value of a key, given or default.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// The value of a key of kind [`Kind::Millis`].
    pub fn duration(&self, name: &str) -> Option<Duration> {
        match self.value(name) {
            Some(Value::Duration(duration)) => Some(*duration),
            _ => None,
        }
    }

    /// The value of a key of kind [`Kind::Long`].
    pub fn long(&self, name: &str) -> Option<i64> {
        match self.value(name) {
            Some(Value::Long(number)) => Some(*number),
            _ => None,
        }
    }

    /// The value of a key of kind [`Kind::Bool`].
    pub fn bool(&self, name: &str) -> Option<bool> {
        match self.value(name) {
            Some(Value::Bool(yes)) => Some(*yes),
            _ => None,
        }
    }

    /// The value of a key of kind [`Kind::Int`].
    pub fn int(&self, name: &str) -> Option<i32> {
        match self.value(name) {
            Some(Value::Int(number)) => Some(*number),
            _ => None,
        }
    }

    /// The value of a key of kind [`Kind::String`] or [`Kind::Password`].
    pub fn string(&self, name: &str) -> Option<&str> {
        match self.value(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The value of a key of kind [`Kind::Enum`].
    pub fn word(&self, name: &str) -> Option<&'static str> {
        match self.value(name) {
            Some(Value::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// The items of a key of kind [`Kind::List`]; none where it has no value.
    pub fn list(&self, name: &str) -> &[String] {
        match self.value(name) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }
}
