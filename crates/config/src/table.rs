use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::error::{ConfigError, Problem, Warning};
use crate::properties::{Properties, Property};

/// A key of a properties file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Kafka's name, such as `request.timeout.ms`.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// The value of a file that does not have the key, written as a file would; `None` where there
    /// is none.
    pub default: Option<&'static str>,
    /// One sentence for people.
    pub doc: &'static str,
}

/// What the values of a key are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number of 32 bits, bounds included.
    Int {
        /// The smallest allowed value.
        min: i32,
        /// The largest allowed value.
        max: i32,
    },
    /// A number of 64 bits, bounds included.
    Long {
        /// The smallest allowed value.
        min: i64,
        /// The largest allowed value.
        max: i64,
    },
    /// A number of milliseconds, bounds included; Kafka writes them as plain numbers.
    Millis {
        /// The smallest allowed value.
        min: u32,
        /// The largest allowed value.
        max: u32,
    },
    /// Any text.
    String,
    /// Text that is never shown.
    Password,
    /// Texts separated by commas.
    List,
    /// `true` or `false`, in any case.
    Bool,
    /// One of these words, in any case.
    Enum(&'static [&'static str]),
}

/// A parsed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Of [`Kind::Int`].
    Int(i32),
    /// Of [`Kind::Long`].
    Long(i64),
    /// Of [`Kind::Millis`].
    Duration(Duration),
    /// Of [`Kind::String`] and [`Kind::Password`], blanks at both ends cut off, as Kafka does.
    String(String),
    /// Of [`Kind::List`].
    List(Vec<String>),
    /// Of [`Kind::Bool`].
    Bool(bool),
    /// Of [`Kind::Enum`]: the word as the table has it.
    Word(&'static str),
}

impl Kind {
    /// Reads a value; the error says what is allowed, to follow "must be".
    pub fn parse(self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        match self {
            Self::Int { min, max } => bounded(text, min, max, "").map(Value::Int),
            Self::Long { min, max } => bounded(text, min, max, "").map(Value::Long),
            Self::Millis { min, max } => bounded(text, min, max, " (milliseconds)")
                .map(|millis| Value::Duration(Duration::from_millis(millis.into()))),
            Self::String | Self::Password => Ok(Value::String(text.to_owned())),
            Self::List => {
                let items = text
                    .split(',')
                    .map(str::trim)
                    .filter(|item| !item.is_empty());
                Ok(Value::List(items.map(str::to_owned).collect()))
            }
            Self::Bool if text.eq_ignore_ascii_case("true") => Ok(Value::Bool(true)),
            Self::Bool if text.eq_ignore_ascii_case("false") => Ok(Value::Bool(false)),
            Self::Bool => Err("true or false".to_owned()),
            Self::Enum(words) => {
                let word = words.iter().find(|word| word.eq_ignore_ascii_case(text));
                word.map(|word| Value::Word(word))
                    .ok_or_else(|| format!("one of {}", words.join(", ")))
            }
        }
    }
}

fn bounded<T>(text: &str, min: T, max: T, unit: &str) -> Result<T, String>
where
    T: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    match text.parse::<T>() {
        Ok(number) if number >= min && number <= max => Ok(number),
        _ => Err(format!("a whole number from {min} to {max}{unit}")),
    }
}

/// Whether a key's value must never be shown. The rule goes by name, so that it also holds for keys
/// that no table has.
pub fn is_secret(key: &str) -> bool {
    const PARTS: [&str; 6] = [
        "password",
        "secret",
        "jaas",
        "credential",
        "token",
        "private",
    ];
    const NAMES: [&str; 2] = ["ssl.keystore.key", "ssl.keystore.certificate.chain"];
    let key = key.to_ascii_lowercase();
    PARTS.iter().any(|part| key.contains(part)) || NAMES.contains(&key.as_str())
}

