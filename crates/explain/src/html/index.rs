use klamm_protocol::ApiKey;

use super::element::Html;
use super::shell::{Section, Shell};
use crate::{Direction, about, apis, json, message_schema};

/// The first page: every API.
pub(super) fn page(shell: Shell) -> String {
    let mut content = Html::new();
    let html = &mut content;
    let versions: usize = apis().map(|key| key.coded_versions().iter().count()).sum();
    html.leaf("h1", &[], "The Kafka protocol, byte by byte");
    html.element("p", &[("class", "lead")], |html| {
        html.text(&format!(
            "Every message of Apache Kafka 4.4.0: {} APIs in {versions} versions, each with its \
             smallest request and response, what every byte is for, and what changed.",
            apis().count(),
        ));
    });
    html.element("div", &[("class", "scroll"), ("tabindex", "0")], |html| {
        html.element("table", &[("class", "list")], |html| {
            html.leaf("caption", &[], "APIs");
            html.element("thead", &[], |html| {
                html.element("tr", &[], |html| {
                    for heading in ["Key", "Name", "Versions", "Flexible", "Listeners"] {
                        html.leaf("th", &[("scope", "col")], heading);
                    }
                });
            });
            html.element("tbody", &[], |html| {
                for key in ApiKey::all() {
                    row(key, html);
                }
            });
        });
    });
    shell.page(Section::Apis, "The Kafka protocol, byte by byte", &content)
}

fn row(key: ApiKey, html: &mut Html) {
    let Some(schema) = message_schema(key, Direction::Request) else {
        return;
    };
    let name = key.name().unwrap_or_default();
    let is_gone = schema.valid_versions.is_empty();
    let attributes = [("class", "gone")];
    let used = if is_gone { 1 } else { 0 };
    html.element("tr", &attributes[..used], |html| {
        html.leaf("td", &[], &key.0.to_string());
        html.element("th", &[("scope", "row")], |html| {
            if is_gone {
                html.leaf("b", &[], name);
            } else {
                html.leaf("a", &[("href", &path(key))], name);
            }
            if let Some(purpose) = about::message(name) {
                html.element("p", &[], |html| html.prose(purpose));
            }
        });
        let versions = match schema.valid_versions {
            _ if is_gone => "none any more".to_owned(),
            valid if schema.latest_version_unstable => {
                format!("{valid} ({} unstable)", valid.max)
            }
            valid => valid.to_string(),
        };
        html.leaf("td", &[], &versions);
        html.leaf("td", &[], &schema.flexible_versions.to_string());
        let listeners: Vec<&str> = key
            .listeners()
            .iter()
            .map(|listener| json::listener(*listener))
            .collect();
        html.leaf("td", &[], &listeners.join(", "));
    });
}

/// Where the page of an API is, from the first page.
pub(super) fn path(key: ApiKey) -> String {
    format!("apis/{}.html", key.name().unwrap_or_default())
}
