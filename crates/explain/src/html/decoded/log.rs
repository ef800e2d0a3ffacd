//! Files of a log directory.

use bytes::Bytes;

use super::{Ask, MOST_BYTES, MOST_ROWS, Shown};
use crate::html::element::Html;
use crate::html::table::table;
use crate::input::base_offset;
use crate::log::{Cutter, IndexEntries, IndexEntry, IndexKind, Tail};
use crate::text::{printable, rest_says, tail_says};
use crate::time::utc;
use crate::words::count;
use crate::{Contents, Severity, decode};

/// How many batches a page shows.
const MOST_BATCHES: usize = 1_000;
/// How many bytes of a log are cut into batches at once.
const STEP_BYTES: usize = 1 << 20;

impl Shown {
    /// A segment or a snapshot, batch by batch.
    pub(super) fn log(&mut self, bytes: &[u8], contents: Option<Contents>) {
        let contents = contents.unwrap_or_else(|| self.guessed(bytes));
        let mut cutter = Cutter::default();
        let (mut batches, mut dropped) = (0u64, 0u64);
        for step in bytes.chunks(STEP_BYTES) {
            cutter.feed(step);
            while let Some(piece) = cutter.next_batch() {
                batches += 1;
                if !self.batch(piece.at, piece.bytes, contents) {
                    dropped += 1;
                }
            }
        }
        if dropped > 0 {
            self.more(&count(dropped, "batch"));
        }
        let tail = cutter.finish();
        if let Some(Tail::Cut { piece, .. }) = &tail {
            self.batch(piece.at, piece.bytes.clone(), contents);
        }
        if let Some(tail) = &tail {
            let (severity, what) = tail_says(tail);
            self.line(severity, &what);
        }
        let size = count(bytes.len(), "byte");
        let total = format!("{} in {size}", count(batches, "batch"));
        self.html.leaf("p", &[("class", "more")], &total);
    }

    /// A batch; `false` where there is no room for it. It is looked at all the same.
    fn batch(&mut self, at: u64, bytes: Bytes, contents: Contents) -> bool {
        let tree = decode::records(bytes, contents, &self.options);
        if self.messages == MOST_BATCHES || self.rows.is_full() {
            self.is_sound &= tree.is_sound();
            return false;
        }
        self.add(&tree, Some(&format!("Batch at byte {at}: ")));
        true
    }

    fn guessed(&mut self, bytes: &[u8]) -> Contents {
        let contents = Contents::guess(bytes);
        if let Some(topic) = contents.topic() {
            let what = format!("the records look like those of {topic}, and are read as these");
            self.line(Severity::Notice, &what);
        }
        contents
    }

    /// An index.
    pub(super) fn index(&mut self, kind: IndexKind, bytes: Bytes, ask: &Ask) {
        let base = ask.name.as_deref().and_then(base_offset).unwrap_or(0);
        let mut entries = IndexEntries::new(kind, base, bytes);
        let headings: &[&str] = match kind {
            IndexKind::Offset => &["Offset", "Batch at byte"],
            IndexKind::Time => &["Largest time", "Up to offset"],
            IndexKind::Transaction => &[
                "Producer id",
                "First offset",
                "Last offset",
                "Last stable offset",
            ],
        };
        let mut shown = 0usize;
        table("list", "Entries", headings, &mut self.html, |html| {
            for entry in entries.by_ref().take(MOST_ROWS) {
                shown += 1;
                row(&entry, html);
            }
        });
        let dropped = entries.by_ref().count();
        if dropped > 0 {
            self.more(&count(dropped, "entry"));
        }
        if let Some((severity, what)) = rest_says(entries.rest()) {
            self.line(severity, &what);
        }
        let total = count(shown + dropped, "entry");
        self.html.leaf("p", &[("class", "more")], &total);
    }

    /// A text file.
    pub(super) fn text(&mut self, bytes: &[u8]) {
        let shown = &bytes[..bytes.len().min(MOST_BYTES)];
        let text = String::from_utf8_lossy(shown);
        let lines: Vec<String> = text.lines().map(printable).collect();
        self.html
            .leaf("pre", &[("class", "schema")], &lines.join("\n"));
        if shown.len() < bytes.len() {
            self.more(&count(bytes.len() - shown.len(), "byte"));
        }
    }
}

fn row(entry: &IndexEntry, html: &mut Html) {
    let cells = match *entry {
        IndexEntry::Offset { offset, position } => vec![offset.to_string(), position.to_string()],
        IndexEntry::Time { timestamp, offset } => {
            let time = utc(timestamp).unwrap_or_else(|| timestamp.to_string());
            vec![time, offset.to_string()]
        }
        IndexEntry::Aborted {
            producer_id,
            first_offset,
            last_offset,
            last_stable_offset,
            ..
        } => [producer_id, first_offset, last_offset, last_stable_offset]
            .map(|number| number.to_string())
            .to_vec(),
    };
    html.element("tr", &[], |html| {
        for cell in cells {
            html.leaf("td", &[], &cell);
        }
    });
}
