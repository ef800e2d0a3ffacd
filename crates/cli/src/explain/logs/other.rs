use klamm_explain::input::{Form, base_offset};
use klamm_explain::log::{IndexEntries, producers};
use klamm_explain::{json, text};
use klamm_protocol::Bytes;

use crate::errors::Problem;
use crate::exit::Exit;
use crate::explain::args::Format;
use crate::explain::input::Source;
use crate::explain::run::{End, Explain};
use crate::table::printable;

/// The longest text file that is shown.
const MOST_TEXT_BYTES: u64 = 16 << 20;
/// How much text is kept before it is written.
const TEXT_BYTES: usize = 64 << 10;

impl Explain<'_> {
    /// Explains an index; without its entries, only how many it has.
    pub(super) fn index(&self, source: Source, form: Form, lists: bool) -> Result<Exit, End> {
        let Some(kind) = form.index_kind() else {
            return Ok(Exit::Done);
        };
        let base = source.file_name().and_then(|name| base_offset(&name));
        let bytes = Bytes::from(source.read_all()?);
        let mut entries = IndexEntries::new(kind, base.unwrap_or(0), bytes);
        let mut shown = String::new();
        let mut count = 0;
        for entry in entries.by_ref() {
            count += 1;
            if lists {
                shown.push_str(&match self.args.output {
                    Format::Json => json::index_entry(&entry),
                    Format::Text | Format::Html => text::index_entry(&entry),
                });
            }
            if shown.len() >= TEXT_BYTES {
                self.out.results(&shown)?;
                shown.clear();
            }
        }
        shown.push_str(&match self.args.output {
            Format::Json => json::index_end(count, entries.rest()),
            Format::Text | Format::Html => text::index_end(count, entries.rest(), self.look()),
        });
        self.out.results(&shown)?;
        Ok(if entries.is_sound() {
            Exit::Done
        } else {
            Exit::Failed
        })
    }

    /// Explains the state of producers byte by byte.
    pub(super) fn producers(&self, source: Source) -> Result<Exit, End> {
        let bytes = Bytes::from(source.read_all()?);
        self.show(&producers(bytes, &self.options()), None)
    }

    /// Shows the state of producers on a line.
    pub(super) fn producers_in_short(&self, source: Source) -> Result<Exit, End> {
        if self.args.output == Format::Json {
            return self.producers(source);
        }
        let bytes = Bytes::from(source.read_all()?);
        let tree = producers(bytes, &self.options());
        self.out.results(&text::in_short(&tree, self.look()))?;
        Ok(if tree.is_sound() {
            Exit::Done
        } else {
            Exit::Failed
        })
    }

    /// Shows a text file as it is.
    pub(super) fn text(&self, source: Source) -> Result<Exit, End> {
        let name = source.name().to_owned();
        let bytes = source.read_at_most(MOST_TEXT_BYTES).map_err(|error| {
            Problem::failure(format!("{name} cannot be shown"))
                .because(error.to_string())
                .next("read it with a pager")
        })?;
        let text = String::from_utf8_lossy(&bytes);
        let shown = match self.args.output {
            Format::Json => json::text_file(&text),
            Format::Text | Format::Html => text
                .lines()
                .map(|line| format!("{}\n", printable(line)))
                .collect(),
        };
        self.out.results(&shown)?;
        Ok(Exit::Done)
    }
}
