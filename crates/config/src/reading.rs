use std::collections::BTreeMap;

use crate::error::{ConfigError, Problem, Warning};
use crate::properties::{Properties, Property};
use crate::table::{Key, Kind, Value, is_secret};
use crate::values::Values;

/// A file on its way to settings: the values that are allowed each by itself, and what is wrong so
/// far, so that a person hears of everything at once.
#[derive(Debug)]
pub struct Reading<'a> {
    properties: &'a Properties,
    values: Values,
    problems: Vec<Problem>,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(properties: &'a Properties, defaults: BTreeMap<&'static str, Value>) -> Self {
        Self {
            properties,
            values: Values {
                values: defaults,
                lines: BTreeMap::new(),
                warnings: Vec::new(),
            },
            problems: Vec::new(),
        }
    }

    pub(crate) fn take(&mut self, key: &Key, entry: &Property) {
        match key.kind.parse(&entry.value) {
            Ok(value) => {
                self.values.values.insert(key.name, value);
                self.values.lines.insert(key.name, entry.line);
            }
            Err(allowed) => {
                let shown = key.kind != Kind::Password && !is_secret(key.name);
                self.problems.push(Problem {
                    file: self.properties.file().to_owned(),
                    line: Some(entry.line),
                    key: entry.key.clone(),
                    value: shown.then(|| entry.value.clone()),
                    what: format!("the value must be {allowed}"),
                });
            }
        }
    }

    /// The values so far. A key whose value is not allowed has its default, and is not given.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Says what is wrong with a key that the file has, or that it lacks.
    pub fn wrong(&mut self, key: &str, what: impl Into<String>) {
        let entry = self.properties.get(key);
        let shown = entry.filter(|_| !is_secret(key));
        self.problems.push(Problem {
            file: self.properties.file().to_owned(),
            line: entry.map(|entry| entry.line),
            key: key.to_owned(),
            value: shown.map(|entry| entry.value.clone()),
            what: what.into(),
        });
    }

    /// Says what a person should know about an entry.
    pub fn warn(&mut self, entry: &Property, what: &str) {
        self.values.warnings.push(Warning {
            file: self.properties.file().to_owned(),
            line: entry.line,
            key: entry.key.clone(),
            what: what.to_owned(),
        });
    }

    /// Whether the file has a key, with a value that is allowed or not.
    pub fn has(&self, key: &str) -> bool {
        self.properties.get(key).is_some()
    }

    /// The file that is read.
    pub fn properties(&self) -> &'a Properties {
        self.properties
    }

    /// The values, if nothing is wrong.
    pub fn finish(self) -> Result<Values, ConfigError> {
        if self.problems.is_empty() {
            Ok(self.values)
        } else {
            Err(ConfigError::Problems(self.problems))
        }
    }
}
