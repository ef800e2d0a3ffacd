use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::table::is_secret;

/// The entries of a `.properties` file, in the order of the file.
///
/// The format is that of `java.util.Properties`: `#` and `!` begin comments; a key ends at the
/// first `=`, `:` or blank that is not escaped; a backslash at the end of a line continues it;
/// `\t`, `\n`, `\r`, `\f` and `\uXXXX` are escapes, and any other escaped character stands for
/// itself. Blanks at the end of a value belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    file: String,
    entries: Vec<Property>,
}

/// One entry of a properties file.
#[derive(Clone, PartialEq, Eq)]
pub struct Property {
    /// The key, unescaped.
    pub key: String,
    /// The value, unescaped; trailing blanks included.
    pub value: String,
    /// The line that the entry begins on; the first line is 1.
    pub line: u32,
}

impl fmt::Debug for Property {
    /// Values of secret keys are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = if is_secret(&self.key) {
            "[hidden]"
        } else {
            &self.value
        };
        write!(f, "{}: {:?} = {value:?}", self.line, self.key)
    }
}

/// A properties file that Java would not read either.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {kind}")]
pub struct PropertiesError {
    /// The file, as the caller named it.
    pub file: String,
    /// The line that the entry begins on; the first line is 1.
    pub line: u32,
    /// What is wrong with it.
    pub kind: PropertiesErrorKind,
}

/// What makes a properties file unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PropertiesErrorKind {
    /// A `\u` that four hexadecimal digits do not follow.
    #[error("\\u must be followed by four hexadecimal digits (a backslash itself is written \\\\)")]
    UnicodeEscape,
    /// Half of a UTF-16 surrogate pair.
    #[error("\\u{0:04X} is half of a surrogate pair: write both halves, or the character itself")]
    LoneSurrogate(u16),
}

/// The text of a properties file: UTF-8, with or without a byte order mark; where it is not UTF-8,
/// ISO-8859-1, which is what Java's loader takes every file for.
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().copied().map(char::from).collect()),
    }
}

impl Properties {
    /// Reads the text of a file; `file` is its name in messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, PropertiesError> {
        let mut entries = Vec::new();
        for logical in LogicalLines::new(text) {
            let fail = |kind| PropertiesError {
                file: file.to_owned(),
                line: logical.line,
                kind,
            };
            let (key, value) = split(&logical.text);
            let key = unescape(key).map_err(fail)?;
            let value = unescape(value).map_err(fail)?;
            entries.push(Property {
                key,
                value,
                line: logical.line,
            });
        }
        Ok(Self {
            file: file.to_owned(),
            entries,
        })
    }

    /// No entries, for a client that was given no file.
    pub fn empty() -> Self {
        Self {
            file: String::new(),
            entries: Vec::new(),
        }
    }

    /// The entries that a predicate keeps.
    pub(crate) fn filtered(&self, keep: impl Fn(&Property) -> bool) -> Self {
        let entries = self
            .entries
            .iter()
            .filter(|entry| keep(entry))
            .cloned()
            .collect();
        Self {
            file: self.file.clone(),
            entries,
        }
    }

    /// The name of the file, as the caller gave it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The entry that counts for a key: the last one.
    pub fn get(&self, key: &str) -> Option<&Property> {
        self.entries.iter().rev().find(|entry| entry.key == key)
    }

    /// The entries that count, each key once, in the order in which the keys first appear.
    pub fn effective(&self) -> impl Iterator<Item = &Property> {
        let last: BTreeMap<&str, &Property> = self
            .entries
            .iter()
            .map(|entry| (&*entry.key, entry))
            .collect();
        let mut seen = BTreeSet::new();
        let mut keys = self.entries.iter().map(|entry| entry.key.as_str());
        let next = move || keys.find(|key| seen.insert(*key));
        std::iter::from_fn(next).map(move |key| last[key])
    }

    /// Every entry in the order of the file, repeated keys included.
    pub fn iter(&self) -> impl Iterator<Item = &Property> {
        self.entries.iter()
    }
}

