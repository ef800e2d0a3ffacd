//! Schema files in the form that this project keeps them in: without comments and descriptions, a
//! field a line.

use std::fmt;

use klamm_schema::without_comments;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// JSON that keeps the order of its keys.
#[derive(Clone, Debug, PartialEq)]
enum Json {
    /// A text, a number, a boolean or null, as it is written.
    Scalar(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// How long the line of a field may be, with the comma after it.
const MAX_COLUMNS: usize = 118;

/// A schema file without what does not reach the wire.
pub(super) fn condense(text: &str) -> Result<String, String> {
    let json: Json =
        serde_json::from_str(&without_comments(text)).map_err(|error| error.to_string())?;
    let mut out = String::new();
    write(&json, 0, 0, &mut out);
    out.push('\n');
    Ok(out)
}

/// `after` is how many columns are needed after the value, for a comma.
fn write(json: &Json, depth: usize, after: usize, out: &mut String) {
    if is_line(json) {
        let mut line = String::new();
        write_line(json, &mut line);
        let is_scalar = matches!(json, Json::Scalar(_));
        if is_scalar || 2 * depth + line.len() + after <= MAX_COLUMNS {
            return out.push_str(&line);
        }
    }
    let (open, items, close) = match json {
        Json::Scalar(_) => return,
        Json::Array(values) => {
            let items: Vec<_> = values.iter().map(|value| (None, value)).collect();
            ('[', items, ']')
        }
        Json::Object(entries) => {
            let entries = entries.iter().filter(|(name, _)| name != "about");
            let items = entries.map(|(name, value)| (Some(name), value));
            ('{', items.collect(), '}')
        }
    };
    out.push(open);
    for (index, (name, value)) in items.iter().enumerate() {
        let is_last = index + 1 == items.len();
        out.push('\n');
        out.push_str(&"  ".repeat(depth + 1));
        if let Some(name) = name {
            out.push_str(&format!("{name:?}: "));
        }
        write(value, depth + 1, usize::from(!is_last), out);
        if !is_last {
            out.push(',');
        }
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push(close);
}

/// Whether a value takes one line: scalars, lists of them, and fields without fields.
fn is_line(json: &Json) -> bool {
    let is_scalar = |json: &Json| matches!(json, Json::Scalar(_));
    let is_object = |json: &Json| matches!(json, Json::Object(_));
    match json {
        Json::Scalar(_) => true,
        Json::Array(values) => values.iter().all(is_scalar),
        Json::Object(entries) => entries
            .iter()
            .all(|(_, value)| is_line(value) && !is_object(value)),
    }
}

fn write_line(json: &Json, out: &mut String) {
    match json {
        Json::Scalar(text) => out.push_str(text),
        Json::Array(values) => {
            out.push('[');
            for (index, value) in values.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                write_line(value, out);
            }
            out.push(']');
        }
        Json::Object(entries) => {
            out.push('{');
            let entries = entries.iter().filter(|(name, _)| name != "about");
            for (index, (name, value)) in entries.enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                out.push_str(&format!("{name:?}: "));
                write_line(value, out);
            }
            out.push('}');
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Scalar(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Scalar(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Scalar(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Scalar(value.to_string()))
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Scalar("null".into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Scalar(serde_json::Value::from(value).to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(value) = values.next_element()? {
            array.push(value);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            object.push(entry);
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn comments_and_descriptions_go() {
        let text = r#"// A licence.
{
  "type": "data", "name": "A", "about": "All of it.", // Why.
  "validVersions": "0", "fields": [
    { "name": "B", "type": "string", "versions": "0+",
      "about": "See http://kafka", "default": "a//\"b" },
    { "name": "C", "type": "[]D", "versions": "0+", "fields": [
      { "name": "E", "type": "int8", "versions": "0+" } ]}
  ]
}"#;
        let condensed = r#"{
  "type": "data",
  "name": "A",
  "validVersions": "0",
  "fields": [
    {"name": "B", "type": "string", "versions": "0+", "default": "a//\"b"},
    {
      "name": "C",
      "type": "[]D",
      "versions": "0+",
      "fields": [
        {"name": "E", "type": "int8", "versions": "0+"}
      ]
    }
  ]
}
"#;
        assert_eq!(condense(text).as_deref(), Ok(condensed));
    }

    #[test]
    fn this_projects_schemas_are_in_this_form() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/protocol/schemas");
        let mut count = 0;
        for folder in fs::read_dir(root).unwrap() {
            for file in fs::read_dir(folder.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                let text = fs::read_to_string(&path).unwrap();
                assert_eq!(condense(&text), Ok(text), "{}", path.display());
                count += 1;
            }
        }
        assert!(count > 200, "{count}");
    }
}
