use klamm_protocol::{VersionRange, schemas};
use klamm_schema::value::{encode, smallest};
use klamm_schema::{Kind, Schema};

use super::element::Html;
use super::message::whole;
use super::shell::{Section, Shell};
use super::table::{named, table};
use super::versions::{Versions, changes, changes_section, schema as schema_section};
use crate::changes::{Change, Sign, of_fields};
use crate::{Options, about, decode, schema};

pub(super) const PATH: &str = "records.html";

/// What is kept together, and where.
struct Group {
    title: &'static str,
    text: &'static str,
    kinds: &'static [Kind],
    /// The only folder of schemas that it is of.
    folder: Option<&'static str>,
}

const GROUPS: [Group; 5] = [
    Group {
        title: "Metadata log",
        text: "Values of records in `__cluster_metadata`, behind three unsigned varints: the \
               format 1, the record's type, and its version.",
        kinds: &[Kind::Metadata],
        folder: Some("metadata"),
    },
    Group {
        title: "Tiered storage",
        text: "Values of records in `__remote_log_metadata`, framed like those of the metadata \
               log.",
        kinds: &[Kind::Metadata],
        folder: Some("storage"),
    },
    Group {
        title: "Coordinators",
        text: "Keys and values of records in `__consumer_offsets`, `__transaction_state` and \
               `__share_group_state`, behind an int16: of a key its type, of a value its version.",
        kinds: &[Kind::CoordinatorKey, Kind::CoordinatorValue],
        folder: None,
    },
    Group {
        title: "Control records, snapshots and the like",
        text: "What is in control records, in snapshots, in the files of a log directory and \
               inside of requests.",
        kinds: &[Kind::Data],
        folder: None,
    },
    Group {
        title: "Headers",
        text: "What stands before every request and response.",
        kinds: &[Kind::Header],
        folder: None,
    },
];

impl Group {
    fn has(&self, schema: &Schema) -> bool {
        let folder = schemas::find(&schema.name).map(|text| text.folder);
        self.kinds.contains(&schema.kind) && (self.folder.is_none() || self.folder == folder)
    }
}

/// Every message that is no request and no response, and has a version.
pub(super) fn all() -> impl Iterator<Item = &'static Schema> {
    schemas::ALL
        .iter()
        .filter_map(|text| schema(text.name))
        .filter(|schema| !matches!(schema.kind, Kind::Request | Kind::Response))
        .filter(|schema| !schema.valid_versions.is_empty())
}

/// Where a record's page is, from the first page.
pub(super) fn path(name: &str) -> String {
    format!("records/{name}.html")
}

/// The page that lists them.
pub(super) fn list(shell: Shell) -> String {
    let mut content = Html::new();
    let html = &mut content;
    html.leaf("h1", &[], "Records");
    html.element("p", &[("class", "lead")], |html| {
        html.text("What Kafka keeps in its own topics and files, encoded as messages are.");
    });
    for group in GROUPS {
        html.leaf("h2", &[], group.title);
        html.element("p", &[], |html| html.prose(group.text));
        let headings = ["Type", "Name", "Versions", "Flexible"];
        table("list", group.title, &headings, html, |html| {
            let mut schemas: Vec<&Schema> = all().filter(|schema| group.has(schema)).collect();
            schemas.sort_by_key(|schema| (schema.api_key, &schema.name));
            for schema in schemas {
                row(schema, html);
            }
        });
    }
    shell.page(Section::Records, "Records — Kafka protocol", &content)
}

fn row(schema: &Schema, html: &mut Html) {
    html.element("tr", &[], |html| {
        let kind = schema.api_key.map(|key| key.to_string());
        html.leaf("td", &[], &kind.unwrap_or_default());
        let about = about::message(&schema.name).unwrap_or_default();
        named(&schema.name, Some(&path(&schema.name)), about, html);
        html.leaf("td", &[], &schema.valid_versions.to_string());
        html.leaf("td", &[], &schema.flexible_versions.to_string());
    });
}

/// The page of a record.
pub(super) fn page(of: &'static Schema, shell: Shell) -> String {
    let range = VersionRange::new(of.valid_versions.min, of.valid_versions.max);
    let all: Vec<i16> = range.iter().collect();
    let unstable = of.latest_version_unstable && all.len() > 1;
    let versions = Versions {
        shown: all.len() - if unstable { 2 } else { 1 },
        unstable: of.latest_version_unstable.then_some(range.max),
        all,
    };
    let panels: Vec<Html> = versions.all.iter().map(|each| panel(of, *each)).collect();
    let mut differences = Html::new();
    let ends = (range.min, range.max);
    let Ok(()) = changes_section(ends, &mut differences, |between, html| {
        let mut list = of_fields(of, between);
        if list.is_empty() {
            list.push(Change {
                sign: Sign::Same,
                text: "the same fields".to_owned(),
            });
        }
        changes(&of.name, &list, html);
        Ok::<(), std::convert::Infallible>(())
    });
    let mut content = Html::new();
    let html = &mut content;
    html.element("div", &[("class", "title")], |html| {
        html.leaf("h1", &[], &of.name);
        if let Some(key) = of.api_key {
            let kind = format!("type {key}");
            html.leaf("span", &[("class", "key")], &kind);
        }
    });
    if let Some(purpose) = about::message(&of.name) {
        html.element("p", &[("class", "lead")], |html| html.prose(purpose));
    }
    let group = GROUPS.iter().find(|group| group.has(of));
    html.facts(&[
        ("Versions", of.valid_versions.to_string()),
        ("Flexible versions", of.flexible_versions.to_string()),
        ("Kind", group.map_or("", |group| group.title).to_owned()),
    ]);
    versions.add(&panels, &differences, html);
    let title = format!("{} — Kafka protocol", of.name);
    shell.page(Section::Records, &title, &content)
}

fn panel(of: &'static Schema, version: i16) -> Html {
    let mut html = Html::new();
    let bytes = encode(of, version, &smallest(of, version));
    let size = bytes.len();
    let tree = decode::message(bytes.into(), of, version, &Options::default());
    let label = format!("{} v{version}", of.name);
    let attributes = [("id", "bytes"), ("data-tab", "Bytes")];
    html.element("section", &attributes, |html| {
        html.element("h2", &[], |html| {
            html.text(&label);
            html.text(" ");
            html.leaf("small", &[], &crate::words::bytes(size));
        });
        whole(&tree, &label, false, html);
    });
    let attributes = [("id", "schema"), ("data-tab", "Schema")];
    html.element("section", &attributes, |html| {
        schema_section(of, version, "fields", html);
    });
    html
}
