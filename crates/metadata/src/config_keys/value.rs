//! How the text of a value is read and judged.

use super::{ConfigError, ConfigKey, ConfigType};

/// A value that was read.
#[derive(Clone, Debug, PartialEq)]
pub enum ConfigValue {
    /// Of [`ConfigType::Boolean`].
    Bool(bool),
    /// Of the types that are whole numbers.
    Number(i64),
    /// Of [`ConfigType::Double`].
    Double(f64),
    /// Of the types that are text, blanks at both ends cut off.
    Text(String),
    /// Of [`ConfigType::List`].
    List(Vec<String>),
}

/// What a value must be beside one of its type.
#[derive(Clone, Copy, Debug)]
pub(super) enum Check {
    /// Nothing.
    Any,
    /// A number that is not smaller.
    AtLeast(i64),
    /// A number between two, both included.
    Between(i64, i64),
    /// The levels of gzip.
    GzipLevel,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Every item is one of these words.
    ItemsOf(&'static [&'static str]),
    /// No item is empty.
    Items,
    /// Replicas, or `*` for all of them.
    ThrottledReplicas,
    /// Where a share group begins to read.
    OffsetReset,
}

impl ConfigKey {
    /// Reads a value.
    pub fn parse(&self, text: &str) -> Result<ConfigValue, ConfigError> {
        let refuse = |value: String, what: String| ConfigError::Value {
            key: self.name,
            value,
            what,
        };
        let value = self
            .kind
            .parse(text)
            .map_err(|what| refuse(text.to_owned(), what))?;
        match (&self.check, &value) {
            (Check::AtLeast(min), _) if value.is_below(*min) => Err(refuse(
                value.shown(),
                format!("Value must be at least {min}"),
            )),
            (Check::Between(min, _), _) if value.is_below(*min) => Err(refuse(
                value.shown(),
                format!("Value must be at least {min}"),
            )),
            (Check::Between(_, max), _) if value.is_above(*max) => Err(refuse(
                value.shown(),
                format!("Value must be no more than {max}"),
            )),
            (Check::GzipLevel, ConfigValue::Number(level)) if !is_gzip_level(*level) => {
                let what = "Value must be between 1 and 9 or equal to -1";
                Err(refuse(value.shown(), what.to_owned()))
            }
            (Check::OneOf(words), ConfigValue::Text(text)) if !words.contains(&&**text) => {
                Err(refuse(value.shown(), one_of(words)))
            }
            (Check::Items, ConfigValue::List(items)) if items.iter().any(String::is_empty) => {
                Err(ConfigError::EmptyItem(self.name))
            }
            (Check::ItemsOf(words), ConfigValue::List(items)) => {
                match items.iter().find(|item| !words.contains(&&***item)) {
                    Some(item) if item.is_empty() => Err(ConfigError::EmptyItem(self.name)),
                    Some(item) => Err(refuse(item.clone(), one_of(words))),
                    None => Ok(value),
                }
            }
            (Check::ThrottledReplicas, ConfigValue::List(items)) if !are_replicas(items) => {
                let what = format!(
                    "{} must be the literal '*' or a list of replicas in the following format: \
                     [partitionId]:[brokerId],[partitionId]:[brokerId],...",
                    self.name
                );
                Err(refuse(value.shown(), what))
            }
            (Check::OffsetReset, ConfigValue::Text(text)) if !is_offset_reset(text) => {
                let what = format!(
                    "Invalid value `{text}` for configuration {}. The value must be either \
                     'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'.",
                    self.name
                );
                Err(refuse(value.shown(), what))
            }
            _ => Ok(value),
        }
    }
}

impl ConfigType {
    /// Reads a text as Java does; the error says what it is not.
    pub fn parse(self, text: &str) -> Result<ConfigValue, String> {
        let trimmed = text.trim_matches(|c| c <= ' ');
        let not_a_number = || format!("Not a number of type {}", self.name());
        let whole = |min: i64, max: i64| {
            let number = trimmed.parse::<i64>().ok();
            let number = number.filter(|number| (min..=max).contains(number));
            number.map(ConfigValue::Number).ok_or_else(not_a_number)
        };
        match self {
            Self::Boolean if trimmed.eq_ignore_ascii_case("true") => Ok(ConfigValue::Bool(true)),
            Self::Boolean if trimmed.eq_ignore_ascii_case("false") => Ok(ConfigValue::Bool(false)),
            Self::Boolean => Err("Expected value to be either true or false".to_owned()),
            Self::Short => whole(i16::MIN.into(), i16::MAX.into()),
            Self::Int => whole(i32::MIN.into(), i32::MAX.into()),
            Self::Long => whole(i64::MIN, i64::MAX),
            Self::Double => double(trimmed)
                .map(ConfigValue::Double)
                .ok_or_else(not_a_number),
            Self::List => Ok(ConfigValue::List(items(trimmed))),
            Self::String | Self::Class | Self::Password => {
                Ok(ConfigValue::Text(trimmed.to_owned()))
            }
        }
    }
}

