//! Texts for people.

mod capture;
mod changes;
mod errors;
mod layout;
mod list;
mod log;
mod page;
mod records;
mod schema;
mod table;
mod tree;
mod value;

pub use capture::{finding_line, message_headings, message_line, summary};
pub use changes::changes;
pub use errors::{UnknownError, error, errors};
pub use layout::layout;
pub(crate) use layout::runs;
pub use list::list;
pub use log::{
    in_short, index_end, index_entry, log_entry, log_file, log_headings, log_problem, log_tail,
    log_total,
};
pub(crate) use log::{rest_says, tail_says};
pub(crate) use page::title;
pub use page::{decoded, page};
pub use records::{record_list, record_page};
pub use schema::schema_text;
pub use tree::tree;

pub(crate) use errors::find_error;
pub(crate) use value::{base64_url, bytes_shown, hex, printable, shown, shown_value};

use crate::Part;

/// What the place that a text goes to can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Whether it understands colours.
    pub colour: bool,
    /// How many columns it has; `None` where lines may be of any length.
    pub width: Option<usize>,
}

impl Look {
    fn paint(self, code: &str, text: &str) -> String {
        if self.colour && !code.is_empty() && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    fn part(self, part: Part, text: &str) -> String {
        self.paint(colour(part), text)
    }
}

/// The colour of a part, as a terminal's code.
fn colour(part: Part) -> &'static str {
    match part {
        Part::Frame => "33",
        Part::Header => "36",
        Part::Body => "32",
        Part::Batch => "35",
        Part::Record => "34",
        Part::Tagged => "93",
        Part::Unread => "31",
    }
}

/// Breaks a text at blanks into lines of at most `width` columns.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}
