use klamm_protocol::ApiKey;

use super::element::Html;
use super::shell::{Section, Shell};
use super::table::{named, table};
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
    let headings = ["Key", "Name", "Versions", "Flexible", "Listeners"];
    table("list", "APIs", &headings, html, |html| {
        for key in ApiKey::all() {
            row(key, html);
        }
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
        let path = path(key);
        let link = (!is_gone).then_some(path.as_str());
        named(name, link, about::message(name).unwrap_or_default(), html);
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