impl ConfigValue {
    fn is_below(&self, min: i64) -> bool {
        match self {
            Self::Number(number) => *number < min,
            Self::Double(number) => *number < min as f64,
            _ => false,
        }
    }

    fn is_above(&self, max: i64) -> bool {
        match self {
            Self::Number(number) => *number > max,
            Self::Double(number) => *number > max as f64,
            _ => false,
        }
    }

    /// The value as DescribeConfigs has it: as Kafka writes what it has read.
    pub fn canonical(&self) -> String {
        match self {
            Self::List(items) => items.join(","),
            _ => self.shown(),
        }
    }

    /// The value in messages.
    fn shown(&self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Double(number) => java_double(*number),
            Self::Text(text) => text.clone(),
            Self::List(items) => format!("[{}]", items.join(", ")),
        }
    }
}

/// A number as Java writes it.
fn java_double(number: f64) -> String {
    match number.abs() {
        _ if number.is_nan() => "NaN".to_owned(),
        _ if number.is_infinite() => format!("{}Infinity", if number < 0.0 { "-" } else { "" }),
        0.0 | 1e-3..1e7 => format!("{number:?}"),
        _ => {
            let text = format!("{number:e}");
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let point = if digits.contains('.') { "" } else { ".0" };
            format!("{digits}{point}E{exponent}")
        }
    }
}

/// The items of a list, blanks around them cut off; a text without any is the empty list.
pub(super) fn items(text: &str) -> Vec<String> {
    let is_blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r');
    match text {
        "" => Vec::new(),
        _ => text
            .split(',')
            .map(|item| item.trim_matches(is_blank).to_owned())
            .collect(),
    }
}

/// A number in Java's notation, which ends in `d` or `f` where it likes and has two words of its own.
fn double(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, "NaN" | "Infinity") {
        return text.parse().ok();
    }
    let digits = unsigned
        .strip_suffix(['d', 'D', 'f', 'F'])
        .unwrap_or(unsigned);
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let end = text.len() - (unsigned.len() - digits.len());
    text[..end].parse().ok().filter(|_| is_number)
}

fn is_gzip_level(level: i64) -> bool {
    level == -1 || (1..=9).contains(&level)
}

fn one_of(words: &[&str]) -> String {
    format!("String must be one of: {}", words.join(", "))
}

fn are_replicas(items: &[String]) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_replica = |item: &String| {
        let parts = item.split_once(':');
        item.is_empty() || parts.is_some_and(|(index, id)| is_number(index) && is_number(id))
    };
    items.iter().all(is_replica) || items.concat() == "*"
}

fn is_offset_reset(text: &str) -> bool {
    match text.strip_prefix("by_duration:") {
        Some(duration) => is_duration(duration),
        None => matches!(text, "earliest" | "latest"),
    }
}

/// Whether a text is a duration of ISO 8601 that is not negative: days, then hours, minutes and
/// seconds.
fn is_duration(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(['P', 'p']) else {
        return false;
    };
    let (date, time) = match rest.split_once(['T', 't']) {
        Some((date, time)) => (date, Some(time)),
        None => (rest, None),
    };
    let days = amounts(date, "D");
    let time_amounts = time.map(|time| amounts(time, "HMS"));
    match (days, time_amounts) {
        (Some(days), None) => days > 0,
        (Some(_), Some(Some(times))) => times > 0,
        _ => false,
    }
}

/// How many amounts a text has, each a number and one of the units, in their order; `None` for
/// another text.
fn amounts(text: &str, units: &str) -> Option<usize> {
    let mut rest = text;
    let mut units = units.chars();
    let mut count = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let unit = rest[end..].chars().next()?.to_ascii_uppercase();
        let number = &rest[..end];
        let is_whole = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        let is_fraction = unit == 'S' && number.starts_with(|c: char| c.is_ascii_digit());
        if !(is_whole || is_fraction && number.parse::<f64>().is_ok()) {
            return None;
        }
        units.find(|known| *known == unit)?;
        rest = &rest[end + 1..];
        count += 1;
    }
    Some(count)
}
