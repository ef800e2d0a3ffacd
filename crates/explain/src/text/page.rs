use klamm_protocol::ApiVersion;

use super::{Look, layout, schema_text, tree, wrap};
use crate::decode::{request, response};
use crate::words::bytes;
use crate::{
    Direction, NoSuchVersion, Options, Severity, Tree, about, message_schema, smallest_frame,
};

/// Widest text of a paragraph.
const WIDEST: usize = 100;

/// The page of an API in a version: facts, and for each direction the smallest instance byte by byte.
pub fn page(
    api: ApiVersion,
    directions: &[Direction],
    look: Look,
) -> Result<String, NoSuchVersion> {
    let mut out = facts(api, look)?;
    let purpose = api.key.name().and_then(about::message);
    for direction in directions {
        let frame = smallest_frame(api, *direction)?;
        let schema = message_schema(api.key, *direction).ok_or(NoSuchVersion { api })?;
        let size = frame.len();
        let explained = match direction {
            Direction::Request => request(frame, &Options::default()),
            Direction::Response => response(frame, api, &Options::default()),
        };
        let title = format!("{} v{}", schema.name, api.version);
        out.push_str(&format!("\n{}: {}\n", look.bold(&title), bytes(size)));
        if let Some(text) = about::message(&schema.name).filter(|text| Some(*text) != purpose) {
            paragraph(text, look, &mut out);
        }
        out.push('\n');
        out.push_str(&layout(&explained, look));
        out.push('\n');
        out.push_str(&tree(&explained, look));
        out.push_str(&format!("\n{}\n", look.bold("Schema")));
        out.push_str(&schema_text(schema, api.version, look));
    }
    Ok(out)
}

pub(super) fn paragraph(text: &str, look: Look, out: &mut String) {
    for line in wrap(text, look.width.unwrap_or(WIDEST).min(WIDEST)) {
        out.push_str(&format!("{line}\n"));
    }
}

fn facts(api: ApiVersion, look: Look) -> Result<String, NoSuchVersion> {
    let missing = NoSuchVersion { api };
    let [request, response] = Direction::BOTH.map(|direction| message_schema(api.key, direction));
    let (request, response) = (request.ok_or(missing)?, response.ok_or(missing)?);
    if !request.valid_versions.contains(api.version) {
        return Err(missing);
    }
    let name = api.key.name().unwrap_or_default();
    let listeners: Vec<&str> = api
        .key
        .listeners()
        .iter()
        .map(|listener| crate::json::listener(*listener))
        .collect();
    let version = if request.stable_versions().contains(api.version) {
        api.version.to_string()
    } else {
        format!("{}, which is not stable yet", api.version)
    };
    let size = |direction| Ok(bytes(smallest_frame(api, direction)?.len()));
    let rows = [
        ("API key", api.key.0.to_string()),
        ("version", version),
        ("flexible versions", request.flexible_versions.to_string()),
        (
            "request header",
            format!(
                "version {}",
                Direction::Request.header_version(api.key, api.version)
            ),
        ),
        (
            "response header",
            format!(
                "version {}",
                Direction::Response.header_version(api.key, api.version)
            ),
        ),
        ("request versions", request.valid_versions.to_string()),
        ("response versions", response.valid_versions.to_string()),
        ("listeners", listeners.join(", ")),
        ("smallest request", size(Direction::Request)?),
        ("smallest response", size(Direction::Response)?),
    ];
    let mut out = format!("{}\n", look.bold(&format!("{name} ({})", api.key.0)));
    if let Some(purpose) = about::message(name) {
        paragraph(purpose, look, &mut out);
    }
    out.push('\n');
    facts_table(&rows, look, &mut out);
    Ok(out)
}

/// Words and what they are, a line each.
pub(super) fn facts_table(rows: &[(&str, String)], look: Look, out: &mut String) {
    for (word, value) in rows {
        out.push_str(&format!("{}  {value}\n", look.dim(&format!("{word:<17}"))));
    }
}

/// What bytes are: what they begin with, their layout and tree, and what is wrong with them.
pub fn decoded(explained: &Tree, look: Look) -> String {
    let mut out = format!("{}\n\n", look.bold(&title(explained)));
    out.push_str(&layout(explained, look));
    out.push('\n');
    out.push_str(&tree(explained, look));
    if !explained.problems.is_empty() {
        out.push('\n');
    }
    for problem in &explained.problems {
        let word = problem.severity.name();
        let word = if problem.severity == Severity::Notice {
            look.bold(word)
        } else {
            look.bad(word)
        };
        out.push_str(&format!("{word}: {problem}\n"));
    }
    out
}

pub(crate) fn title(explained: &Tree) -> String {
    let subject = &explained.subject;
    let mut title = match (subject.message, subject.api) {
        (Some(message), Some(api)) => format!("{message} v{}", api.version),
        (Some(message), None) => message.to_owned(),
        (None, Some(api)) => format!("{api} {}", subject.direction.map_or("", Direction::name)),
        (None, None) => explained.root.name.to_string(),
    };
    if let Some(id) = subject.correlation_id {
        title.push_str(&format!(", correlation id {id}"));
    }
    format!("{title}: {}", bytes(explained.bytes.len()))
}
