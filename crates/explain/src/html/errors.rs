use klamm_protocol::ErrorCode;

use super::element::Html;
use super::shell::{Section, Shell};
use super::table::{named, table};
use crate::about;

pub(super) const PATH: &str = "errors.html";

/// Every error code, each with a place to link to.
pub(super) fn page(shell: Shell) -> String {
    let mut content = Html::new();
    let html = &mut content;
    html.leaf("h1", &[], "Error codes");
    html.element("p", &[("class", "lead")], |html| {
        html.text(
            "What the int16 in a response says went wrong, whether clients may send the request \
             again, and what to do about it.",
        );
    });
    let headings = [
        "Code",
        "Error",
        "Retriable",
        "Fetch metadata first",
        "Next step",
    ];
    table("list errors", "Error codes", &headings, html, |html| {
        for code in ErrorCode::all() {
            row(code, html);
        }
    });
    shell.page(Section::Errors, "Error codes — Kafka protocol", &content)
}

fn row(code: ErrorCode, html: &mut Html) {
    let name = code.name().unwrap_or_default();
    let text = about::error(code);
    html.element("tr", &[("id", name)], |html| {
        html.leaf("td", &[], &code.0.to_string());
        let meaning = text.map_or("", |text| text.meaning);
        named(name, Some(&format!("#{name}")), meaning, html);
        for is in [code.is_retriable(), code.is_invalid_metadata()] {
            html.leaf("td", &[], if is { "yes" } else { "no" });
        }
        html.element("td", &[("class", "long")], |html| {
            html.prose(text.map_or("", |text| text.next_step));
        });
    });
}
