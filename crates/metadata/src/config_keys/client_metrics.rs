//! Subscriptions to clients' metrics (KIP-714).

use std::collections::BTreeMap;

use super::ConfigType::{Int, List};
use super::value::Check::{Any, Items};
use super::{ConfigError, ConfigKey, ConfigValue, check_each, row};

/// The keys of subscriptions.
pub const CLIENT_METRICS_KEYS: &[ConfigKey] = &[
    row("metrics", List, "", Items, &[]),
    row("interval.ms", Int, "300000", Any, &[]),
    row("match", List, "", Items, &[]),
];

/// How often clients may be asked for metrics, in milliseconds.
const INTERVALS: std::ops::RangeInclusive<i64> = 100..=3_600_000;

/// What clients are chosen by.
const MATCHES: &[&str] = &[
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
];

/// Whether a subscription may have these configs. What chooses clients is a regular expression of
/// Java; only its brackets, repetitions and escapes are looked at.
pub fn validate_client_metrics(name: &str, new: &BTreeMap<&str, &str>) -> Result<(), ConfigError> {
    if name.is_empty() {
        return Err(ConfigError::NoSubscription);
    }
    let is_known = |name: &str| CLIENT_METRICS_KEYS.iter().any(|key| key.name == name);
    if let Some(name) = new.keys().find(|name| !is_known(name)) {
        return Err(ConfigError::UnknownClientMetricsKey((*name).to_owned()));
    }
    check_each(CLIENT_METRICS_KEYS, |name| new.get(name).copied())?;
    for key in CLIENT_METRICS_KEYS {
        let value = new.get(key.name).map(|text| key.parse(text)).transpose()?;
        match value {
            Some(ConfigValue::Number(interval)) if !INTERVALS.contains(&interval) => {
                return Err(ConfigError::Interval(interval));
            }
            Some(ConfigValue::List(items)) if key.name == "match" => {
                if let Some(wrong) = items.iter().find(|item| !is_pattern(item)) {
                    return Err(ConfigError::Pattern(wrong.clone()));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_pattern(item: &str) -> bool {
    let Some((name, pattern)) = item.split_once('=') else {
        return false;
    };
    let (name, pattern) = (name.trim(), pattern.trim());
    MATCHES.contains(&name) && !pattern.is_empty() && !pattern.contains('=') && is_regex(pattern)
}

/// Whether brackets are closed, nothing is repeated that is not there, and no escape is cut off.
fn is_regex(pattern: &str) -> bool {
    let mut depth = 0usize;
    let mut in_class = false;
    // What the last character was: may it be repeated, and was it a repetition itself?
    let (mut repeats, mut repeated) = (false, 0u8);
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\' {
            if chars.next().is_none() {
                return false;
            }
            (repeats, repeated) = (true, 0);
            continue;
        }
        if in_class {
            in_class = c != ']';
            continue;
        }
        match c {
            '[' => {
                in_class = true;
                // A bracket that comes first is one of the class.
                chars.next_if_eq(&'^');
                chars.next_if_eq(&']');
                (repeats, repeated) = (true, 0);
            }
            '(' => {
                depth += 1;
                let is_special = chars.next_if_eq(&'?').is_some();
                (repeats, repeated) = (is_special, 0);
            }
            ')' => {
                let Some(outer) = depth.checked_sub(1) else {
                    return false;
                };
                depth = outer;
                (repeats, repeated) = (true, 0);
            }
            '{' => {
                if !repeats || repeated > 0 || !is_count(&mut chars) {
                    return false;
                }
                repeated = 1;
            }
            // After a repetition one `?` or `+` says how eager it is.
            '?' | '+' if repeats && repeated < 2 => repeated += 1,
            '*' if repeats && repeated == 0 => repeated = 1,
            '?' | '+' | '*' => return false,
            '|' => (repeats, repeated) = (false, 0),
            _ => (repeats, repeated) = (true, 0),
        }
    }
    depth == 0 && !in_class
}

/// Reads `2}`; what has a comma is no item of a list.
fn is_count(chars: &mut impl Iterator<Item = char>) -> bool {
    let mut count = String::new();
    loop {
        match chars.next() {
            Some('}') => return count.parse::<u32>().is_ok(),
            Some(c) => count.push(c),
            None => return false,
        }
    }
}
