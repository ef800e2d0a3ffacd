mod log;

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
use crate::log::{IndexKind, producers};
use crate::text::title;
use crate::words::count;
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
    /// What the records of a log hold; else those of a snapshot are the metadata log's, and of others
    /// it is told from how the first ones look.
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
        match form {
            Form::Frames => self.frames(bytes, ask),
            Form::Pcap | Form::Pcapng => self.capture(&bytes),
            Form::Log | Form::Snapshot => {
                let contents = ask.contents.or(match form {
                    Form::Snapshot => Some(Contents::Metadata),
                    _ => None,
                });
                self.log(&bytes, contents);
            }
            Form::OffsetIndex => self.index(IndexKind::Offset, bytes, ask),
            Form::TimeIndex => self.index(IndexKind::Time, bytes, ask),
            Form::TransactionIndex => self.index(IndexKind::Transaction, bytes, ask),
            Form::Producers => self.add(&producers(bytes, &self.options), None),
            Form::Text => self.text(&bytes),
        }
        if self.dropped > 0 {
            self.more(&count(self.dropped, "message"));
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
        let above = std::mem::take(&mut self.html);
        let mut findings = Vec::new();
        let mut is_bad = false;
        let mut sink = |event| match event {
            Event::Start(_) => {}
            // Shown at once, so that no more than one message is in memory.
            Event::Message(message) if self.messages < MOST_MESSAGES => {
                let place = format!("{} on connection {}: ", message.number, message.connection);
                if let Some(tree) = message.explain(&self.options) {
                    self.add(&tree, Some(&place));
                }
            }
            Event::Message(_) => self.dropped += 1,
            Event::Finding(finding) => {
                is_bad |= finding.is_bad();
                if findings.len() < MOST_LINES {
                    findings.push(finding);
                }
            }
        };
        let pushed = capture.push(bytes, &mut sink);
        let (summary, end) = capture.finish(pushed.is_ok(), &mut sink);
        let messages = std::mem::replace(&mut self.html, above);
        if let Err(error) = pushed.and(end) {
            self.line(Severity::Stopped, &error.to_string());
        }
        self.is_sound &= !is_bad;
        self.connections(&summary);
        for finding in findings {
            let severity = if finding.is_bad() {
                Severity::Broken
            } else {
                Severity::Notice
            };
            let what = format!("connection {}: {finding}", finding.connection);
            self.line(severity, &what);
        }
        self.html.append(&messages);
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
                    line(problem.severity, &problem.to_string(), "li", html);
                }
            });
        }
        let room = Room {
            bytes: self.bytes,
            text: true,
        };
        self.bytes -= message(tree, &title, room, &mut self.rows, &mut self.html);
    }

    /// What is to be said of all of the bytes.
    fn line(&mut self, severity: Severity, what: &str) {
        self.is_sound &= severity == Severity::Notice;
        line(severity, what, "p", &mut self.html);
    }

    /// That there is more than a page shows.
    fn more(&mut self, what: &str) {
        let more = format!("… and {what} more");
        self.html.leaf("p", &[("class", "more")], &more);
    }
}

fn line(severity: Severity, what: &str, tag: &'static str, html: &mut Html) {
    html.element(tag, &[("class", "problem")], |html| {
        let word = severity.name();
        html.leaf("b", &[("class", word)], word);
        html.text(" ");
        html.text(what);
    });
}
