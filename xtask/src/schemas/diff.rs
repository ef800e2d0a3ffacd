use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use klamm_schema::{Default, Field, Schema, Struct};

/// What differs, a line each: `+` for what only `theirs` have, `-` for what only `ours` have, `~`
/// for what both have in different forms.
pub(super) fn compare(
    ours: &BTreeMap<&str, &Schema>,
    theirs: &BTreeMap<&str, &Schema>,
) -> Vec<String> {
    let mut lines = Vec::new();
    let names: BTreeSet<&&str> = ours.keys().chain(theirs.keys()).collect();
    for name in names {
        match (ours.get(*name), theirs.get(*name)) {
            (Some(ours), Some(theirs)) => schemas(ours, theirs, &mut lines),
            (None, Some(theirs)) => lines.push(format!("+ {}", describe(theirs))),
            (Some(ours), None) => lines.push(format!("- {}", describe(ours))),
            (None, None) => {}
        }
    }
    lines
}

fn describe(schema: &Schema) -> String {
    let key = schema.api_key.map(|key| format!(" {key}"));
    format!(
        "{}: {:?}{}, versions {}",
        schema.name,
        schema.kind,
        key.unwrap_or_default(),
        schema.valid_versions
    )
}

fn schemas(ours: &Schema, theirs: &Schema, lines: &mut Vec<String>) {
    let name = &ours.name;
    let mut changed = |what: &str, old: &dyn Debug, new: &dyn Debug| {
        let (old, new) = (format!("{old:?}"), format!("{new:?}"));
        if old != new {
            lines.push(format!("~ {name}: {what} {old} -> {new}"));
        }
    };
    changed("key", &ours.api_key, &theirs.api_key);
    changed("kind", &ours.kind, &theirs.kind);
    changed("listeners", &ours.listeners, &theirs.listeners);
    changed(
        "latest version unstable",
        &ours.latest_version_unstable,
        &theirs.latest_version_unstable,
    );
    for (what, old, new) in [
        ("versions", ours.valid_versions, theirs.valid_versions),
        (
            "flexible versions",
            ours.flexible_versions,
            theirs.flexible_versions,
        ),
    ] {
        if old != new {
            lines.push(format!("~ {name}: {what} {old} -> {new}"));
        }
    }
    structs(name, &ours.root, &theirs.root, lines);
    for theirs in &theirs.structs {
        match ours.find(&theirs.name) {
            Some(ours) => structs(&format!("{name}.{}", ours.name), ours, theirs, lines),
            None => lines.push(format!(
                "+ {name}.{}: struct, versions {}",
                theirs.name, theirs.versions
            )),
        }
    }
    for ours in &ours.structs {
        if theirs.find(&ours.name).is_none() {
            lines.push(format!(
                "- {name}.{}: struct, versions {}",
                ours.name, ours.versions
            ));
        }
    }
}

fn structs(place: &str, ours: &Struct, theirs: &Struct, lines: &mut Vec<String>) {
    let find = |fields: &[Field], name: &str| {
        fields
            .iter()
            .find(|field| field.name == name)
            .map(describe_field)
    };
    for field in &theirs.fields {
        let new = describe_field(field);
        match find(&ours.fields, &field.name) {
            None => lines.push(format!("+ {place}.{}: {new}", field.name)),
            Some(old) if old != new => {
                lines.push(format!("~ {place}.{}: {old} -> {new}", field.name));
            }
            Some(_) => {}
        }
    }
    for field in &ours.fields {
        if find(&theirs.fields, &field.name).is_none() {
            lines.push(format!(
                "- {place}.{}: {}",
                field.name,
                describe_field(field)
            ));
        }
    }
    let order = |fields: &[Field]| -> Vec<String> {
        let shared = fields.iter().filter(|field| {
            find(&ours.fields, &field.name).is_some() && find(&theirs.fields, &field.name).is_some()
        });
        shared.map(|field| field.name.clone()).collect()
    };
    if order(&ours.fields) != order(&theirs.fields) {
        lines.push(format!("~ {place}: the fields are in another order"));
    }
}

/// Everything about a field that matters on the wire.
fn describe_field(field: &Field) -> String {
    let mut text = format!("{}, versions {}", field.ty, field.versions);
    if !field.nullable_versions.is_empty() {
        text.push_str(&format!(", null in {}", field.nullable_versions));
    }
    if let Some(tag) = field.tag {
        text.push_str(&format!(", tag {tag} in {}", field.tagged_versions));
    }
    if let Some(flexible) = field.flexible_versions {
        text.push_str(&format!(", compact in {flexible}"));
    }
    match &field.default {
        Default::Zero => {}
        Default::Null => text.push_str(", default null"),
        Default::True => text.push_str(", default true"),
        Default::Int(number) => text.push_str(&format!(", default {number}")),
        Default::Float(number) => text.push_str(&format!(", default {number}")),
        Default::Text(default) => text.push_str(&format!(", default {default:?}")),
    }
    if field.ignorable {
        text.push_str(", ignorable");
    }
    if field.map_key {
        text.push_str(", map key");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(ours: &[&str], theirs: &[&str]) -> Vec<String> {
        let parse = |texts: &[&str]| -> Vec<Schema> {
            let schemas = texts.iter().map(|text| Schema::parse(text).unwrap());
            schemas.collect()
        };
        let (ours, theirs) = (parse(ours), parse(theirs));
        let by_name = |schemas: &'static [Schema]| {
            let named = schemas.iter().map(|schema| (&*schema.name, schema));
            named.collect::<BTreeMap<&str, &Schema>>()
        };
        let leak = |schemas: Vec<Schema>| -> &'static [Schema] { schemas.leak() };
        compare(&by_name(leak(ours)), &by_name(leak(theirs)))
    }

    const OLD: &str = r#"{"apiKey": 1, "type": "request", "name": "ARequest",
        "validVersions": "0-1", "flexibleVersions": "1+", "fields": [
        {"name": "One", "type": "int32", "versions": "0+"},
        {"name": "Two", "type": "[]Part", "versions": "0+", "fields": [
            {"name": "Name", "type": "string", "versions": "0+"}]}]}"#;

    #[test]
    fn the_same_differs_in_nothing() {
        let commented = OLD.replacen("[\n", "[ // A note.\n", 1);
        assert_eq!(lines(&[OLD], &[&commented]), [""; 0]);
    }

    #[test]
    fn what_came_went_and_changed_is_told() {
        let new = r#"{"apiKey": 1, "type": "request", "name": "ARequest",
            "validVersions": "0-2", "flexibleVersions": "1+", "fields": [
            {"name": "Two", "type": "[]Part", "versions": "0+", "fields": [
                {"name": "Name", "type": "string", "versions": "0+", "nullableVersions": "2+"},
                {"name": "More", "type": "int8", "versions": "2+", "default": "-1"}]},
            {"name": "One", "type": "int64", "versions": "0+"}]}"#;
        let response = r#"{"apiKey": 1, "type": "response", "name": "AResponse",
            "validVersions": "0", "fields": []}"#;
        assert_eq!(
            lines(&[OLD], &[new, response]),
            [
                "~ ARequest: versions 0-1 -> 0-2",
                "~ ARequest.One: int32, versions 0+ -> int64, versions 0+",
                "~ ARequest: the fields are in another order",
                "~ ARequest.Part.Name: string, versions 0+ -> string, versions 0+, null in 2+",
                "+ ARequest.Part.More: int8, versions 2+, default -1",
                "+ AResponse: Response 1, versions 0",
            ]
        );
        assert_eq!(lines(&[OLD], &[]), ["- ARequest: Request 1, versions 0-1"]);
    }
}
