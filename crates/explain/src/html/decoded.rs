use bytes::Bytes;
use klamm_protocol::ApiVersion;

use super::element::Html;
use super::message::{Room, message};
use super::shell::{Section, Shell};
use super::table::table;
use super::tree::Rows;
use crate::capture::{self, Capture, Carries, Event};
use crate::decode::{self, Stream};
use crate::input::Form;
use crate::text::{count, title};
use crate::{Contents, Direction, Options, Severity, Tree};

/// How many messages a page shows, how many rows of their trees, and how many of their bytes.
const MOST_MESSAGES: usize = 200;
const MOST_ROWS: usize = 20_000;
const MOST_BYTES: usize = 64 << 10;
/// How many lines it has of what a capture's connections are, and of what is missing.
const MOST_LINES: usize = 200;

/// What bytes are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// Their form; else it is told from how they begin, and from `name`.
    pub form: Option<Form>,
    /// What the records of a log hold; else those of a snapshot are the metadata log's.
    pub contents: Option<Contents>,
    /// The name of their file.
    pub name: Option<String>,
    /// The API and version of a response, or of a body.
    pub api: Option<ApiVersion>,
    /// Whether they are a body alone, and of what.
    pub body: Option<Direction>,
    /// How they are explained.
    pub options: Options,
}

/// Bytes that were explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The part of a page that shows them.
    pub html: String,
    /// Whether all of them are as they should be.
    pub is_sound: bool,
}

/// Explains bytes, as a part of a page.
pub fn decoded(bytes: Bytes, ask: &Ask) -> Decoded {
    let mut shown = Shown::new(ask.options);
    shown.decode(bytes, ask);
    Decoded {
        html: shown.html.into_string(),
        is_sound: shown.is_sound,
    }
}

/// Explains bytes, as a page with all that it needs in it.
pub fn decoded_page(bytes: Bytes, ask: &Ask) -> Decoded {
    let mut shown = Shown::new(ask.options);
    shown.html.leaf("h1", &[], "Decoded");
    shown.decode(bytes, ask);
    let title = "Decoded — Kafka protocol";
    Decoded {
        html: Shell::Alone.page(Section::Decode, title, &shown.html),
        is_sound: shown.is_sound,
    }
}

/// What was decoded so far, and how much more fits.
struct Shown {
    html: Html,
    options: Options,
    rows: Rows,
    bytes: usize,
    messages: usize,
    dropped: usize,
    is_sound: bool,
}

impl Shown {
    fn new(options: Options) -> Self {
        Self {
            html: Html::new(),
            options,
            rows: Rows::new(MOST_ROWS),
            bytes: MOST_BYTES,
            messages: 0,
            dropped: 0,
            is_sound: true,
        }
    }

    fn decode(&mut self, bytes: Bytes, ask: &Ask) {
        let form = ask
            .form
            .unwrap_or_else(|| Form::tell(&bytes, ask.name.as_deref()));
        let contents = ask.contents.unwrap_or(match form {
            Form::Snapshot => Contents::Metadata,
            _ => Contents::Opaque,
        });
        match form {
            Form::Frames => self.frames(bytes, ask),
            Form::Pcap | Form::Pcapng => self.capture(&bytes),
            Form::Log | Form::Snapshot => {
                self.add(&decode::records(bytes, contents, &self.options), None)
            }
            _ => {
                let what = format!("a page shows no {} files", form.name());
                self.problem("stopped", &what);
            }
        }
        if self.dropped > 0 {
            let more = format!("… and {} more", count(self.dropped, "message"));
            self.html.leaf("p", &[("class", "more")], &more);
        }
    }

    fn frames(&mut self, bytes: Bytes, ask: &Ask) {
        if let (Some(direction), Some(api)) = (ask.body, ask.api) {
            let tree = decode::body(bytes, api, direction, &self.options);
            return self.add(&tree, None);
        }
        let mut stream = Stream::new(bytes, ask.api, &self.options);
        let is_single = stream.is_single();
        for (offset, tree) in stream.by_ref().take(MOST_MESSAGES) {
            let place = format!("At byte {offset}: ");
            self.add(&tree, (!is_single).then_some(&place));
        }
        self.dropped += stream.left();
    }