/// A line of the file with its continuation lines joined; escapes are still in it.
struct LogicalLine {
    text: String,
    line: u32,
}

struct LogicalLines<'a> {
    rest: Option<&'a str>,
    line: u32,
}

impl<'a> LogicalLines<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            rest: Some(text),
            line: 0,
        }
    }

    /// The next line as it is in the file, without its terminator (`\n`, `\r` or `\r\n`).
    fn natural_line(&mut self) -> Option<&'a str> {
        let rest = self.rest?;
        self.line += 1;
        match rest.find(['\n', '\r']) {
            Some(end) => {
                let after = &rest[end..];
                let skip = if after.starts_with("\r\n") { 2 } else { 1 };
                self.rest = Some(&after[skip..]);
                Some(&rest[..end])
            }
            None => {
                self.rest = None;
                Some(rest)
            }
        }
    }
}

impl Iterator for LogicalLines<'_> {
    type Item = LogicalLine;

    fn next(&mut self) -> Option<LogicalLine> {
        loop {
            let first = self.natural_line()?.trim_start_matches(is_blank);
            if first.is_empty() || first.starts_with(['#', '!']) {
                continue;
            }
            let line = self.line;
            let mut text = String::new();
            let mut part = first;
            while let Some(continued) = continued(part) {
                text.push_str(continued);
                match self.natural_line() {
                    Some(next) => part = next.trim_start_matches(is_blank),
                    None => part = "",
                }
            }
            // As in Java, a comment may begin after continuation lines that hold nothing.
            if text.is_empty() && part.starts_with(['#', '!']) {
                continue;
            }
            text.push_str(part);
            if !text.is_empty() {
                return Some(LogicalLine { text, line });
            }
        }
    }
}

/// What is before the backslash, where the line ends in an odd number of them.
fn continued(line: &str) -> Option<&str> {
    let backslashes = line.bytes().rev().take_while(|&byte| byte == b'\\').count();
    if backslashes % 2 == 1 {
        line.strip_suffix('\\')
    } else {
        None
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\x0C')
}

/// Key and value, both still escaped.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = line.find(|c| {
        let ends = !escaped && (matches!(c, '=' | ':') || is_blank(c));
        escaped = c == '\\' && !escaped;
        ends
    });
    let Some(end) = end else { return (line, "") };
    let rest = line[end..].trim_start_matches(is_blank);
    let rest = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    (&line[..end], rest.trim_start_matches(is_blank))
}

fn unescape(text: &str) -> Result<String, PropertiesErrorKind> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(backslash) = rest.find('\\') {
        out.push_str(&rest[..backslash]);
        let mut after = rest[backslash + 1..].chars();
        match after.next() {
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('f') => out.push('\x0C'),
            Some('u') => {
                let (c, used) = unicode(&rest[backslash..])?;
                out.push(c);
                rest = &rest[backslash + used..];
                continue;
            }
            Some(other) => out.push(other),
            None => {}
        }
        rest = after.as_str();
    }
    out.push_str(rest);
    Ok(out)
}

/// The character of `\uXXXX`, or of two of them that are a surrogate pair, and how many bytes it
/// took.
fn unicode(text: &str) -> Result<(char, usize), PropertiesErrorKind> {
    let first = unit(text).ok_or(PropertiesErrorKind::UnicodeEscape)?;
    if let Some(c) = char::from_u32(u32::from(first)) {
        return Ok((c, 6));
    }
    let second = text.get(6..).and_then(unit);
    let mut decoded = char::decode_utf16([first].into_iter().chain(second));
    match decoded.next() {
        Some(Ok(c)) => Ok((c, 12)),
        _ => Err(PropertiesErrorKind::LoneSurrogate(first)),
    }
}

fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        u16::from_str_radix(digits, 16).ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
