use klamm_protocol::{ApiKey, ApiVersion};

use super::element::Html;
use super::message::whole;
use super::shell::{Section, Shell};
use super::versions::{Versions, changes, changes_section, schema};
use crate::decode::{request, response};
use crate::{Direction, NoSuchVersion, Options, about, json, message_schema, smallest_frame};

/// The page of an API, with all that it needs in it. `api` is the version that is shown first.
pub fn api_page(api: ApiVersion) -> Result<String, NoSuchVersion> {
    page(api, Shell::Alone)
}

pub(super) fn page(api: ApiVersion, shell: Shell) -> Result<String, NoSuchVersion> {
    let key = api.key;
    let range = key.coded_versions();
    let all: Vec<i16> = range.iter().collect();
    let shown = all.iter().position(|version| *version == api.version);
    let stable = key.stable_versions();
    let versions = Versions {
        shown: shown.ok_or(NoSuchVersion { api })?,
        unstable: (stable.max < range.max).then_some(stable.max + 1),
        all,
    };
    let panels = versions
        .all
        .iter()
        .map(|version| {
            panel(ApiVersion {
                key,
                version: *version,
            })
        })
        .collect::<Result<Vec<Html>, _>>()?;
    let mut differences = Html::new();
    changes_section((range.min, range.max), &mut differences, |between, html| {
        Direction::BOTH.into_iter().try_for_each(|direction| {
            let list = crate::changes::between(key, direction, between)?;
            changes(direction.name(), &list, html);
            Ok(())
        })
    })?;
    let name = key.name().unwrap_or_default();
    let title = format!("{name} ({}) — Kafka protocol", key.0);
    let mut content = Html::new();
    let html = &mut content;
    html.element("div", &[("class", "title")], |html| {
        html.leaf("h1", &[], name);
        let key = format!("API key {}", key.0);
        html.leaf("span", &[("class", "key")], &key);
    });
    if let Some(purpose) = about::message(name) {
        html.element("p", &[("class", "lead")], |html| html.prose(purpose));
    }
    facts(key, html);
    versions.add(&panels, &differences, html);
    Ok(shell.page(Section::Apis, &title, &content))
}

/// What holds in every version.
fn facts(key: ApiKey, html: &mut Html) {
    let (Some(request), Some(response)) = (
        message_schema(key, Direction::Request),
        message_schema(key, Direction::Response),
    ) else {
        return;
    };
    let listeners: Vec<&str> = key
        .listeners()
        .iter()
        .map(|listener| json::listener(*listener))
        .collect();
    let mut rows = vec![
        ("Versions", request.valid_versions.to_string()),
        ("Flexible versions", request.flexible_versions.to_string()),
        ("Listeners", listeners.join(", ")),
    ];
    if request.valid_versions != response.valid_versions {
        let versions = response.valid_versions.to_string();
        rows.insert(1, ("Response versions", versions));
    }
    html.facts(&rows);
}

/// All that a version decides: bytes and fields of request and response, and their schemas.
fn panel(api: ApiVersion) -> Result<Html, NoSuchVersion> {
    let mut html = Html::new();
    let attributes = [("id", "bytes"), ("data-tab", "Bytes")];
    html.element("section", &attributes, |html| {
        Direction::BOTH
            .into_iter()
            .try_for_each(|direction| smallest(api, direction, html))
    })?;
    let attributes = [("id", "schema"), ("data-tab", "Schema")];
    html.element("section", &attributes, |html| {
        for direction in Direction::BOTH {
            if let Some(of) = message_schema(api.key, direction) {
                let id = format!("{}-schema", direction.name());
                schema(of, api.version, &id, html);
            }
        }
    });
    Ok(html)
}

fn smallest(api: ApiVersion, direction: Direction, html: &mut Html) -> Result<(), NoSuchVersion> {
    let frame = smallest_frame(api, direction)?;
    let schema = message_schema(api.key, direction).ok_or(NoSuchVersion { api })?;
    let size = frame.len();
    let tree = match direction {
        Direction::Request => request(frame, &Options::default()),
        Direction::Response => response(frame, api, &Options::default()),
    };
    let label = format!("{} v{}", schema.name, api.version);
    html.element("h2", &[("id", direction.name())], |html| {
        html.text(&label);
        html.text(" ");
        let header = direction.header_version(api.key, api.version);
        let facts = format!("{}, header v{header}", crate::words::bytes(size));
        html.leaf("small", &[], &facts);
    });
    let purpose = api.key.name().and_then(about::message);
    if let Some(text) = about::message(&schema.name).filter(|text| Some(*text) != purpose) {
        html.element("p", &[], |html| html.prose(text));
    }
    whole(&tree, &label, false, html);
    Ok(())
}
