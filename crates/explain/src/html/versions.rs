use klamm_schema::Schema;

use super::element::Html;
use super::packed::packed;
use super::table::{named, table};
use crate::changes::{Change, Sign};
use crate::fields::fields;

/// The versions of a message, of which a page shows one.
pub(super) struct Versions {
    pub(super) all: Vec<i16>,
    /// The index of the one that is shown first.
    pub(super) shown: usize,
    /// The first one that is not stable, and all after it.
    pub(super) unstable: Option<i16>,
}

impl Versions {
    /// The choice, the shown panel, what follows it, and all panels for the script.
    pub(super) fn add(&self, panels: &[Html], changes: &Html, html: &mut Html) {
        self.picker(html);
        html.element("div", &[("id", "version")], |html| {
            html.append(&panels[self.shown]);
        });
        html.append(changes);
        packed("versions", panels.iter(), html);
    }

    /// The versions to choose from; without the script only one is there.
    fn picker(&self, html: &mut Html) {
        let shown = self.all[self.shown];
        let text = format!("This is version {shown}; a script shows the others.");
        html.leaf("p", &[("class", "quiet alone")], &text);
        let attributes = [("class", "versions"), ("hidden", "")];
        html.element("fieldset", &attributes, |html| {
            html.leaf("legend", &[], "Version");
            for version in &self.all {
                html.element("label", &[], |html| {
                    let value = version.to_string();
                    let attributes = [
                        ("type", "radio"),
                        ("name", "version"),
                        ("value", value.as_str()),
                        ("checked", ""),
                    ];
                    let used = if *version == shown { 4 } else { 3 };
                    html.void("input", &attributes[..used]);
                    html.leaf("span", &[], &value);
                    if self.unstable.is_some_and(|first| first <= *version) {
                        html.leaf("em", &[], "unstable");
                    }
                });
            }
        });
    }
}

/// The fields of a message in a version.
pub(super) fn schema(schema: &'static Schema, version: i16, id: &str, html: &mut Html) {
    let label = format!("{} v{version}", schema.name);
    html.leaf("h2", &[("id", id)], &label);
    let caption = format!("Schema of {label}");
    let headings = ["Field", "Type", "Versions", "Notes"];
    table("schema", &caption, &headings, html, |html| {
        for row in fields(schema, version) {
            html.element("tr", &[("class", &format!("d{}", row.depth))], |html| {
                named(row.name, None, row.about, html);
                for cell in [&row.ty, &row.versions, &row.notes] {
                    html.leaf("td", &[], cell);
                }
            });
        }
    });
}

/// What changed, below a title.
pub(super) fn changes(title: &str, changes: &[Change], html: &mut Html) {
    html.element("div", &[], |html| {
        html.leaf("h4", &[], title);
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
    });
}

/// The section of what each version changed, the newest first. `add` writes what is between two.
pub(super) fn changes_section<E>(
    (first, last): (i16, i16),
    html: &mut Html,
    mut add: impl FnMut((i16, i16), &mut Html) -> Result<(), E>,
) -> Result<(), E> {
    let attributes = [("id", "changes"), ("data-tab", "Changes")];
    html.element("section", &attributes, |html| {
        html.leaf("h2", &[], "What each version changed");
        if first == last {
            let text = format!("There is only version {first}.");
            html.leaf("p", &[], &text);
        }
        for to in (first + 1..=last).rev() {
            let from = to - 1;
            html.leaf("h3", &[], &format!("Version {from} to {to}"));
            html.element("div", &[("class", "changes")], |html| add((from, to), html))?;
        }
        Ok(())
    })
}
