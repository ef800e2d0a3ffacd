use klamm_protocol::{ApiKey, ErrorCode, Listener};
use serde::Serialize;

use super::line;
use crate::text::{UnknownError, find_error};
use crate::{Direction, about, message_schema};

#[derive(Serialize)]
struct Api<'a> {
    api_key: i16,
    name: &'a str,
    versions: String,
    latest_stable: Option<i16>,
    flexible_versions: String,
    listeners: Vec<&'static str>,
    about: &'static str,
}

/// Every API, as one JSON object on a line each.
pub fn list() -> String {
    let mut out = String::new();
    for key in ApiKey::all() {
        let Some(schema) = message_schema(key, Direction::Request) else {
            continue;
        };
        let stable = key.stable_versions();
        out.push_str(&line(&Api {
            api_key: key.0,
            name: key.name().unwrap_or_default(),
            versions: schema.valid_versions.to_string(),
            latest_stable: (!stable.is_empty()).then_some(stable.max),
            flexible_versions: schema.flexible_versions.to_string(),
            listeners: key.listeners().iter().copied().map(listener).collect(),
            about: about::message(&schema.name).unwrap_or_default(),
        }));
        out.push('\n');
    }
    out
}

/// The name of a listener in the schemas.
pub(crate) fn listener(listener: Listener) -> &'static str {
    match listener {
        Listener::Broker => "broker",
        Listener::Controller => "controller",
    }
}

#[derive(Serialize)]
struct Error {
    code: i16,
    name: &'static str,
    retriable: bool,
    refresh_metadata: bool,
    about: &'static str,
    next_step: &'static str,
}

/// Every error code, as one JSON object on a line each.
pub fn errors() -> String {
    ErrorCode::all().map(object).collect()
}

/// One error, by code or by name in any case.
pub fn error(text: &str) -> Result<String, UnknownError> {
    let code = find_error(text).ok_or_else(|| UnknownError(text.to_owned()))?;
    Ok(object(code))
}

fn object(code: ErrorCode) -> String {
    let text = about::error(code);
    line(&Error {
        code: code.0,
        name: code.name().unwrap_or_default(),
        retriable: code.is_retriable(),
        refresh_metadata: code.is_invalid_metadata(),
        about: text.map_or("", |text| text.meaning),
        next_step: text.map_or("", |text| text.next_step),
    }) + "\n"
}
