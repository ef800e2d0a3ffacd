use std::collections::BTreeMap;
use std::time::Duration;

use crate::error::ConfigError;
use crate::properties::Properties;
use crate::reading::Reading;
use crate::values::Values;

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
    /// Keys that are passed over without a word, since nobody expects them to do anything here; `.`
    /// as in [`KeyTable::unused`].
    pub silent: &'static [&'static str],
}

impl KeyTable {
    /// The key of this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Parses every entry. Values that are not allowed are errors, all of them reported; keys that
    /// mean nothing are warnings, once a key.
    pub fn read(&self, properties: &Properties) -> Result<Values, ConfigError> {
        self.begin(properties).finish()
    }

    /// Parses every entry, and leaves room for rules that one value alone cannot break.
    pub fn begin<'a>(&self, properties: &'a Properties) -> Reading<'a> {
        let mut reading = Reading::new(properties, self.defaults());
        for entry in properties.effective() {
            match self.key(&entry.key) {
                Some(key) => reading.take(key, entry),
                None if matches(self.silent, &entry.key) => {}
                None => reading.warn(entry, &self.no_such_key(&entry.key)),
            }
        }
        reading
    }

    fn defaults(&self) -> BTreeMap<&'static str, Value> {
        let with_default = |key: &'static Key| Some((key, key.default?));
        self.keys
            .iter()
            .filter_map(with_default)
            .map(|(key, default)| {
                let value = key.kind.parse(default);
                (key.name, value.expect("a default is an allowed value"))
            })
            .collect()
    }

    fn no_such_key(&self, typed: &str) -> String {
        if matches(self.unused, typed) {
            return "has no effect here: ignored".to_owned();
        }
        match self.nearest(typed) {
            Some(name) => format!("is not a known key: ignored (did you mean {name}?)"),
            None => "is not a known key: ignored".to_owned(),
        }
    }

    /// The key that a mistyped one was probably meant to be.
    fn nearest(&self, typed: &str) -> Option<&'static str> {
        const MOST_EDITS: usize = 3;
        let others = [self.unused, self.silent].concat();
        let names = self.keys.iter().map(|key| key.name).chain(others);
        let scored = names.map(|name| (edits(typed, name), name));
        let (edits, name) = scored.min()?;
        (edits <= MOST_EDITS && edits * 3 <= name.len()).then_some(name)
    }
}

/// Whether a list has a key. A name that ends in `.` stands for all that begin like it.
fn matches(list: &[&str], key: &str) -> bool {
    list.iter().any(|name| match name.strip_suffix('.') {
        Some(_) => key.starts_with(name),
        None => key == *name,
    })
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

#[cfg(test)]
mod tests;
