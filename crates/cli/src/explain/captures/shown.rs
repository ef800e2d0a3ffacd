use std::fmt::Display;

use klamm_explain::capture::{Event, Filter, Finding, Message, Summary, Time, What};
use klamm_explain::{json, text};

use crate::explain::args::Format;
use crate::explain::run::{End, Explain};
use crate::table::plural;

/// Texts are written once they are this long, or once there is nothing more to come for now.
const WORTH_WRITING_BYTES: usize = 64 << 10;

/// What a capture shows, as it is found.
pub(super) struct Shown<'a> {
    explain: &'a Explain<'a>,
    filter: Filter,
    content: Content,
    /// When the first packet came.
    start: Time,
    text: String,
    count: u64,
    is_sound: bool,
    /// Why results can no longer be written.
    end: Option<End>,
}

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// What each connection has.
    Summary,
    /// A line for each message.
    Lines,
    /// Each message byte by byte.
    Trees,
    /// Everything as JSON.
    Json,
}

impl<'a> Shown<'a> {
    pub(super) fn new(explain: &'a Explain<'a>, filter: Filter) -> Self {
        let args = explain.args;
        let content = match args.output {
            _ if args.capture.summary => Content::Summary,
            Format::Json => Content::Json,
            Format::Text | Format::Html if args.tree => Content::Trees,
            Format::Text | Format::Html if args.capture.messages || filter != Filter::default() => {
                Content::Lines
            }
            Format::Text | Format::Html => Content::Summary,
        };
        Self {
            explain,
            filter,
            content,
            start: Time::default(),
            text: String::new(),
            count: 0,
            is_sound: true,
            end: None,
        }
    }

    /// Whether messages have to come with their bytes.
    pub(super) fn needs_bytes(&self) -> bool {
        matches!(self.content, Content::Trees | Content::Json)
    }

    /// Whether results are written before all is read.
    pub(super) fn lists(&self) -> bool {
        self.content != Content::Summary
    }

    pub(super) fn event(&mut self, event: Event) {
        match event {
            Event::Start(time) => self.start = time,
            Event::Message(message) => self.message(&message),
            Event::Finding(finding) => self.finding(&finding),
        }
        if self.text.len() >= WORTH_WRITING_BYTES {
            self.flush();
        }
    }

    fn message(&mut self, message: &Message) {
        self.count += 1;
        let explain = self.explain;
        let look = explain.look();
        let start = self.start;
        if matches!(self.content, Content::Lines | Content::Trees) && self.count == 1 {
            self.text.push_str(&text::message_headings(look));
        }
        match self.content {
            Content::Summary => {}
            Content::Lines => self
                .text
                .push_str(&text::message_line(message, start, look)),
            Content::Trees => {
                self.text
                    .push_str(&text::message_line(message, start, look));
                if let Some(tree) = message.explain(&explain.options()) {
                    self.is_sound &= tree.is_sound();
                    let decoded = text::decoded(&tree, look);
                    self.text.push_str(&format!("\n{decoded}\n"));
                }
            }
            Content::Json => {
                if let Some(tree) = message.explain(&explain.options()) {
                    self.is_sound &= tree.is_sound();
                    let shown = json::captured(message, &tree);
                    if tree.bytes.len() < WORTH_WRITING_BYTES {
                        self.text.push_str(&shown.to_string());
                    } else if self.flush() {
                        self.write(&shown);
                    }
                }
            }
        }
    }

    fn finding(&mut self, finding: &Finding) {
        if self
            .filter
            .connection
            .is_some_and(|connection| connection != finding.connection)
        {
            return;
        }
        let is_about_a_message = matches!(
            finding.what,
            What::Unmatched { .. } | What::Unanswered { .. }
        );
        let chooses = Filter {
            connection: None,
            ..self.filter.clone()
        } != Filter::default();
        match self.content {
            Content::Summary => {}
            _ if is_about_a_message && chooses => {}
            Content::Json => {
                self.text.push_str(&json::finding(finding));
                self.text.push('\n');
            }
            Content::Lines | Content::Trees => {
                let look = self.explain.look();
                self.text
                    .push_str(&text::finding_line(finding, self.start, look));
            }
        }
    }

    /// Writes what is there to be written. `false` if that is of no use any more.
    pub(super) fn flush(&mut self) -> bool {
        let text = std::mem::take(&mut self.text);
        if self.end.is_none() && !text.is_empty() {
            self.write(&text);
        }
        self.end.is_none()
    }

    fn write(&mut self, text: &impl Display) {
        if let Err(error) = self.explain.out.results(text) {
            self.end = Some(error.into());
        }
    }

    /// Writes what all of it amounts to. Whether every message could be explained.
    pub(super) fn finish(mut self, summary: &Summary) -> Result<bool, End> {
        let look = self.explain.look();
        let is_json = self.explain.args.output == Format::Json;
        match self.content {
            _ if is_json => self.text.push_str(&json::summary(summary)),
            Content::Summary => self.text.push_str(&text::summary(summary, look)),
            _ => self.text.push_str(&format!(
                "{} of {}, {}\n",
                self.count,
                plural(
                    usize::try_from(summary.messages).unwrap_or(usize::MAX),
                    "message"
                ),
                plural(summary.connections.len(), "connection"),
            )),
        }
        self.flush();
        match self.end {
            Some(end) => Err(end),
            None => Ok(self.is_sound),
        }
    }
}
