use serde_json::{Map, Value};

use crate::{Default, Field, Kind, Schema, SchemaError, Struct, Type, Versions, without_comments};

impl Schema {
    /// Parses the text of a schema file. Comments, which Apache Kafka's own files have, are allowed.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let value: Value = serde_json::from_str(&without_comments(text))?;
        let object = value
            .as_object()
            .ok_or_else(|| SchemaError::invalid("schema", "is not a JSON object"))?;
        let name = text_of(object, "name", "schema")?.to_owned();
        let kind = kind(text_of(object, "type", &name)?, &name)?;
        let valid_versions = versions(object, "validVersions", &name)?
            .ok_or_else(|| SchemaError::invalid(&name, "has no validVersions"))?;
        let mut parser = Parser {
            structs: Vec::new(),
        };
        for common in objects(object, "commonStructs", &name)? {
            let place = format!("{name}.commonStructs");
            let struct_name = text_of(common, "name", &place)?;
            let struct_versions = versions(common, "versions", &place)?.unwrap_or(valid_versions);
            parser.define(common, struct_name, struct_versions, &name)?;
        }
        let fields = parser.fields(object, &name)?;
        let schema = Self {
            api_key: object
                .get("apiKey")
                .map(|key| int16(key, &name))
                .transpose()?,
            kind,
            listeners: texts(object, "listeners", &name)?,
            valid_versions,
            flexible_versions: versions(object, "flexibleVersions", &name)?
                .unwrap_or(Versions::NONE),
            latest_version_unstable: object.get("latestVersionUnstable")
                == Some(&Value::Bool(true)),
            root: Struct {
                name: name.clone(),
                versions: valid_versions,
                fields,
            },
            structs: parser.structs,
            name,
        };
        schema.check()?;
        Ok(schema)
    }

    /// Makes sure of what the rest of the crate takes for granted.
    fn check(&self) -> Result<(), SchemaError> {
        if self.valid_versions.max == i16::MAX {
            return Err(SchemaError::invalid(&self.name, "validVersions has no end"));
        }
        for owner in std::iter::once(&self.root).chain(&self.structs) {
            for field in &owner.fields {
                let place = format!("{}.{}", owner.name, field.name);
                if let Some(name) = field.ty.struct_name()
                    && self.find(name).is_none()
                {
                    return Err(SchemaError::invalid(
                        place,
                        format!("no struct is called {name}"),
                    ));
                }
                if self.contains_itself(field, &mut Vec::new()) {
                    return Err(SchemaError::invalid(
                        place,
                        "leads to a struct that contains itself",
                    ));
                }
                if field.tag.is_none() != field.tagged_versions.is_empty() {
                    return Err(SchemaError::invalid(
                        place,
                        "tag and taggedVersions go together",
                    ));
                }
                if !self
                    .flexible_versions
                    .covers(field.tagged_versions.intersect(self.valid_versions))
                {
                    return Err(SchemaError::invalid(
                        place,
                        "is tagged where nothing is flexible",
                    ));
                }
                if field.default == Default::Null && !field.is_nullable() {
                    return Err(SchemaError::invalid(
                        place,
                        "is null by default, but not nullable",
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Schema {
    /// Whether a field's struct leads back to itself, by structs or arrays of structs.
    fn contains_itself<'a>(&'a self, field: &'a Field, path: &mut Vec<&'a str>) -> bool {
        let Some(owner) = field.ty.struct_name().and_then(|name| self.find(name)) else {
            return false;
        };
        if path.contains(&owner.name.as_str()) {
            return true;
        }
        path.push(&owner.name);
        let found = owner
            .fields
            .iter()
            .any(|field| self.contains_itself(field, path));
        path.pop();
        found
    }
}

struct Parser {
    structs: Vec<Struct>,
}

impl Parser {
    fn define(
        &mut self,
        object: &Map<String, Value>,
        name: &str,
        versions: Versions,
        schema: &str,
    ) -> Result<(), SchemaError> {
        if self.structs.iter().any(|known| known.name == name) {
            return Err(SchemaError::invalid(
                schema,
                format!("struct {name} is defined twice"),
            ));
        }
        // The place is kept first, so that structs stand in the order in which they occur.
        let index = self.structs.len();
        self.structs.push(Struct {
            name: name.to_owned(),
            versions,
            fields: Vec::new(),
        });
        self.structs[index].fields = self.fields(object, name)?;
        Ok(())
    }

    fn fields(
        &mut self,
        object: &Map<String, Value>,
        owner: &str,
    ) -> Result<Vec<Field>, SchemaError> {
        objects(object, "fields", owner)?
            .into_iter()
            .map(|field| self.field(field, owner))
            .collect()
    }

    fn field(&mut self, object: &Map<String, Value>, owner: &str) -> Result<Field, SchemaError> {
        let name = text_of(object, "name", owner)?.to_owned();
        let place = format!("{owner}.{name}");
        let ty = field_type(text_of(object, "type", &place)?, &place)?;
        let tagged_versions = versions(object, "taggedVersions", &place)?.unwrap_or(Versions::NONE);
        let field_versions = match versions(object, "versions", &place)? {
            Some(versions) => versions,
            None if !tagged_versions.is_empty() => tagged_versions,
            None => return Err(SchemaError::invalid(place, "has no versions")),
        };
        if object.contains_key("fields") {
            let struct_name = ty
                .struct_name()
                .ok_or_else(|| SchemaError::invalid(&place, "has fields, but is no struct"))?;
            self.define(object, struct_name, field_versions, owner)?;
        }
        Ok(Field {
            about: object
                .get("about")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            default: default(object.get("default"), &ty, &place)?,
            ty,
            versions: field_versions,
            nullable_versions: versions(object, "nullableVersions", &place)?
                .unwrap_or(Versions::NONE),
            tagged_versions,
            tag: object
                .get("tag")
                .map(|tag| tag_of(tag, &place))
                .transpose()?,
            flexible_versions: versions(object, "flexibleVersions", &place)?,
            ignorable: object
                .get("ignorable")
                .is_some_and(|value| truth(value) == Some(true)),
            map_key: object
                .get("mapKey")
                .is_some_and(|value| truth(value) == Some(true)),
            entity_type: object
                .get("entityType")
                .and_then(Value::as_str)
                .map(str::to_owned),
            name,
        })
    }
}

fn kind(text: &str, place: &str) -> Result<Kind, SchemaError> {
    Ok(match text {
        "request" => Kind::Request,
        "response" => Kind::Response,
        "header" => Kind::Header,
        "metadata" => Kind::Metadata,
        "data" => Kind::Data,
        "coordinator-key" => Kind::CoordinatorKey,
        "coordinator-value" => Kind::CoordinatorValue,
        _ => {
            return Err(SchemaError::invalid(
                place,
                format!("type {text:?} is not known"),
            ));
        }
    })
}

fn field_type(text: &str, place: &str) -> Result<Type, SchemaError> {
    if let Some(element) = text.strip_prefix("[]") {
        return match field_type(element, place)? {
            Type::Array(_) | Type::Records => Err(SchemaError::invalid(
                place,
                format!("{text} is not supported"),
            )),
            element => Ok(Type::Array(Box::new(element))),
        };
    }
    Ok(match text {
        "bool" => Type::Bool,
        "int8" => Type::Int8,
        "int16" => Type::Int16,
        "uint16" => Type::Uint16,
        "int32" => Type::Int32,
        "uint32" => Type::Uint32,
        "int64" => Type::Int64,
        "float64" => Type::Float64,
        "uuid" => Type::Uuid,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "records" => Type::Records,
        name if name.starts_with(|c: char| c.is_ascii_uppercase()) => Type::Struct(name.to_owned()),
        _ => {
            return Err(SchemaError::invalid(
                place,
                format!("type {text:?} is not known"),
            ));
        }
    })
}

/// Defaults occur as texts (`"-1"`, `"0x7f"`, `"null"`), bare numbers and booleans. JSON's null is no
/// default at all for Apache Kafka, other than the text `"null"`.
fn default(value: Option<&Value>, ty: &Type, place: &str) -> Result<Default, SchemaError> {
    let text = match value {
        None | Some(Value::Null) => return Ok(Default::Zero),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let wrong = || SchemaError::invalid(place, format!("default {text:?} is no {ty}"));
    Ok(match (ty, text.as_str()) {
        (_, "") => Default::Zero,
        (Type::String, "null") => Default::Null,
        (Type::String, _) => Default::Text(text),
        (Type::Bool, "true") => Default::True,
        (Type::Bool, "false") => Default::Zero,
        (Type::Float64, _) => match text.parse::<f64>().map_err(|_| wrong())? {
            0.0 => Default::Zero,
            number => Default::Float(number),
        },
        (_, "null") if ty.fixed_size().is_none() => Default::Null,
        (Type::Uuid, _) | (Type::Bool, _) => return Err(wrong()),
        _ if ty.fixed_size().is_some() => match integer(&text).ok_or_else(wrong)? {
            0 => Default::Zero,
            number => Default::Int(number),
        },
        _ => return Err(wrong()),
    })
}

fn integer(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn truth(value: &Value) -> Option<bool> {
    value.as_bool().or_else(|| value.as_str()?.parse().ok())
}

fn text_of<'a>(
    object: &'a Map<String, Value>,
    key: &str,
    place: &str,
) -> Result<&'a str, SchemaError> {
    object
        .get(key)
        .and_then(Value::as_str)
        .ok_or_else(|| SchemaError::invalid(place, format!("has no text {key:?}")))
}

fn versions(
    object: &Map<String, Value>,
    key: &str,
    place: &str,
) -> Result<Option<Versions>, SchemaError> {
    object
        .get(key)
        .map(|value| {
            let text = value.as_str().ok_or_else(|| "is not a text".to_owned());
            text.and_then(str::parse)
                .map_err(|problem| SchemaError::invalid(place, format!("{key}: {problem}")))
        })
        .transpose()
}

fn objects<'a>(
    object: &'a Map<String, Value>,
    key: &str,
    place: &str,
) -> Result<Vec<&'a Map<String, Value>>, SchemaError> {
    let Some(value) = object.get(key) else {
        return Ok(Vec::new());
    };
    let wrong = || SchemaError::invalid(place, format!("{key} is not an array of objects"));
    let values = value.as_array().ok_or_else(wrong)?;
    values
        .iter()
        .map(|value| value.as_object().ok_or_else(wrong))
        .collect()
}

fn texts(object: &Map<String, Value>, key: &str, place: &str) -> Result<Vec<String>, SchemaError> {
    let Some(value) = object.get(key) else {
        return Ok(Vec::new());
    };
    let wrong = || SchemaError::invalid(place, format!("{key} is not an array of texts"));
    let values = value.as_array().ok_or_else(wrong)?;
    values
        .iter()
        .map(|value| value.as_str().map(str::to_owned).ok_or_else(wrong))
        .collect()
}

fn int16(value: &Value, place: &str) -> Result<i16, SchemaError> {
    value
        .as_i64()
        .and_then(|number| i16::try_from(number).ok())
        .ok_or_else(|| SchemaError::invalid(place, "apiKey is not an int16"))
}

fn tag_of(value: &Value, place: &str) -> Result<u32, SchemaError> {
    // Apache Kafka's own files have texts and bare numbers.
    let number = match value {
        Value::String(text) => text.parse().ok(),
        number => number
            .as_u64()
            .and_then(|number| u32::try_from(number).ok()),
    };
    number.ok_or_else(|| SchemaError::invalid(place, "tag is not an unsigned 32-bit integer"))
}

#[cfg(test)]
mod tests;
