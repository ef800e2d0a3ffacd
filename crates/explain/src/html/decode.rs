use super::element::Html;
use super::shell::{Section, Shell};
use crate::{Contents, apis};

pub(super) const PATH: &str = "decode.html";

/// The most bytes of input that a served page takes.
pub const MOST_INPUT_BYTES: usize = 64 << 20;

/// The page with the form for bytes, and what was decoded.
pub(super) fn page(shell: Shell, result: &str) -> String {
    let mut content = Html::new();
    let html = &mut content;
    html.leaf("h1", &[], "Decode bytes");
    html.element("p", &[("class", "lead")], |html| {
        html.text(
            "Paste a request or a response, or drop a file: frames, a capture (pcap, pcapng), or \
             any file of a log directory. klamm on this machine decodes it; nothing leaves it. ",
        );
        html.text(&format!(
            "It may have up to {} MiB.",
            MOST_INPUT_BYTES >> 20
        ));
    });
    let attributes = [
        ("class", "decode"),
        ("method", "post"),
        ("action", PATH),
        ("id", "decode"),
    ];
    html.element("form", &attributes, form);
    let attributes = [("id", "result"), ("aria-live", "polite")];
    html.element("div", &attributes, |html| html.decoded(result));
    shell.page(Section::Decode, "Decode bytes — Kafka protocol", &content)
}

/// Why there is nothing to show, as a part of a page: what happened, why, and what to do.
pub fn problem(what: &str, cause: &str, next: &str) -> String {
    let mut html = Html::new();
    html.element("div", &[("class", "failed"), ("role", "alert")], |html| {
        html.leaf("p", &[("class", "what")], what);
        for (word, text) in [("Cause: ", cause), ("Next step: ", next)] {
            if !text.is_empty() {
                html.element("p", &[], |html| {
                    html.leaf("span", &[], word);
                    html.text(text);
                });
            }
        }
    });
    html.into_string()
}

fn form(html: &mut Html) {
    html.element("label", &[("class", "wide")], |html| {
        html.leaf("span", &[], "Hexadecimal digits or base64");
        let attributes = [
            ("name", "text"),
            ("rows", "5"),
            ("spellcheck", "false"),
            ("autocomplete", "off"),
            ("placeholder", "00 00 00 19 00 2b 00 02 …"),
        ];
        html.leaf("textarea", &attributes, "");
    });
    html.element("div", &[("class", "choices")], |html| {
        let kinds = [
            ("request", "requests"),
            ("response", "a response"),
            ("request-body", "a request's body"),
            ("response-body", "a response's body"),
        ];
        choice("They are", "kind", &kinds, html);
        let digits = [
            ("auto", "either"),
            ("hex", "hexadecimal"),
            ("base64", "base64"),
        ];
        choice("Text is", "digits", &digits, html);
        let keys: Vec<(String, &str)> = apis()
            .map(|key| (key.0.to_string(), key.name().unwrap_or_default()))
            .collect();
        let mut names: Vec<(&str, &str)> = vec![("", "as it says itself")];
        names.extend(keys.iter().map(|(key, name)| (key.as_str(), *name)));
        choice("API of a response or body", "api", &names, html);
        html.element("label", &[], |html| {
            html.leaf("span", &[], "Version");
            let attributes = [
                ("type", "number"),
                ("name", "version"),
                ("min", "0"),
                ("max", "99"),
                ("placeholder", "latest"),
            ];
            html.void("input", &attributes);
        });
        let mut topics = vec![("", "as its records look")];
        topics.extend(Contents::TOPICS.iter().map(|(_, topic)| (*topic, *topic)));
        topics.push(("other", "another"));
        choice("Topic of a log", "topic", &topics, html);
        html.element("label", &[("class", "check")], |html| {
            let attributes = [("type", "checkbox"), ("name", "secrets"), ("value", "show")];
            html.void("input", &attributes);
            html.leaf("span", &[], "Show passwords, tokens and keys");
        });
    });
    html.element("div", &[("class", "actions")], |html| {
        html.leaf("button", &[("type", "submit")], "Decode");
        // Without the script there is no way to send a file.
        html.element("label", &[("class", "file"), ("hidden", "")], |html| {
            html.leaf("span", &[], "or a file, which may be dropped here");
            html.void("input", &[("type", "file")]);
        });
    });
}

fn choice(label: &str, name: &'static str, options: &[(&str, &str)], html: &mut Html) {
    html.element("label", &[], |html| {
        html.leaf("span", &[], label);
        html.element("select", &[("name", name)], |html| {
            for (value, text) in options {
                // An empty value is said, too: without it the text would be the value.
                if value.is_empty() {
                    html.leaf("option", &[("value", " ")], text);
                } else {
                    html.leaf("option", &[("value", value)], text);
                }
            }
        });
    });
}
