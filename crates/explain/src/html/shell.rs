use super::element::Html;
use super::{assets, batches, decode, errors, features, records};

/// What is around a page's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shell {
    /// One of many pages, with what leads to the others.
    Site {
        /// The way to the first page's folder: empty, or `../`.
        root: &'static str,
        /// Whether there is a server that decodes.
        served: bool,
    },
    /// A page of its own, with all that it needs in it.
    Alone,
}

/// Where the reader is, for the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Apis,
    Records,
    Batches,
    Errors,
    Features,
    Decode,
}

impl Section {
    const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::Apis, "index.html", "APIs"),
        (Self::Records, records::PATH, "Records"),
        (Self::Batches, batches::PATH, "Batches"),
        (Self::Errors, errors::PATH, "Errors"),
        (Self::Features, features::PATH, "Features"),
        (Self::Decode, decode::PATH, "Decode"),
    ];
}

impl Shell {
    /// A whole page.
    pub(super) fn page(self, section: Section, title: &str, content: &Html) -> String {
        let mut html = Html::new();
        html.void("!DOCTYPE", &[("html", "")]);
        html.element("html", &[("lang", "en")], |html| {
            html.element("head", &[], |html| self.head(title, html));
            html.element("body", &[], |html| {
                let skip = [("class", "skip"), ("href", "#content")];
                html.leaf("a", &skip, "Skip to the content");
                html.element("header", &[("class", "bar")], |html| {
                    self.bar(section, html);
                });
                html.element("main", &[("id", "content")], |html| html.append(content));
                html.element("footer", &[], footer);
            });
        });
        let mut page = html.into_string();
        page.push('\n');
        page
    }

    fn head(self, title: &str, html: &mut Html) {
        html.void("meta", &[("charset", "utf-8")]);
        let viewport = "width=device-width, initial-scale=1";
        html.void("meta", &[("name", "viewport"), ("content", viewport)]);
        html.void(
            "meta",
            &[("name", "color-scheme"), ("content", "light dark")],
        );
        html.leaf("title", &[], title);
        match self {
            Self::Site { root, .. } => {
                let style = format!("{root}{}", assets::STYLE_PATH);
                html.void("link", &[("rel", "stylesheet"), ("href", &style)]);
                let icon = format!("{root}{}", assets::ICON_PATH);
                html.void("link", &[("rel", "icon"), ("href", &icon)]);
                // Not deferred: the theme is to be there before anything is painted.
                let script = format!("{root}{}", assets::SCRIPT_PATH);
                html.leaf("script", &[("src", &script)], "");
                let names = format!("{root}{}", assets::NAMES_PATH);
                html.leaf("script", &[("src", &names), ("defer", "")], "");
            }
            Self::Alone => {
                html.element("style", &[], |html| html.asset(assets::STYLE));
                html.element("script", &[], |html| html.asset(assets::SCRIPT));
            }
        }
    }

    fn bar(self, section: Section, html: &mut Html) {
        match self {
            Self::Site { root, served } => {
                let home = format!("{root}index.html");
                html.element("a", &[("class", "brand"), ("href", &home)], brand);
                html.element("nav", &[("aria-label", "Pages")], |html| {
                    let is_there = |section| served || section != Section::Decode;
                    for (each, path, name) in Section::ALL {
                        if !is_there(each) {
                            continue;
                        }
                        let path = format!("{root}{path}");
                        let attributes = [("href", path.as_str()), ("aria-current", "true")];
                        let used = if each == section { 2 } else { 1 };
                        html.leaf("a", &attributes[..used], name);
                    }
                });
                // The script fills it in: without one there is no search.
                html.leaf("div", &[("class", "search"), ("data-root", root)], "");
            }
            Self::Alone => html.element("span", &[("class", "brand")], brand),
        }
        let attributes = [
            ("class", "theme"),
            ("type", "button"),
            ("aria-label", "Dark colours"),
            ("hidden", ""),
        ];
        html.leaf("button", &attributes, "");
    }
}

fn brand(html: &mut Html) {
    html.leaf("b", &[], "klamm");
    html.text(" protocol reference");
}

fn footer(html: &mut Html) {
    html.element("p", &[], |html| {
        html.text(concat!(
            "Made by klamm ",
            env!("CARGO_PKG_VERSION"),
            " from the message schemas of Apache Kafka 4.4.0. klamm is not affiliated with, \
             endorsed by, or part of Apache Kafka. Apache, Apache Kafka and Kafka are trademarks \
             of the Apache Software Foundation.",
        ));
    });
}
