use std::io::Read;

use klamm_explain::log::{Batch, Cutter, Filter, Piece, Tail};
use klamm_explain::{Contents, decode, json, text};

use crate::exit::Exit;
use crate::explain::args::Format;
use crate::explain::input::{Source, unreadable};
use crate::explain::run::{End, Explain};

/// How many bytes are read at once.
const CHUNK_BYTES: usize = 1 << 20;
/// How much text is kept before it is written.
const TEXT_BYTES: usize = 64 << 10;

impl Explain<'_> {
    /// Explains a segment, batch by batch.
    pub(super) fn segment(
        &self,
        mut source: Source,
        contents: Contents,
        filter: &Filter,
    ) -> Result<Exit, End> {
        let mut shown = Shown {
            explain: self,
            contents,
            filter,
            text: String::new(),
            counts: Counts::default(),
            exit: Exit::Done,
        };
        if self.args.output != Format::Json && !self.args.tree {
            shown.text.push_str(&text::log_headings(self.look()));
        }
        let mut cutter = Cutter::default();
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut size = 0;
        loop {
            let read = source.read(&mut chunk);
            let read = read.map_err(|error| unreadable(source.name(), &error))?;
            if read == 0 {
                break;
            }
            size += read as u64;
            cutter.feed(&chunk[..read]);
            while let Some(piece) = cutter.next_batch() {
                let at = piece.at;
                if !shown.batch(piece)? {
                    // What was read of the batches after it is not their end.
                    return shown.end(None, at);
                }
            }
        }
        shown.end(cutter.finish(), size)
    }
}

/// What was shown of a segment.
struct Shown<'a> {
    explain: &'a Explain<'a>,
    contents: Contents,
    filter: &'a Filter,
    text: String,
    counts: Counts,
    exit: Exit,
}

#[derive(Default)]
struct Counts {
    batches: u64,
    records: u64,
    shown: u64,
}

impl Shown<'_> {
    /// Shows a batch; false if none after it is of interest.
    fn batch(&mut self, piece: Piece) -> Result<bool, End> {
        let batch = match Batch::new(piece.bytes.clone(), self.contents, false) {
            Ok(batch) => batch,
            Err(why) => {
                self.problem(piece.at, &why);
                return Ok(true);
            }
        };
        if self.filter.is_past(&batch) {
            return Ok(false);
        }
        self.counts.batches += 1;
        if !self.filter.takes_batch(&batch) {
            let records = batch.header().map_or(1, |header| header.record_count);
            self.counts.records += u64::try_from(records).unwrap_or(0);
            return Ok(true);
        }
        if self.explain.args.tree {
            self.tree(&batch, piece)?;
        } else {
            self.lines(&batch, piece.at)?;
        }
        Ok(true)
    }

    /// A line for each record.
    fn lines(&mut self, batch: &Batch, at: u64) -> Result<(), End> {
        let options = self.explain.options();
        let is_json = self.explain.args.output == Format::Json;
        let mut head = is_json.then(|| json::log_batch(batch, at));
        if let Some(problem) = batch.problem() {
            self.problem(at, &problem);
        }
        if self.filter.kinds.is_empty() {
            self.text.push_str(&head.take().unwrap_or_default());
        }
        let why = batch.entries(&options, &mut |entry| {
            self.counts.records += 1;
            if !self.filter.takes(&entry) {
                return Ok(());
            }
            self.counts.shown += 1;
            if !entry.problems().is_empty() {
                self.exit = Exit::Failed;
            }
            self.text.push_str(&head.take().unwrap_or_default());
            if !is_json {
                let line = text::log_entry(batch, &entry, self.explain.look());
                self.text.push_str(&line);
            } else if entry.content_len() < TEXT_BYTES {
                let line = json::log_entry(batch, &entry, at);
                self.text.push_str(&line.to_string());
            } else {
                self.write_if(0)?;
                self.explain
                    .out
                    .results(&json::log_entry(batch, &entry, at))?;
            }
            self.write_if(TEXT_BYTES)
        })?;
        if let Some(why) = why {
            self.problem(at, &why);
        }
        self.write_if(TEXT_BYTES)
    }

    /// A batch byte by byte, if it has a record that is shown.
    fn tree(&mut self, batch: &Batch, piece: Piece) -> Result<(), End> {
        let options = self.explain.options();
        let before = self.counts.shown;
        batch.entries(&options, &mut |entry| {
            self.counts.records += 1;
            self.counts.shown += u64::from(self.filter.takes(&entry));
            Ok::<(), End>(())
        })?;
        if !self.filter.kinds.is_empty() && self.counts.shown == before {
            return Ok(());
        }
        let tree = decode::records(piece.bytes, self.contents, &options);
        self.write_if(0)?;
        let place = usize::try_from(piece.at).unwrap_or(usize::MAX);
        if self.explain.show(&tree, Some(place))? != Exit::Done {
            self.exit = Exit::Failed;
        }
        Ok(())
    }

    /// Shows the end of the segment, and how much there was.
    fn end(mut self, tail: Option<Tail>, size: u64) -> Result<Exit, End> {
        if let Some(Tail::Cut { piece, .. }) = &tail {
            if self.explain.args.tree {
                let options = self.explain.options();
                let tree = decode::records(piece.bytes.clone(), self.contents, &options);
                self.write_if(0)?;
                let place = usize::try_from(piece.at).unwrap_or(usize::MAX);
                self.explain.show(&tree, Some(place))?;
            } else if let Ok(batch) = Batch::new(piece.bytes.clone(), self.contents, true) {
                self.counts.batches += 1;
                self.lines(&batch, piece.at)?;
            }
        }
        if matches!(tail, Some(Tail::Cut { .. } | Tail::Broken { .. })) {
            self.exit = Exit::Failed;
        }
        let Counts {
            batches,
            records,
            shown,
        } = self.counts;
        let look = self.explain.look();
        match self.explain.args.output {
            Format::Json => {
                let counts = (batches, records, shown);
                self.text
                    .push_str(&json::log_end(tail.as_ref(), counts, size));
            }
            Format::Text | Format::Html => {
                if let Some(tail) = &tail {
                    self.text.push_str(&text::log_tail(tail, look));
                }
                let total = text::log_total(batches, records, shown, size, look);
                self.text.push_str(&total);
            }
        }
        self.write_if(0)?;
        Ok(self.exit)
    }

    fn problem(&mut self, at: u64, what: &str) {
        self.exit = Exit::Failed;
        let text = match self.explain.args.output {
            Format::Json => json::log_problem(at, what),
            Format::Text | Format::Html => text::log_problem(at, what, self.explain.look()),
        };
        self.text.push_str(&text);
    }

    /// Writes the text if it has at least so many bytes.
    fn write_if(&mut self, least: usize) -> Result<(), End> {
        if self.text.len() >= least && !self.text.is_empty() {
            self.explain.out.results(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }
}
