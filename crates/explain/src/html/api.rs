use klamm_protocol::{ApiKey, ApiVersion};

use super::element::Html;
use super::message::{Room, message};
use super::packed::packed;
use super::shell::{Section, Shell};
use crate::changes::{Change, Sign, between};
use crate::decode::{request, response};
use crate::fields::fields;
use crate::{Direction, NoSuchVersion, Options, about, json, message_schema, smallest_frame};

/// Smallest instances are shown as they are.
const ROOM: Room = Room {
    bytes: usize::MAX,
    rows: usize::MAX,
    text: false,
};

/// The page of an API, with all that it needs in it. `api` is the version that is shown first.
pub fn api_page(api: ApiVersion) -> Result<String, NoSuchVersion> {
    page(api, Shell::Alone)
}

pub(super) fn page(api: ApiVersion, shell: Shell) -> Result<String, NoSuchVersion> {
    let key = api.key;
    let versions: Vec<i16> = key.coded_versions().iter().collect();
    let panels = versions
        .iter()
        .map(|version| {
            panel(ApiVersion {
                key,
                version: *version,
            })
        })
        .collect::<Result<Vec<Html>, _>>()?;
    let shown = versions.iter().position(|version| *version == api.version);
    let shown = shown.ok_or(NoSuchVersion { api })?;
    let name = key.name().unwrap_or_default();
    let title = format!("{name} ({}) — Kafka protocol", key.0);
    let mut content = Html::new();
    let html = &mut content;

    html.element("div", &[("class", "title")], |html| {
        html.leaf("h1", &[], name);
        html.leaf("span", &[("class", "key")], &format!("API key {}", key.0));
    });
    if let Some(purpose) = about::message(name) {
        html.element("p", &[("class", "lead")], |html| html.prose(purpose));
    }
    facts(key, html);
    picker(api, &versions, html);
    html.element("div", &[("id", "version")], |html| {
        html.append(&panels[shown]);
    });
    changes(key, html)?;
    packed("versions", panels.iter(), html);
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
    html.element("dl", &[("class", "facts")], |html| {
        for (word, value) in rows {
            html.element("div", &[], |html| {
                html.leaf("dt", &[], word);
                html.leaf("dd", &[], &value);
            });
        }
    });
}

/// The versions to choose from; without the script only one is there.
fn picker(api: ApiVersion, versions: &[i16], html: &mut Html) {
    let stable = api.key.stable_versions();
    html.element("noscript", &[], |html| {
        let text = format!(
            "This is version {}; a script shows the others.",
            api.version
        );
        html.leaf("p", &[("class", "quiet")], &text);
    });
    html.element(
        "fieldset",
        &[("class", "versions"), ("hidden", "")],
        |html| {
            html.leaf("legend", &[], "Version");
            for version in versions {
                html.element("label", &[], |html| {
                    let value = version.to_string();
                    let attributes = [
                        ("type", "radio"),
                        ("name", "version"),
                        ("value", value.as_str()),
                        ("checked", ""),
                    ];
                    let used = if *version == api.version { 4 } else { 3 };
                    html.void("input", &attributes[..used]);
                    html.leaf("span", &[], &value);
                    if !stable.contains(*version) {
                        html.leaf("em", &[], "unstable");
                    }
                });
            }
        },
    );
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
            schema(api, direction, html);
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
        let facts = format!("{size} bytes, header v{header}");
        html.leaf("small", &[], &facts);
    });
    let purpose = api.key.name().and_then(about::message);
    if let Some(text) = about::message(&schema.name).filter(|text| Some(*text) != purpose) {
        html.element("p", &[], |html| html.prose(text));
    }
    message(&tree, &label, ROOM, html);
    Ok(())
}

fn schema(api: ApiVersion, direction: Direction, html: &mut Html) {
    let Some(schema) = message_schema(api.key, direction) else {
        return;
    };
    let label = format!("{} v{}", schema.name, api.version);
    let id = format!("{}-schema", direction.name());
    html.leaf("h2", &[("id", &id)], &label);
    html.element("div", &[("class", "scroll"), ("tabindex", "0")], |html| {
        html.element("table", &[("class", "schema")], |html| {
            html.leaf("caption", &[], &format!("Schema of {label}"));
            html.element("thead", &[], |html| {
                html.element("tr", &[], |html| {
                    for heading in ["Field", "Type", "Versions", "Notes"] {
                        html.leaf("th", &[("scope", "col")], heading);
                    }
                });
            });
            html.element("tbody", &[], |html| {
                for row in fields(schema, api.version) {
                    html.element("tr", &[("class", &format!("d{}", row.depth))], |html| {
                        html.element("th", &[("scope", "row")], |html| {
                            html.leaf("b", &[], row.name);
                            if !row.about.is_empty() {
                                html.element("p", &[], |html| html.prose(row.about));
                            }
                        });
                        for cell in [&row.ty, &row.versions, &row.notes] {
                            html.leaf("td", &[], cell);
                        }
                    });
                }
            });
        });
    });
}

/// What each version changed, the newest first.
fn changes(key: ApiKey, html: &mut Html) -> Result<(), NoSuchVersion> {
    let attributes = [("id", "changes"), ("data-tab", "Changes")];
    html.element("section", &attributes, |html| {
        html.leaf("h2", &[], "What each version changed");
        let versions = key.coded_versions();
        if versions.min == versions.max {
            let text = format!("There is only version {}.", versions.min);
            html.leaf("p", &[], &text);
        }
        for to in versions.iter().rev().filter(|to| *to > versions.min) {
            let from = to - 1;
            html.leaf("h3", &[], &format!("Version {from} to {to}"));
            html.element("div", &[("class", "changes")], |html| {
                Direction::BOTH.into_iter().try_for_each(|direction| {
                    let changes = between(key, direction, (from, to))?;
                    html.element("div", &[], |html| list(direction, &changes, html));
                    Ok(())
                })
            })?;
        }
        Ok(())
    })
}

fn list(direction: Direction, changes: &[Change], html: &mut Html) {
    html.leaf("h4", &[], direction.name());
    html.element("ul", &[], |html| {
        for change in changes {
            let (class, word) = match change.sign {
                Sign::Added => ("added", "added: "),
                Sign::Removed => ("removed", "removed: "),
                Sign::Changed => ("changed", ""),
                Sign::Same => ("same", ""),
            };
            html.element("li", &[("class", class)], |html| {
                // The sign is a matter of style, which not everyone sees.
                if !word.is_empty() {
                    html.leaf("span", &[("class", "unseen")], word);
                }
                html.text(&change.text);
            });
        }
    });
}