    fn capture(&mut self, bytes: &[u8]) {
        let mut capture = Capture::new(capture::Options {
            keeps_bytes: true,
            ..capture::Options::default()
        });
        let (mut kept, mut findings) = (Vec::new(), Vec::new());
        let (mut dropped, mut is_bad) = (0, false);
        let mut sink = |event| match event {
            Event::Start(_) => {}
            Event::Message(message) if kept.len() < MOST_MESSAGES => kept.push(message),
            Event::Message(_) => dropped += 1,
            Event::Finding(finding) => {
                is_bad |= finding.is_bad();
                if findings.len() < MOST_LINES {
                    findings.push(finding);
                }
            }
        };
        let pushed = capture.push(bytes, &mut sink);
        let (summary, end) = capture.finish(pushed.is_ok(), &mut sink);
        if let Err(error) = pushed.and(end) {
            self.problem("stopped", &error.to_string());
        }
        self.dropped += dropped;
        self.is_sound &= !is_bad;
        self.connections(&summary);
        for finding in findings {
            let word = if finding.is_bad() { "broken" } else { "notice" };
            let what = format!("connection {}: {finding}", finding.connection);
            self.line(word, &what);
        }
        for message in kept {
            let place = format!("{} on connection {}: ", message.number, message.connection);
            if let Some(tree) = message.explain(&self.options) {
                self.add(&tree, Some(&place));
            }
        }
    }

    fn connections(&mut self, summary: &capture::Summary) {
        let headings = ["Connection", "Client and server", "Carries", "Client ids"];
        self.html.leaf("h2", &[], "Connections");
        table("list", "Connections", &headings, &mut self.html, |html| {
            for connection in summary.connections.iter().take(MOST_LINES) {
                html.element("tr", &[], |html| {
                    html.leaf("td", &[], &connection.number.to_string());
                    let ends = format!("{} → {}", connection.client, connection.server);
                    html.leaf("th", &[("scope", "row")], &ends);
                    let carries = match connection.carries {
                        Carries::Kafka => "Kafka's protocol",
                        Carries::Tls => "TLS",
                        Carries::Other => "something else",
                        Carries::Unknown => "too little to say",
                    };
                    html.leaf("td", &[], carries);
                    let ids: Vec<&str> = connection.client_ids.iter().map(|id| &**id).collect();
                    html.leaf("td", &[("class", "long")], &ids.join(", "));
                });
            }
        });
    }

    /// A message: bytes and tree, and what is wrong.
    fn add(&mut self, tree: &Tree, place: Option<&String>) {
        self.messages += 1;
        self.is_sound &= tree.is_sound();
        let title = title(tree);
        let heading = format!("{}{title}", place.map_or("", String::as_str));
        self.html.leaf("h2", &[], &heading);
        if !tree.problems.is_empty() {
            self.html.element("ul", &[("class", "problems")], |html| {
                for problem in tree.problems.iter().take(MOST_LINES) {
                    let word = match problem.severity {
                        Severity::Notice => "notice",
                        Severity::Broken => "broken",
                        Severity::Stopped => "stopped",
                    };
                    line(word, &problem.to_string(), "li", html);
                }
            });
        }
        let room = Room {
            bytes: self.bytes,
            text: true,
        };
        self.bytes -= message(tree, &title, room, &mut self.rows, &mut self.html);
    }

    /// Why bytes cannot be explained.
    fn problem(&mut self, word: &'static str, what: &str) {
        self.is_sound = false;
        self.line(word, what);
    }

    fn line(&mut self, word: &'static str, what: &str) {
        line(word, what, "p", &mut self.html);
    }
}

fn line(word: &'static str, what: &str, tag: &'static str, html: &mut Html) {
    html.element(tag, &[("class", "problem")], |html| {
        html.leaf("b", &[("class", word)], word);
        html.text(" ");
        html.text(what);
    });
}
