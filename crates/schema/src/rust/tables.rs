use super::code::Code;
use super::shape::identifier;
use crate::{Kind, Schema, Versions, snake_case};

/// The name of the module of an API: that of its messages without `Request` and `Response`.
pub(super) fn api_module(schema: &Schema) -> String {
    snake_case(api_name(schema))
}

fn api_name(schema: &Schema) -> &str {
    let name = schema.name.as_str();
    name.strip_suffix("Request")
        .or_else(|| name.strip_suffix("Response"))
        .unwrap_or(name)
}

/// Implements `Request` for a request.
pub(super) fn request(schema: &Schema, code: &mut Code) {
    let name = api_name(schema);
    code.line(format!("impl Request for {} {{", schema.name));
    code.line(format!("const KEY: ApiKey = ApiKey::{};", constant(name)));
    code.line(format!(
        "const STABLE: VersionRange = {};",
        range(schema.stable_versions())
    ));
    code.line(format!("type Response = {name}Response;"));
    code.line("}");
}

/// A table of every message of a module tree.
pub(super) fn codecs<'a>(schemas: impl Iterator<Item = &'a Schema>, root: &str, code: &mut Code) {
    code.line("");
    code.line("/// Every message of this module, in no particular order.");
    code.line("pub const CODECS: &[crate::Codec] = &[");
    for schema in schemas {
        let module = match schema.kind {
            Kind::Request | Kind::Response => api_module(schema),
            _ => snake_case(&schema.name),
        };
        let key = match schema.api_key {
            Some(key) => format!("Some({key})"),
            None => "None".to_owned(),
        };
        code.line(format!(
            "crate::Codec::of::<{root}::{}::{}>(crate::MessageKind::{:?}, {key}),",
            identifier(&module),
            schema.name,
            schema.kind
        ));
    }
    code.line("];");
}

/// Constants for every API key, and the table `KNOWN`, which is indexed by key.
pub(super) fn api_keys(schemas: &[&Schema]) -> String {
    let mut requests: Vec<&Schema> = schemas
        .iter()
        .copied()
        .filter(|schema| schema.kind == Kind::Request && schema.api_key.is_some())
        .collect();
    requests.sort_by_key(|schema| schema.api_key);
    let mut code = Code::new();
    code.line("#[allow(missing_docs, reason = \"the names are the APIs' own\")]");
    code.line("impl ApiKey {");
    for schema in &requests {
        code.line(format!(
            "pub const {}: Self = Self({});",
            constant(api_name(schema)),
            schema.api_key.unwrap_or(-1)
        ));
    }
    code.line("}");
    code.line("");
    code.line("const KNOWN: &[Known] = &[");
    for schema in &requests {
        code.line("Known {");
        code.line(format!("name: {:?},", api_name(schema)));
        code.line(format!("coded: {},", range(schema.valid_versions)));
        code.line(format!("stable: {},", range(schema.stable_versions())));
        code.line(format!(
            "flexible: {},",
            range(schema.flexible_versions.intersect(schema.valid_versions))
        ));
        let listeners: Vec<&str> = schema
            .listeners
            .iter()
            .filter_map(|listener| match listener.as_str() {
                "broker" => Some("Listener::Broker"),
                "controller" => Some("Listener::Controller"),
                _ => None,
            })
            .collect();
        code.line(format!("listeners: &[{}],", listeners.join(", ")));
        code.line("},");
    }
    code.line("];");
    code.into_text()
}

/// Constants for every error code and the table `KNOWN`, in ascending order, from lines of
/// `code name exception retriable invalid_metadata` separated by tabs, after a heading.
///
/// # Errors
/// The line that is not of that form.
pub fn error_codes(table: &str) -> Result<String, String> {
    let mut constants = Code::new();
    let mut known = Code::new();
    constants.line("#[allow(missing_docs, reason = \"the names are Kafka's own\")]");
    constants.line("impl ErrorCode {");
    known.line("const KNOWN: &[Known] = &[");
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [code, name, _, retriable, invalid_metadata] = fields[..] else {
            return Err(line.to_owned());
        };
        let parsed = (
            code.parse::<i16>(),
            retriable.parse::<bool>(),
            invalid_metadata.parse::<bool>(),
        );
        let (Ok(code), Ok(retriable), Ok(invalid_metadata)) = parsed else {
            return Err(line.to_owned());
        };
        constants.line(format!("pub const {name}: Self = Self({code});"));
        known.line(format!(
            "Known {{ code: {code}, name: {name:?}, retriable: {retriable}, \
             invalid_metadata: {invalid_metadata} }},"
        ));
    }
    constants.line("}");
    known.line("];");
    Ok(constants.into_text() + &known.into_text())
}

fn constant(name: &str) -> String {
    snake_case(name).to_uppercase()
}

fn range(versions: Versions) -> String {
    if versions.is_empty() {
        return "VersionRange::NONE".to_owned();
    }
    format!("VersionRange::new({}, {})", versions.min, versions.max)
}
