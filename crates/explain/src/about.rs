//! What messages, fields and error codes mean, in klamm's own words.
//!
//! The texts are in `crates/explain/about`; its README says which row a field gets.

mod formats;

use std::sync::OnceLock;

use klamm_protocol::ErrorCode;

use crate::node::Place;

const FIELDS: &str = include_str!("../about/fields.tsv");
const STRUCTS: &str = include_str!("../about/structs.tsv");
const MESSAGES: &str = include_str!("../about/messages.tsv");
const ERRORS: &str = include_str!("../about/errors.tsv");

/// What is known of a place; `None` if nothing is.
pub fn find(place: Place) -> Option<&'static str> {
    match place {
        Place::Message(name) => message(name),
        Place::Struct { message, name } => structure(message, name),
        Place::Field {
            message,
            owner,
            name,
        } => field(message, owner, name),
    }
}

fn field(message: &str, owner: &str, name: &str) -> Option<&'static str> {
    static TABLE: OnceLock<Table> = OnceLock::new();
    let table = TABLE.get_or_init(|| Table::parse(FIELDS));
    formats::find(message, name)
        .or_else(|| table.find(&format!("{message}.{owner}.{name}")))
        .or_else(|| table.find(&format!("{owner}.{name}")))
        .or_else(|| table.find(name))
}

fn structure(message: &str, name: &str) -> Option<&'static str> {
    static TABLE: OnceLock<Table> = OnceLock::new();
    let table = TABLE.get_or_init(|| Table::parse(STRUCTS));
    table
        .find(&format!("{message}.{name}"))
        .or_else(|| table.find(name))
}

/// What a message is for, by the name of its schema.
pub fn message(name: &str) -> Option<&'static str> {
    static TABLE: OnceLock<Table> = OnceLock::new();
    let table = TABLE.get_or_init(|| Table::parse(MESSAGES));
    let api = name
        .strip_suffix("Request")
        .or_else(|| name.strip_suffix("Response"));
    formats::find(name, "")
        .or_else(|| table.find(name))
        .or_else(|| table.find(api?))
}

/// What is known of an error code besides its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorText {
    /// What it means.
    pub meaning: &'static str,
    /// What to do about it; empty if there is nothing.
    pub next_step: &'static str,
}

/// What an error code means.
pub fn error(code: ErrorCode) -> Option<ErrorText> {
    let code = code.0.to_string();
    let row = ERRORS
        .lines()
        .find(|row| row.split('\t').next() == Some(&code))?;
    let mut cells = row.split('\t').skip(2);
    Some(ErrorText {
        meaning: cells.next()?,
        next_step: cells.next().unwrap_or_default(),
    })
}

/// Texts by key.
struct Table(Vec<(&'static str, &'static str)>);

impl Table {
    fn parse(text: &'static str) -> Self {
        let rows = text.lines().filter(|row| !row.starts_with('#'));
        let mut rows: Vec<_> = rows.filter_map(|row| row.split_once('\t')).collect();
        rows.sort_unstable();
        Self(rows)
    }

    fn find(&self, key: &str) -> Option<&'static str> {
        let index = self.0.binary_search_by_key(&key, |(key, _)| key).ok()?;
        Some(self.0[index].1)
    }
}
