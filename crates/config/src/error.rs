use std::fmt;

use crate::properties::PropertiesError;

/// Everything that is wrong with a file, so that a person mends it in one go.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file is not a properties file.
    #[error(transparent)]
    Syntax(#[from] PropertiesError),
    /// Entries that mean nothing; never empty.
    #[error("{}", Lines(.0))]
    Problems(Vec<Problem>),
}

/// An entry that cannot be used, or that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, as the caller named it.
    pub file: String,
    /// The line of the entry; the first line is 1. `None` where the file lacks the key.
    pub line: Option<u32>,
    /// The key.
    pub key: String,
    /// The value, or `None` where it is a secret, or not there.
    pub value: Option<String>,
    /// What is wrong with it and what is allowed, as a clause.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            key,
            value,
            what,
        } = self;
        write!(f, "{file}:")?;
        if let Some(line) = line {
            write!(f, "{line}:")?;
        }
        match value {
            Some(value) => write!(f, " {key}={value}: {what}"),
            None => write!(f, " {key}: {what}"),
        }
    }
}

/// Something about a file that a person should know and that stops nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file, as the caller named it.
    pub file: String,
    /// The line of the entry; the first line is 1.
    pub line: u32,
    /// The key.
    pub key: String,
    /// What is odd about it.
    pub what: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            key,
            what,
        } = self;
        write!(f, "{file}:{line}: {key} {what}")
    }
}

struct Lines<'a>(&'a [Problem]);

impl fmt::Display for Lines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let newline = if index == 0 { "" } else { "\n" };
            write!(f, "{newline}{problem}")?;
        }
        Ok(())
    }
}