/// The keys that a program reads.
#[derive(Clone, Copy, Debug)]
pub struct KeyTable {
    /// The keys that mean something.
    pub keys: &'static [Key],
    /// Keys that Kafka's own programs know and this one has no use for; one that ends in `.` stands
    /// for all that begin like it.
    pub unused: &'static [&'static str],
}

/// The values of a file, with the table's defaults.
#[derive(Clone, Debug)]
pub struct Values {
    values: BTreeMap<&'static str, Value>,
    lines: BTreeMap<&'static str, u32>,
    file: String,
    warnings: Vec<Warning>,
}

impl KeyTable {
    /// The key of this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Parses every entry. Values that are not allowed are errors, all of them reported; keys that
    /// mean nothing are warnings, once a key.
    pub fn read(&self, properties: &Properties) -> Result<Values, ConfigError> {
        let mut values = BTreeMap::new();
        for key in self.keys {
            if let Some(default) = key.default {
                let value = key
                    .kind
                    .parse(default)
                    .expect("a default is an allowed value");
                values.insert(key.name, value);
            }
        }
        let mut read = Values {
            values,
            lines: BTreeMap::new(),
            file: properties.file().to_owned(),
            warnings: Vec::new(),
        };
        let mut problems = Vec::new();
        let mut seen = BTreeSet::new();
        for entry in properties.iter() {
            if !seen.insert(entry.key.as_str()) {
                continue;
            }
            let entry = properties.get(&entry.key).unwrap_or(entry);
            let Some(key) = self.key(&entry.key) else {
                read.warnings
                    .push(self.no_such_key(properties.file(), entry));
                continue;
            };
            match key.kind.parse(&entry.value) {
                Ok(value) => {
                    read.values.insert(key.name, value);
                    read.lines.insert(key.name, entry.line);
                }
                Err(allowed) => problems.push(Problem {
                    file: properties.file().to_owned(),
                    line: entry.line,
                    key: entry.key.clone(),
                    value: (key.kind != Kind::Password && !is_secret(key.name))
                        .then(|| entry.value.clone()),
                    what: format!("the value must be {allowed}"),
                }),
            }
        }
        if problems.is_empty() {
            Ok(read)
        } else {
            Err(ConfigError::Problems(problems))
        }
    }

    fn no_such_key(&self, file: &str, entry: &Property) -> Warning {
        let unused = self
            .unused
            .iter()
            .any(|unused| match unused.strip_suffix('.') {
                Some(_) => entry.key.starts_with(unused),
                None => entry.key == *unused,
            });
        let what = if unused {
            "has no effect here: ignored".to_owned()
        } else {
            match self.nearest(&entry.key) {
                Some(name) => format!("is not a known key: ignored (did you mean {name}?)"),
                None => "is not a known key: ignored".to_owned(),
            }
        };
        Warning {
            file: file.to_owned(),
            line: entry.line,
            key: entry.key.clone(),
            what,
        }
    }

    /// The key that a mistyped one was probably meant to be.
    fn nearest(&self, typed: &str) -> Option<&'static str> {
        const MOST_EDITS: usize = 3;
        let scored = self
            .keys
            .iter()
            .map(|key| (edits(typed, key.name), key.name));
        let (edits, name) = scored.min()?;
        (edits <= MOST_EDITS && edits * 3 <= name.len()).then_some(name)
    }
}

/// Levenshtein's distance, in bytes.
fn edits(from: &str, to: &str) -> usize {
    const LONGEST: usize = 100;
    if from.len() > LONGEST {
        return LONGEST;
    }
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.bytes().enumerate() {
            let substituted = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

impl Values {
    /// What a person should know about the file.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Adds a warning about an entry of the file.
    pub(crate) fn warn(&mut self, key: &str, line: u32, what: &str) {
        let (key, what) = (key.to_owned(), what.to_owned());
        self.warnings.push(Warning {
            file: self.file.clone(),
            line,
            key,
            what,
        });
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

#[cfg(test)]
mod tests;
