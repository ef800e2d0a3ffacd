use std::borrow::Cow;

use crate::words::count;
use crate::{Node, Value};

/// How many characters of a value a table shows.
const LONGEST: usize = 60;

/// A value for people, with what it stands for.
pub(crate) fn shown(node: &Node) -> String {
    let value = plain(node);
    match &node.note {
        Some(note) if value.is_empty() => note.to_string(),
        Some(note) => format!("{value} ({note})"),
        None => value.into_owned(),
    }
}

/// A value for people.
pub(crate) fn shown_value(node: &Node) -> String {
    plain(node).into_owned()
}

fn plain(node: &Node) -> Cow<'static, str> {
    match &node.value {
        Value::None => "".into(),
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string().into(),
        Value::Int(value) => value.to_string().into(),
        Value::Float(value) => value.to_string().into(),
        Value::Uuid(id) => base64_url(id).into(),
        Value::Text(text) => quoted(text).into(),
        Value::Bytes(bytes) => bytes_shown(bytes).into(),
        Value::Opened(bytes) => count(bytes.len(), "byte").into(),
        Value::Count(elements) if node.ty == "tagged fields" => {
            if *elements == 0 {
                "none".into()
            } else {
                count(*elements, "field").into()
            }
        }
        Value::Count(elements) => count(*elements, "element").into(),
        Value::Hidden(len) => format!("(hidden, {})", count(*len, "byte")).into(),
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for (index, c) in text.chars().enumerate() {
        if index == LONGEST {
            out.push_str(&format!("\"… ({})", count(text.len(), "byte")));
            return out;
        }
        if c == '"' || c == '\\' {
            out.push('\\');
        }
        push_printable(c, &mut out);
    }
    out.push('"');
    out
}

/// A text without characters that terminals obey.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push_printable(c, &mut out));
    out
}

fn push_printable(c: char, out: &mut String) {
    if c.is_control() || turns(c) {
        out.extend(c.escape_default());
    } else {
        out.push(c);
    }
}

/// Whether a character breaks the line, or has what follows it run the other way, so that a line seems
/// to say what it does not.
fn turns(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Bytes for people: as text where they are one.
pub(crate) fn bytes_shown(bytes: &[u8]) -> String {
    let is_text = |text: &str| !text.is_empty() && !text.chars().any(char::is_control);
    match std::str::from_utf8(bytes) {
        Ok(text) if is_text(text) => quoted(text),
        _ if bytes.is_empty() => "empty".to_owned(),
        _ if bytes.len() > LONGEST / 3 => {
            format!(
                "{}… ({})",
                hex(&bytes[..LONGEST / 3]),
                count(bytes.len(), "byte")
            )
        }
        _ => hex(bytes),
    }
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// A UUID as Kafka writes it: base64 with `-` and `_`, without padding.
pub(crate) fn base64_url(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 4];
        group[1..=chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes(group);
        for digit in 0..=chunk.len() {
            text.push(char::from(
                LETTERS[(bits >> (18 - 6 * digit)) as usize & 63],
            ));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_place() {
        for (text, shown) in [
            ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\u{2066}b\u{2028}", "a\\u{2066}b\\u{2028}"),
            ("Grüße \"ß\"", "Grüße \"ß\""),
        ] {
            assert_eq!(printable(text), shown);
            assert_eq!(quoted(text), format!("\"{}\"", shown.replace('"', "\\\"")));
        }
    }
}
